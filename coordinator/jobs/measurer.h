// Measurer: has programs compiled and timed, somewhere.
//
// Concept: the planning pipeline knows only this interface; behind it stand the
// job queue and the worker daemons. Every program handed in gets exactly one
// ProfileResult through `on_result`, whatever happens to it. A crash, a compile
// error and a time-out are rows, not errors. One that another plan was
// measuring already gets none; its row is in the store when Measure returns.
// Threads: callbacks run one at a time, on any thread, before Measure returns.
// Errors: kUnavailable when no worker can take the programs (none attached, or
// none with enough devices or that platform), kCancelled, those of on_result.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_MEASURER_H_
#define MESHWRIGHT_COORDINATOR_JOBS_MEASURER_H_

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/v1/device.pb.h"
#include "proto/v1/job.pb.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::jobs {

// Is given the phases of a plan as they go on.
using ProgressFunction = std::function<void(const v1::PlanProgress&)>;

struct DeviceDescription {
  std::string platform;          // "cpu"
  std::string platform_version;  // of the plugin, for people
  std::string device_kind;
  int device_count = 0;
  v1::DeviceFingerprint fingerprint;  // part of every key
  int64_t memory_bytes = 0;           // of one device; 0: unknown
};

class Measurer {
 public:
  // An error (a full disk) ends the measuring, and Measure returns it.
  using OnResult = std::function<absl::Status(const v1::ProfileResult&)>;
  // Called when a program's compile or measure phase begins.
  using OnStarted = std::function<void(const v1::RunnerEvent::Started&)>;

  virtual ~Measurer() = default;

  // The devices that would run programs for `device`.
  virtual absl::StatusOr<DeviceDescription> Describe(
      const v1::DeviceSpec& device) = 0;

  // Returns when every program has its result, or an error ends it. Errors: see
  // above.
  virtual absl::Status Measure(const v1::RunnerRequest& request,
                               const OnResult& on_result,
                               const OnStarted& on_started) = 0;

  // The same for results that are there together; an error is of all of them.
  using OnResults =
      std::function<absl::Status(absl::Span<const v1::ProfileResult>)>;
  virtual absl::Status MeasureTogether(const v1::RunnerRequest& request,
                                       const OnResults& on_results,
                                       const OnStarted& on_started) {
    return Measure(
        request,
        [&](const v1::ProfileResult& result) {
          return on_results({&result, 1});
        },
        on_started);
  }

  // When the plan at hand was asked for; nothing where no plan is at hand, or
  // nobody knows.
  virtual std::optional<absl::Time> PlanBegan() const { return std::nullopt; }

  // Asks whoever makes the plan at hand to stop; without a state where nobody
  // can.
  virtual std::stop_token StopToken() const { return {}; }

  // The plan at hand is made from the store's rows of these keys. Called by the
  // thread that makes it.
  virtual void NoteRows(absl::Span<const std::string> /*keys*/) {}
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_MEASURER_H_
