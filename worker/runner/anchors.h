// Anchors: a few fixed programs that are timed beside every batch.
//
// Concept: their times are stored with each row. They tell how fast the machine
// was while the row was made, so rows of different days, batches and machines
// of one fingerprint come to one time base
// (coordinator/estimation/time_base.h).
//   compute    a product of two 512 x 512 matrices on every device
//   memory     a sum of two vectors of 4 Mi floats on every device
//   all-reduce 1 Mi floats over all devices, where there are several
// What they compute is frozen: another program needs another name.
// Ownership: holds device memory while it lives; must not outlive the client.
// Threads: one. Errors: those of compiling and executing.
// Source: design, section 5 ("Anchors").
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

  int count() const { return static_cast<int>(anchors_.size()); }
  const std::string& name(int anchor) const { return anchors_[anchor].name; }
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
