#include "worker/service/runner_batches.h"

#include <utility>

#include "worker/sandbox/runner_process.h"
#include "worker/sandbox/undead.h"

namespace meshwright::worker {

BatchFunction RunnerBatches() {
  sandbox::SweepJobFolders();
  return [](const v1::RunnerRequest& request, const OnRunnerEvent& on_event,
            std::stop_token stop) {
    sandbox::RunOptions options;
    options.stop = std::move(stop);
    return sandbox::RunBatch(request, on_event, options);
  };
}

MemberFunction RunnerMembers(const v1::DeviceSpec& devices) {
  if (devices.platform() == "cpu" || devices.solo()) return nullptr;
  return [](const v1::RunnerRequest& request, const OnRunnerEvent& on_event,
            std::stop_token stop, sandbox::GangInbox* inbox) {
    sandbox::RunOptions options;
    options.stop = std::move(stop);
    options.inbox = inbox;
    return sandbox::RunBatch(request, on_event, options);
  };
}

std::string FindRunnerFault() { return sandbox::DescribeUndead(); }

}  // namespace meshwright::worker
