// FindCollectors: the collectors that a plugin and its machine have.
#ifndef MESHWRIGHT_WORKER_COLLECT_FIND_COLLECTORS_H_
#define MESHWRIGHT_WORKER_COLLECT_FIND_COLLECTORS_H_

#include <memory>
#include <string>
#include <vector>

#include "worker/collect/collector.h"
#include "worker/pjrt/plugin.h"

namespace meshwright::worker::collect {

// The one that knows most first; none on a CPU. `notes`: a sentence for each
// that an accelerator lacks.
std::vector<std::unique_ptr<KernelCollector>> FindCollectors(
    const std::shared_ptr<const pjrt::Plugin>& plugin,
    const std::string& platform, std::vector<std::string>& notes);

}  // namespace meshwright::worker::collect

#endif  // MESHWRIGHT_WORKER_COLLECT_FIND_COLLECTORS_H_
