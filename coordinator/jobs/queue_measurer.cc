#include "coordinator/jobs/queue_measurer.h"

#include "base/status_macros.h"

namespace meshwright::jobs {

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
  return Run(request, on_result, on_started, nullptr);
}

absl::Status QueueMeasurer::RunSequence(const v1::RunnerRequest& request,
                                        const OnResult& on_result,
                                        const OnCompared& on_compared) {
  return Run(request, on_result, nullptr, on_compared);
}

absl::Status QueueMeasurer::Run(const v1::RunnerRequest& request,
                                const OnResult& on_result,
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
    const JobEvent event = job.events->Next();
    if (const auto* done = std::get_if<JobDone>(&event)) return done->status;
    if (const auto* result = std::get_if<v1::ProfileResult>(&event)) {
      absl::Status taken = on_result ? on_result(*result) : absl::OkStatus();
      if (taken.ok()) continue;
      queue_->Cancel(job.id);
      return taken;
    }
    const auto* compared = std::get_if<v1::RunnerEvent::Compared>(&event);
    if (compared != nullptr && on_compared) on_compared(*compared);
    const auto* started = std::get_if<v1::RunnerEvent::Started>(&event);
    if (started != nullptr && on_started) on_started(*started);
  }
}

}  // namespace meshwright::jobs
