// Undead: children that were killed and do not die.
//
// Concept: a process that hangs inside a driver survives SIGKILL, and may hold
// the devices for as long. Nothing is measured beside it. They are looked at
// again whenever someone asks.
// Threads: any. Errors: none.
#ifndef MESHWRIGHT_WORKER_SANDBOX_UNDEAD_H_
#define MESHWRIGHT_WORKER_SANDBOX_UNDEAD_H_

#include <sys/types.h>

#include <string>

namespace meshwright::worker::sandbox {

// `pid` is a child of this process that nobody else waits for.
void AddUndead(pid_t pid);

// One sentence that names those that are still there; empty: there are none.
std::string DescribeUndead();

}  // namespace meshwright::worker::sandbox

#endif  // MESHWRIGHT_WORKER_SANDBOX_UNDEAD_H_
