#include "worker/pjrt/plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/installed_file.h"
#include "pjrt_c_api.h"
#include "worker/pjrt/call.h"

namespace meshwright::worker::pjrt {

absl::StatusOr<std::shared_ptr<const Plugin>> Plugin::Load(
    const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) {
    return absl::NotFoundError(absl::StrCat("there is no plugin at ", path));
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot load the plugin ", path, ": ", dlerror()));
  }
  using GetApi = const PJRT_Api* (*)();
  const auto get_api = reinterpret_cast<GetApi>(dlsym(library, "GetPjrtApi"));
  if (get_api == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is not a PJRT plugin: it has no GetPjrtApi"));
  }
  const PJRT_Api* api = get_api();
  if (api == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("the plugin ", path, " offers no PJRT API"));
  }
  if (api->pjrt_api_version.major_version != PJRT_API_MAJOR) {
    return absl::FailedPreconditionError(
        absl::StrCat("the plugin ", path, " speaks PJRT ",
                     api->pjrt_api_version.major_version, ".x, Meshwright ",
                     PJRT_API_MAJOR, ".", PJRT_API_MINOR));
  }
  Padded<PJRT_Plugin_Initialize_Args> initialize;
  const absl::Status status =
      MESHWRIGHT_PJRT(api, PJRT_Plugin_Initialize, initialize);
  if (!status.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the plugin ", path, " does not start: ", status.message()));
  }
  return std::shared_ptr<const Plugin>(new Plugin(path, api));
}

std::string Plugin::api_version() const {
  return absl::StrCat(api_->pjrt_api_version.major_version, ".",
                      api_->pjrt_api_version.minor_version);
}

const void* Plugin::FindExtension(int type) const {
  for (const PJRT_Extension_Base* it = api_->extension_start; it != nullptr;
       it = it->next) {
    if (static_cast<int>(it->type) == type) return it;
  }
  return nullptr;
}

absl::StatusOr<std::string> FindPlugin(const std::string& platform,
                                       const std::string& path) {
  if (!path.empty()) return path;
  const bool cpu = platform.empty() || platform == "cpu";
  if (!cpu && platform != "cuda") {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown platform \"", platform,
                     "\": name cpu, cuda, or give a plugin's path"));
  }
  const char* named =
      std::getenv(cpu ? "MESHWRIGHT_CPU_PLUGIN" : "MESHWRIGHT_CUDA_PLUGIN");
  if (named != nullptr && *named != '\0') return std::string(named);
  if (cpu) {
    if (auto installed = base::FindInstalled("pjrt_cpu.so")) return *installed;
    if (access(MESHWRIGHT_CPU_PLUGIN, F_OK) == 0) {
      return std::string(MESHWRIGHT_CPU_PLUGIN);
    }
    return absl::FailedPreconditionError(
        "no CPU plugin is here: install the package meshwright-plugin-cpu, "
        "pass --plugin with the path of xla_cpu_pjrt.so, or set "
        "MESHWRIGHT_CPU_PLUGIN");
  }
  return absl::FailedPreconditionError(
      "no CUDA plugin is known here: pass --plugin with the path of "
      "xla_cuda_plugin.so, or set MESHWRIGHT_CUDA_PLUGIN");
}

}  // namespace meshwright::worker::pjrt
