#include "coordinator/jobs/queue_measurer.h"

#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"

namespace meshwright::jobs {
namespace {

// As many as a lease has: others commit in between.
constexpr size_t kMostTogether = 128;

// One by one, up to the first that is not taken.
Measurer::OnResults TakeEach(const Measurer::OnResult& on_result) {
  if (!on_result) return nullptr;
  return [&on_result](absl::Span<const v1::ProfileResult> results) {
    for (const v1::ProfileResult& result : results) {
      RETURN_IF_ERROR(on_result(result));
    }
    return absl::OkStatus();
  };
}

}  // namespace

absl::StatusOr<DeviceDescription> QueueMeasurer::Describe(
    const v1::DeviceSpec& device) {
  ASSIGN_OR_RETURN(const WorkerDescription worker,
                   is_pinned_ ? queue_->MatchWorker(device, &*described_)
                              : queue_->FindWorker(device, stop_));
  described_ = worker.devices;
  DeviceDescription description = worker.devices;
  if (device.device_count() > 0) {
    description.device_count = device.device_count();
  }
  return description;
}

absl::Status QueueMeasurer::Measure(const v1::RunnerRequest& request,
                                    const OnResult& on_result,
                                    const OnStarted& on_started) {
  return Run(request, TakeEach(on_result), on_started, nullptr);
}

absl::Status QueueMeasurer::MeasureTogether(const v1::RunnerRequest& request,
                                            const OnResults& on_results,
                                            const OnStarted& on_started) {
  return Run(request, on_results, on_started, nullptr);
}

absl::Status QueueMeasurer::RunSequence(const v1::RunnerRequest& request,
                                        const OnResult& on_result,
                                        const OnCompared& on_compared) {
  return Run(request, TakeEach(on_result), nullptr, on_compared);
}

absl::Status QueueMeasurer::Run(const v1::RunnerRequest& request,
                                const OnResults& on_results,
                                const OnStarted& on_started,
                                const OnCompared& on_compared) {
  // Whoever sees a lease of the job may stop the run: it listens before.
  const JobId id = queue_->NewJobId();
  const std::stop_callback cancel(stop_, [this, id] { queue_->LetGo(id); });
  const std::stop_callback retire(give_way_,
                                  [this, id] { queue_->Retire(id); });
  const Submission job = queue_->Submit({request, described_, origin_, id});
  // Those that came before the job was there.
  if (stop_.stop_requested()) queue_->LetGo(id);
  if (give_way_.stop_requested()) queue_->Retire(id);
  while (true) {
    std::vector<v1::ProfileResult> results;
    std::optional<absl::Status> over;
    for (JobEvent& event : job.events->NextOnes(kMostTogether)) {
      if (auto* const result = std::get_if<v1::ProfileResult>(&event)) {
        results.push_back(std::move(*result));
      }
      const auto* done = std::get_if<JobDone>(&event);
      if (done != nullptr) over = done->status;
      const auto* compared = std::get_if<v1::RunnerEvent::Compared>(&event);
      if (compared != nullptr && on_compared) on_compared(*compared);
      const auto* started = std::get_if<v1::RunnerEvent::Started>(&event);
      if (started != nullptr && on_started) on_started(*started);
    }
    if (!results.empty() && on_results) {
      absl::Status taken = on_results(results);
      if (!taken.ok()) {
        queue_->Cancel(job.id);
        return taken;
      }
    }
    if (over.has_value()) return *over;
  }
}

}  // namespace meshwright::jobs
