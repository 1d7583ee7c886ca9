// Plugin: a PJRT plugin (an XLA compiler and runtime) opened at run time.
//
// Concept: a plugin is a shared library that exports GetPjrtApi. It is opened
// once per path and never closed: plugins do not support unloading.
// Threads: all functions from any thread.
// Errors: kNotFound when there is no such file, kFailedPrecondition when it
// cannot be loaded or is no PJRT plugin of our major version; one sentence.
#ifndef MESHWRIGHT_WORKER_PJRT_PLUGIN_H_
#define MESHWRIGHT_WORKER_PJRT_PLUGIN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

struct PJRT_Api;

namespace meshwright::worker::pjrt {

class Plugin {
 public:
  // Opens the plugin of this file. Errors: see above.
  static absl::StatusOr<std::shared_ptr<const Plugin>> Load(
      const std::string& path);

  const std::string& path() const { return path_; }
  const PJRT_Api* api() const { return api_; }
  // "0.81"
  std::string api_version() const;
  // The extension of this type in the plugin's chain, laid out as
  // PJRT_Extension_Base begins; null: it has none.
  const void* FindExtension(int type) const;

 private:
  Plugin(std::string path, const PJRT_Api* api)
      : path_(std::move(path)), api_(api) {}

  std::string path_;
  const PJRT_Api* api_;
};

// The plugin file of a platform: `path` where given, else the environment
// (MESHWRIGHT_CPU_PLUGIN, MESHWRIGHT_CUDA_PLUGIN), else for "cpu" the one of
// the packages, or that the build fetched. kFailedPrecondition when nothing
// names one, kInvalidArgument for a platform we do not know and no path.
absl::StatusOr<std::string> FindPlugin(const std::string& platform,
                                       const std::string& path);

}  // namespace meshwright::worker::pjrt

#endif  // MESHWRIGHT_WORKER_PJRT_PLUGIN_H_
