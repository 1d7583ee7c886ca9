// Anchors: fixed programs that are timed beside every batch.
//
// Concept: their times are stored with each row. They tell how fast the machine
// was while the row was made. Rows of different days, batches and machines of
// one fingerprint thus come to one time base
// (coordinator/estimation/time_base.h).
//   products   x = x w + x, six times, of 512 x 512 matrices on every device
//   launch     the negative of one float on every device: what launching any
//              program costs, which is taken out of the rows (timing/launch.h)
// The first takes as long as a layer does, so its minimum errs as theirs do.
// Sums of long vectors and collectives alone vary by 60 % with where their
// buffers lie.
// The program of an anchor is frozen: another program needs another name.
// Ownership: holds device memory while it lives; must not outlive the client.
// Threads: one. Errors: those of compiling and executing.
// Source: docs/decisions/measuring.md.
#ifndef MESHWRIGHT_WORKER_RUNNER_ANCHORS_H_
#define MESHWRIGHT_WORKER_RUNNER_ANCHORS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/pjrt/client.h"

namespace meshwright::worker::runner {

class Anchors {
 public:
  // On the first `devices` of the client.
  static absl::StatusOr<std::unique_ptr<Anchors>> Load(
      const pjrt::Client& client, int devices);

  // The number of the anchor that is a launch.
  static constexpr int kLaunch = 1;

  int count() const { return static_cast<int>(anchors_.size()); }
  const std::string& name(int anchor) const { return anchors_[anchor].name; }
  // Once; the inputs are kept for the next run.
  absl::StatusOr<pjrt::Execution> Run(int anchor) const;

 private:
  struct Anchor {
    std::string name;
    std::unique_ptr<pjrt::Executable> executable;
    std::vector<std::vector<pjrt::Buffer>> inputs;  // [device][argument]
  };

  std::vector<Anchor> anchors_;
};

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_ANCHORS_H_
