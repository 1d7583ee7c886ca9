#include "cli/flags/plan_file.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "cli/mlir/to_hlo.h"
#include "cli/text/json.h"

namespace meshwright::cli {
namespace {

// Programs that read a plan keep something of each device.
constexpr int64_t kMaxDevices = int64_t{1} << 20;

template <typename Sizes>
bool IsMesh(const Sizes& mesh) {
  int64_t devices = 1;
  for (const int64_t size : mesh) {
    if (size < 1 || size > kMaxDevices / devices) return false;
    devices *= size;
  }
  return true;
}

template <typename Segments>
bool HaveTimes(const Segments& segments) {
  for (const v1::PlanSegment& it : segments) {
    for (const double seconds :
         {it.seconds(), it.communication_seconds(), it.resharding_seconds()}) {
      if (!std::isfinite(seconds) || seconds < 0) return false;
    }
  }
  return true;
}

// The file may come from anyone.
absl::Status CheckPlan(const v1::Plan& plan, const std::string& path) {
  bool meshes = IsMesh(plan.mesh());
  bool times = HaveTimes(plan.segments());
  for (const v1::PlanStage& stage : plan.stages()) {
    meshes = meshes && IsMesh(stage.mesh());
    times = times && HaveTimes(stage.segments());
  }
  if (!meshes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has a mesh that is not of 1 to ", kMaxDevices,
                     " devices; plan it again"));
  }
  if (!times) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        " has a segment whose seconds are negative or not finite; plan it "
        "again"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::Plan> LoadPlan(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  v1::Plan plan;
  RETURN_IF_ERROR(FromJson(
      text, absl::StrCat(path, " is no plan of `meshwright plan -o`"), &plan));
  if (plan.schema_version() > kPlanSchemaVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " is a plan of version ", plan.schema_version(),
        "; this program reads up to version ", kPlanSchemaVersion));
  }
  if (plan.schema_version() < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is no plan: it has no schema_version"));
  }
  RETURN_IF_ERROR(CheckPlan(plan, path));
  return plan;
}

absl::Status CheckWritable(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path, ignored);
  const std::string asked = exists ? path : folder.string();
  if (access(asked.c_str(), W_OK) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("cannot write ", path, ": ", std::strerror(errno)));
}

absl::Status WriteModules(const std::string& output,
                          const std::vector<base::NamedFile>& files) {
  return files.size() == 1 ? base::WriteFile(output, files.front().content)
                           : base::WriteFiles(output, files);
}

absl::StatusOr<std::string> LoadModel(const std::string& path) {
  ASSIGN_OR_RETURN(std::string model, base::ReadFile(path));
  if (model.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is no HLO module: it is empty"));
  }
  auto converted = ToHlo(std::move(model));
  if (!converted.ok()) return NameModel(converted.status(), path);
  return converted;
}

absl::Status NameModel(const absl::Status& status, const std::string& path) {
  constexpr absl::string_view kTheFile = "the file ";
  if (status.ok() || !absl::StartsWith(status.message(), kTheFile)) {
    return status;
  }
  return absl::Status(
      status.code(),
      absl::StrCat(path, " ", status.message().substr(kTheFile.size())));
}

absl::Status NamePath(const absl::Status& status, const std::string& path) {
  if (!absl::IsInvalidArgument(status)) return status;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", status.message()));
}

std::string ParseModelName(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.find('.'));
}

}  // namespace meshwright::cli
