// ToExitStatus: the one place where a status becomes an exit status.
//
// Out: 0 success · 2 the user can put it right (bad input, a busy port, a
// quota, a store of a newer version, a missing verb) · 1 the work failed.
#ifndef MESHWRIGHT_BASE_EXIT_STATUS_H_
#define MESHWRIGHT_BASE_EXIT_STATUS_H_

#include "absl/status/status.h"

namespace meshwright::base {

inline constexpr int kExitSuccess = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitBadInput = 2;

int ToExitStatus(const absl::Status& status);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_EXIT_STATUS_H_
