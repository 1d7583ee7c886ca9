// LargeHead: a FakeMeasurer on which the programs of one segment type need much
// memory while they run, as a head over a large vocabulary does. Beside it,
// recomputing other segments in groups costs no memory.
// Threads and errors: those of FakeMeasurer.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_TESTING_LARGE_HEAD_H_
#define MESHWRIGHT_COORDINATOR_JOBS_TESTING_LARGE_HEAD_H_

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "coordinator/jobs/testing/fake_measurer.h"

namespace meshwright::jobs {

class LargeHead : public FakeMeasurer {
 public:
  absl::Status Measure(const v1::RunnerRequest& request,
                       const OnResult& on_result,
                       const OnStarted& on_started) override {
    std::set<std::string> large;
    for (const v1::Program& program : request.programs()) {
      if (absl::StartsWith(program.label(), label)) {
        large.insert(program.key());
      }
      if (absl::StrContains(program.label(), " group")) {
        in_groups.insert(program.key());
      }
    }
    return FakeMeasurer::Measure(
        request,
        [&](const v1::ProfileResult& result) {
          v1::ProfileResult changed = result;
          if (large.contains(result.key())) {
            changed.mutable_measurement()
                ->mutable_memory()
                ->set_temporary_bytes(int64_t{1} << 30);
          }
          return on_result(changed);
        },
        on_started);
  }

  std::string label;                // how theirs begin
  std::set<std::string> in_groups;  // asked for so far
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_TESTING_LARGE_HEAD_H_
