// PluginProfiler: the profiler extension of a PJRT plugin as a collector.
//
// Errors: of Open: kFailedPrecondition for a plugin without the extension.
// Source: PJRT extension type 1, whose table is XLA's C API of profilers.
#ifndef MESHWRIGHT_WORKER_COLLECT_PLUGIN_PROFILER_H_
#define MESHWRIGHT_WORKER_COLLECT_PLUGIN_PROFILER_H_

#include <memory>
#include <string>

#include "worker/collect/collector.h"
#include "worker/pjrt/plugin.h"

namespace meshwright::worker::collect {

struct ProfilerTable;  // the extension's functions

class PluginProfiler : public KernelCollector {
 public:
  static absl::StatusOr<std::unique_ptr<PluginProfiler>> Open(
      std::shared_ptr<const pjrt::Plugin> plugin);
  ~PluginProfiler() override;
  PluginProfiler(const PluginProfiler&) = delete;
  PluginProfiler& operator=(const PluginProfiler&) = delete;

  std::string name() const override { return "plugin"; }
  absl::Status Start() override;
  absl::StatusOr<Collection> Stop() override;

 private:
  PluginProfiler(std::shared_ptr<const pjrt::Plugin> plugin,
                 const ProfilerTable* table)
      : plugin_(std::move(plugin)), table_(table) {}
  absl::StatusOr<std::string> Collect();
  void Destroy();

  std::shared_ptr<const pjrt::Plugin> plugin_;
  const ProfilerTable* table_;
  void* session_ = nullptr;
};

}  // namespace meshwright::worker::collect

#endif  // MESHWRIGHT_WORKER_COLLECT_PLUGIN_PROFILER_H_
