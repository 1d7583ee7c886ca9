// Failpoint: a named step at which a test has the process killed or stopped.
//
// Concept: what must survive kill -9 names its steps. A test that starts the
// process says at which step and pass it dies, with nothing flushed and no
// destructor run, or stops until SIGCONT:
//
//   MESHWRIGHT_FAILPOINT=NAME:PASS     "row.committed:3" dies at its third pass
//   MESHWRIGHT_FAILPOINT=NAME:PASS:stop
//
// Who makes the same calls in the same order dies at the same step again.
// Cost: the variable is read once before main. Without it, a step is one load
// of a constant bool and one branch that is never taken. No name is looked at,
// nothing is counted and nothing locked.
// Threads: any. Errors: none; a variable of another form ends the process with
// what is wrong with it.
#ifndef MESHWRIGHT_BASE_FAILPOINT_H_
#define MESHWRIGHT_BASE_FAILPOINT_H_

#include <string_view>

namespace meshwright::base {

extern const bool failpoints_are_on;
void PassFailpoint(std::string_view name);

inline void Failpoint(std::string_view name) {
  if (failpoints_are_on) [[unlikely]]
    PassFailpoint(name);
}

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_FAILPOINT_H_
