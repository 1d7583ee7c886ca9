// SoakCaller: one of those who call a coordinator all day, and what they see.
//
// Concept: three kinds. Each makes one call, or a few that belong together, and
// notes in the record what it did. An answer that should have been another one
// is kept there.
//   planner   submits a small model, half of the time with programs that nobody
//             has measured; watches it, leaves a watch, cancels
//   reader    puts modules whole, in part and damaged; looks up, lists, exports
//   stranger  sends noise of HostileMessages to every RPC, messages that are
//             too large, wrong tokens, bytes that are no HTTP/2
// Threads: a caller is for one; the record, which outlives them, for all.
// Errors: of making one, those of PlanningClient::Connect and
// base::OpenChannel.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_SOAK_CALLER_H_
#define MESHWRIGHT_TESTS_INTEGRATION_SOAK_CALLER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/mutex.h"

namespace meshwright::integration {

// Until a coordinator answers, and leads.
inline constexpr absl::Duration kSoakPatience = absl::Seconds(60);

struct SoakTally {
  int64_t plans = 0;  // that ended, of these:
  int64_t done = 0;
  int64_t cancelled = 0;
  int64_t left_watches = 0;
  int64_t uploads = 0;
  int64_t reads = 0;
  int64_t hostile = 0;
  int64_t rows_removed = 0;
  int64_t plans_removed = 0;
  int64_t workers = 0;  // that came
};

class SoakRecord {
 public:
  template <typename Change>
  void Count(const Change& change) {
    base::MutexLock lock(&mutex_);
    change(tally_);
  }
  // Keeps the first status that is not the wanted one.
  void Expect(const absl::Status& status, const std::string& what,
              absl::StatusCode wanted = absl::StatusCode::kOk) {
    if (status.code() == wanted) return;
    base::MutexLock lock(&mutex_);
    if (!fault_.ok()) return;
    fault_ = absl::InternalError(
        absl::StrCat(what, " was answered with ", status.ToString()));
  }
  SoakTally tally() const {
    base::MutexLock lock(&mutex_);
    return tally_;
  }
  absl::Status fault() const {
    base::MutexLock lock(&mutex_);
    return fault_;
  }

 private:
  mutable base::Mutex mutex_;
  SoakTally tally_ ABSL_GUARDED_BY(mutex_);
  absl::Status fault_ ABSL_GUARDED_BY(mutex_);
};

class SoakCaller {
 public:
  SoakCaller(SoakRecord* record, uint64_t seed)
      : record_(*record), random_(seed) {}
  virtual ~SoakCaller() = default;
  virtual void Call() = 0;

 protected:
  size_t Below(size_t end) { return random_() % end; }

  SoakRecord& record_;

 private:
  std::mt19937_64 random_;
};

// Planners have different numbers. Tokens are named by their roles; `wrong` is
// none of the coordinator's.
absl::StatusOr<std::unique_ptr<SoakCaller>> MakePlanner(
    SoakRecord* record, int number, const std::string& address,
    const std::string& submit);
absl::StatusOr<std::unique_ptr<SoakCaller>> MakeReader(
    SoakRecord* record, const std::string& address, const std::string& submit,
    const std::string& admin);
// `address` is HOST:PORT.
absl::StatusOr<std::unique_ptr<SoakCaller>> MakeStranger(
    SoakRecord* record, const std::string& address, const std::string& submit,
    const std::string& wrong);

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_SOAK_CALLER_H_
