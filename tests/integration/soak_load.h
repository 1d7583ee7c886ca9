// SoakLoad: a day of a coordinator, again and again.
//
// Concept: callers of all kinds (soak_caller.h), each on a thread of its own,
// and simulated workers. Some of them stay, others leave in the middle of a
// batch, and come again under another name. Callers rest in a pause, and while
// garbage is collected. Then no plan is under way, so all plans and rows go:
// the store stays as small.
// Threads and ownership: Start, Resume, Pause, CollectGarbage, ReplaceWorkers
// and the destructor from one thread, the rest from any.
// Errors: of Start, those of PlanningClient::Connect, and kUnavailable for a
// coordinator that does not lead within a minute.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_SOAK_LOAD_H_
#define MESHWRIGHT_TESTS_INTEGRATION_SOAK_LOAD_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/integration/soak_caller.h"

namespace meshwright::integration {

class SoakLoad {
 public:
  // Tokens of these roles; `wrong` is none of the coordinator's.
  struct Tokens {
    std::string submit, work, admin, wrong;
  };

  // `address` is HOST:PORT of this machine.
  static absl::StatusOr<std::unique_ptr<SoakLoad>> Start(
      const std::string& address, const Tokens& tokens);
  ~SoakLoad();
  SoakLoad(const SoakLoad&) = delete;
  SoakLoad& operator=(const SoakLoad&) = delete;

  void Resume();
  void Pause();  // until no call is under way
  void CollectGarbage();
  void ReplaceWorkers();

  SoakTally tally() const;
  // The first answer that should have been another one.
  absl::Status fault() const;

 private:
  struct Parts;
  explicit SoakLoad(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_SOAK_LOAD_H_
