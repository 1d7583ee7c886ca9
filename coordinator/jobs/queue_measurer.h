// QueueMeasurer: the Measurer of one planning request, on top of the queue.
//
// Concept: made for one request and thrown away with it. Describe picks a
// worker. From then on Measure accepts only workers with the same plugin
// version and device kind, because both are part of the programs' keys. One
// that is made for given devices picks a worker with equal ones, and says at
// once where none is attached.
// RunSequence is no part of Measurer: what a plan measures has no sequence.
// Threads: one request, one thread; the stop token from any. A stop lets go of
// the job at hand, and Measure returns kCancelled when nobody else wants it.
// One that is to give way takes the results of the leases that its job has,
// then returns the same. Errors: those of JobQueue::FindWorker, of MatchWorker
// and of JobDone (job_queue.h).
#ifndef MESHWRIGHT_COORDINATOR_JOBS_QUEUE_MEASURER_H_
#define MESHWRIGHT_COORDINATOR_JOBS_QUEUE_MEASURER_H_

#include <functional>
#include <optional>
#include <stop_token>

#include "coordinator/jobs/job_queue.h"
#include "coordinator/jobs/measurer.h"

namespace meshwright::jobs {

class QueueMeasurer : public Measurer {
 public:
  // `queue` outlives the measurer. `described`: the devices; absent: any.
  QueueMeasurer(JobQueue* queue, std::stop_token stop,
                std::optional<DeviceDescription> described = std::nullopt,
                JobOrigin origin = {}, std::stop_token give_way = {})
      : queue_(queue),
        stop_(std::move(stop)),
        give_way_(std::move(give_way)),
        described_(std::move(described)),
        is_pinned_(described_.has_value()),
        origin_(std::move(origin)) {}

  absl::StatusOr<DeviceDescription> Describe(
      const v1::DeviceSpec& device) override;
  absl::Status Measure(const v1::RunnerRequest& request,
                       const OnResult& on_result,
                       const OnStarted& on_started) override;
  // Results that are there together come together.
  absl::Status MeasureTogether(const v1::RunnerRequest& request,
                               const OnResults& on_results,
                               const OnStarted& on_started) override;

  std::stop_token StopToken() const override { return stop_; }

  using OnCompared = std::function<void(const v1::RunnerEvent::Compared&)>;
  // The same for a request with a sequence, on one worker. Where that is lost,
  // another runs it from its beginning; of what is compared, the last counts.
  absl::Status RunSequence(const v1::RunnerRequest& request,
                           const OnResult& on_result,
                           const OnCompared& on_compared);

 private:
  absl::Status Run(const v1::RunnerRequest& request,
                   const OnResults& on_results, const OnStarted& on_started,
                   const OnCompared& on_compared);

  JobQueue* const queue_;
  const std::stop_token stop_;
  const std::stop_token give_way_;
  std::optional<DeviceDescription> described_;
  const bool is_pinned_;
  const JobOrigin origin_;
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_QUEUE_MEASURER_H_
