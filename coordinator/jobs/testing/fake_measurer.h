// FakeMeasurer: a made-up machine, for tests of the pipeline.
//
// Concept: a program's time is made in one of two ways. From its key, no
// program says anything of another. Or it is the sum over its instructions of
// what their shards cost. The costs, per opcode and per way of being split,
// follow from a seed. Every seed is another machine on which segments add up,
// as real ones do about. Noise is even: a time measured again is within 1.5
// times the noise 15 times of 16. Rows have samples that say so
// (noise_interval.h).
// Threads: one.
// Errors: kUnavailable when `stops_after` is reached; those of the callbacks.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_TESTING_FAKE_MEASURER_H_
#define MESHWRIGHT_COORDINATOR_JOBS_TESTING_FAKE_MEASURER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "coordinator/jobs/measurer.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::jobs {

class FakeMeasurer : public jobs::Measurer {
 public:
  absl::StatusOr<jobs::DeviceDescription> Describe(
      const v1::DeviceSpec& device) override;
  absl::Status Measure(const v1::RunnerRequest& request,
                       const OnResult& on_result,
                       const OnStarted& on_started) override;

  std::stop_token StopToken() const override { return stop; }

  // Their rows, by key.
  absl::StatusOr<store::Results> MeasureAll(
      const std::vector<v1::Program>& programs);

  // The machine; without one, times are made from keys.
  std::optional<uint64_t> machine;
  // By how much the split of a dot and of the dot before it, together, speed it
  // up or slow it down, at most, relative: segments no longer add up.
  double interaction = 0;
  double noise = 0;  // of a time, relative, either way
  // Another one measures the same machine again.
  uint64_t noise_seed = 0;
  double slowness = 1;  // of all times, from now on
  // Changes every row before it is handed out.
  std::function<void(const v1::RunnerRequest&, v1::ProfileResult&)> alter;

  int programs = 0;          // asked for so far
  std::vector<int> batches;  // the same by call
  std::set<int> fails;       // which ones, counted from 1
  v1::Outcome fail_as = v1::COMPILE_FAILED;
  std::optional<int> stops_after;  // how many, as one that is interrupted
  std::stop_token stop;            // of the plan at hand

 private:
  void FillMeasurement(const v1::Program& program, v1::Measurement* row) const;
};

// Beside others, for a while: the first rows of some programs, or of all, are
// noisy and too slow.
class BusyMeasurer : public FakeMeasurer {
 public:
  absl::Status Measure(const v1::RunnerRequest& request,
                       const OnResult& on_result,
                       const OnStarted& on_started) override;

  std::optional<std::set<std::string>> slow;  // keys; absent: all
  std::set<std::string> slowed;               // those met so far
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_TESTING_FAKE_MEASURER_H_
