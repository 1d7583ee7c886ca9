// SystemCallFilter: a seccomp filter that refuses what no runner needs.
//
// Concept: a deny list. Refused are calls that look into other processes, or go
// around the filter (io_uring). So are calls that change mounts, namespaces,
// the kernel, its keys or the clock. Typing into a terminal and sockets of
// families that were not asked for are refused, too. All else passes: a plugin,
// CUDA, allocators and just-in-time compilers need calls that change with their
// versions. A refused call fails with EPERM (a socket with EACCES), so that a
// program can go on without it.
//   clone3 hides its flags from a filter. It fails with ENOSYS, and the C
// library then uses clone, whose flags the filter reads.
//   The filter asks for no mitigations against speculation (SPEC_ALLOW): some
// kernels slow a filtered process down by them, and this one is timed.
// Errors: errno's, where the kernel takes no filter; nothing is filtered then.
// Threads: for the calling thread and all that it starts, programs too. No one
// can take it back.
// Source: Linux, Documentation/userspace-api/seccomp_filter.rst. The filter is
// written out here and not by libseccomp. The runner is carried alone to
// machines that may lack it, and a filter that is then absent confines nobody.
#ifndef MESHWRIGHT_WORKER_SANDBOX_SYSTEM_CALL_FILTER_H_
#define MESHWRIGHT_WORKER_SANDBOX_SYSTEM_CALL_FILTER_H_

#include "absl/status/status.h"

namespace meshwright::worker::sandbox {

// Families of sockets beside AF_UNIX, which is always allowed.
struct SocketFamilies {
  bool internet = false;  // AF_INET, AF_INET6
  bool netlink = false;   // to list the interfaces
};

// The process must not be able to gain privileges any more (PR_SET_NO_NEW_PRIVS
// of prctl), or the kernel takes no filter of an unprivileged user.
absl::Status InstallSystemCallFilter(const SocketFamilies& allowed);

}  // namespace meshwright::worker::sandbox

#endif  // MESHWRIGHT_WORKER_SANDBOX_SYSTEM_CALL_FILTER_H_
