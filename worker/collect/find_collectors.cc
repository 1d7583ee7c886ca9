#include "worker/collect/find_collectors.h"

#include "worker/collect/cupti_collector.h"
#include "worker/collect/plugin_profiler.h"

namespace meshwright::worker::collect {

std::vector<std::unique_ptr<KernelCollector>> FindCollectors(
    const std::shared_ptr<const pjrt::Plugin>& plugin,
    const std::string& platform, std::vector<std::string>& notes) {
  std::vector<std::unique_ptr<KernelCollector>> collectors;
  if (platform == "cpu") return collectors;
  const auto add = [&](auto collector) {
    if (collector.ok()) {
      collectors.push_back(*std::move(collector));
    } else {
      notes.emplace_back(collector.status().message());
    }
  };
  add(PluginProfiler::Open(plugin));
  if (platform == "cuda") add(CuptiCollector::Open(plugin->path()));
  return collectors;
}

}  // namespace meshwright::worker::collect
