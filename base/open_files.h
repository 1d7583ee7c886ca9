// RaiseOpenFiles: how many files, connections among them, a daemon may hold.
//
// Concept: shells and service managers start a process with a soft limit of
// 1,024, which a thousand connections use up. The process may raise it up to
// the hard limit. The raised limit also bounds the connections of a server that
// counts none itself (base/rpc/acceptor.h).
// Threads: any; call it before threads start. Errors: none; where the system
// refuses, the limit stays as it was.
#ifndef MESHWRIGHT_BASE_OPEN_FILES_H_
#define MESHWRIGHT_BASE_OPEN_FILES_H_

#include <cstdint>

namespace meshwright::base {

// Raises the soft limit to `wanted`, or to the hard limit where that is lower;
// a higher one stays. Returns the limit now in force.
int64_t RaiseOpenFiles(int64_t wanted);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_OPEN_FILES_H_
