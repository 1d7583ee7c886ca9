// Plans and models as files.
//
// Errors: kInvalidArgument for a file that is no plan, or one with an absurd
// mesh or time; kFailedPrecondition for one of a newer version. Both name the
// file.
#ifndef MESHWRIGHT_CLI_FLAGS_PLAN_FILE_H_
#define MESHWRIGHT_CLI_FLAGS_PLAN_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

inline constexpr int kPlanSchemaVersion = 1;

absl::StatusOr<v1::Plan> LoadPlan(const std::string& path);

// Whether a result could be written there later; asked before long work.
absl::Status CheckWritable(const std::string& path);

// What a plan is run from: its one module becomes the file `output`, and the
// files of a launch lie in a folder of that name.
absl::Status WriteModules(const std::string& output,
                          const std::vector<base::NamedFile>& files);

// A model file as HLO, StableHLO converted (cli/mlir/to_hlo.h, whose errors
// these are too), with the sentence for one that is missing or empty.
absl::StatusOr<std::string> LoadModel(const std::string& path);
// Puts the path where an error of the pipeline, which knows no paths, speaks of
// "the file".
absl::Status NameModel(const absl::Status& status, const std::string& path);
// Puts the path before what a reader of the planner, which knows no paths, says
// about the contents.
absl::Status NamePath(const absl::Status& status, const std::string& path);
template <typename T>
absl::StatusOr<T> NamePath(absl::StatusOr<T> read, const std::string& path) {
  if (read.ok()) return read;
  return NamePath(read.status(), path);
}
// "llama_2l" of "tests/testdata/llama_2l.hlo.pb".
std::string ParseModelName(const std::string& path);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_PLAN_FILE_H_
