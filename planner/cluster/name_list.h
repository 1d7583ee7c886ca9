// ExpandNames: "h[0-1]/gpu[0-3]" names eight devices.
//
// Concept: a bracket holds numbers and ranges, as Slurm writes them: [0-3],
// [0,2,4-6]. The last bracket counts fastest. Numbers are as wide as the first
// of their range is written: [08-10] is 08, 09, 10.
// Threads: pure.
// Errors: kInvalidArgument for a bracket that is open, empty or no numbers, and
// for more than kMaxDevices names.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_NAME_LIST_H_
#define MESHWRIGHT_PLANNER_CLUSTER_NAME_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace meshwright::cluster {

absl::StatusOr<std::vector<std::string>> ExpandNames(absl::string_view pattern);

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_NAME_LIST_H_
