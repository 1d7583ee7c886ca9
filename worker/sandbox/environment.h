// MakeRunnerEnvironment: what a runner sees of its parent's environment.
//
// Concept: a variable that changes what the compiler makes, or how fast it
// runs, would change times without changing keys. So the runner sees a stated
// list only. XLA_FLAGS are those that the machine's operator sets in
// MESHWRIGHT_XLA_FLAGS, and those of the request. The former are part of the
// device fingerprint, the latter of the key. NCCL_ variables are the
// operator's, too: on some machines no collective ends without them. The
// fingerprint has them.
//   Kept: PATH, HOME, USER, TMPDIR, LANG, LC_ALL, LD_LIBRARY_PATH, which CUDA
// devices there are, the variables of MESHWRIGHT_ that a runner reads, what
// begins with NCCL_, and what begins with ASAN_, UBSAN_, TSAN_ or LSAN_ (how a
// test run reports). The secrets of a client or worker (MESHWRIGHT_TOKEN) are
// not among them. Threads: any, while nobody sets the environment.
#ifndef MESHWRIGHT_WORKER_SANDBOX_ENVIRONMENT_H_
#define MESHWRIGHT_WORKER_SANDBOX_ENVIRONMENT_H_

#include <string>
#include <string_view>
#include <vector>

namespace meshwright::worker::sandbox {

bool IsKept(std::string_view variable);

// "NAME=value" of this process's variables that are kept, and XLA_FLAGS where
// there are any.
std::vector<std::string> MakeRunnerEnvironment(const std::string& xla_flags);

}  // namespace meshwright::worker::sandbox

#endif  // MESHWRIGHT_WORKER_SANDBOX_ENVIRONMENT_H_
