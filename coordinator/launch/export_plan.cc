#include "coordinator/launch/export_plan.h"

#include <utility>

#include "base/status_macros.h"
#include "coordinator/launch/make_launch.h"
#include "coordinator/launch/manifest.h"

namespace meshwright::launch {

absl::StatusOr<std::vector<base::NamedFile>> ExportPlan(
    const std::string& hlo_module, const v1::Plan& plan) {
  std::vector<base::NamedFile> files;
  if (!plan.has_pipeline()) {
    ASSIGN_OR_RETURN(std::string annotated, AnnotateModel(hlo_module, plan));
    files.push_back({"module.hlo.pb", std::move(annotated)});
    return files;
  }
  ASSIGN_OR_RETURN(Launch launch, MakeLaunch(hlo_module, plan));
  files.push_back({"manifest.json", WriteManifest(launch, plan)});
  for (LaunchModule& module : launch.modules) {
    files.push_back({NameFile(module.place),
                     std::move(*module.program.mutable_hlo_module())});
  }
  return files;
}

}  // namespace meshwright::launch
