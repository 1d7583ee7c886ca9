#include "coordinator/resharding/answer_cache.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"

namespace meshwright::resharding {
namespace {

constexpr double kMoreTime = 1.25;  // what is less is the same
constexpr std::chrono::duration<double> kMostOvertime{0.1};
constexpr int64_t kEntryBytes = 256;  // the tables around one

bool DrawsLots(reshard::Solver solver) {
  return solver == reshard::Solver::kAuto ||
         solver == reshard::Solver::kRandomized ||
         solver == reshard::Solver::kEnsemble;
}

std::string KeyOf(const reshard::Canonical& canonical,
                  const reshard::Options& options) {
  return base::Sha256Hex(
      absl::StrCat(ContentOf(canonical), static_cast<int>(options.solver), "/",
                   DrawsLots(options.solver) ? options.seed : 0));
}

int64_t BytesOf(const reshard::Schedule& schedule) {
  return kEntryBytes +
         static_cast<int64_t>(schedule.size() * sizeof(reshard::Send));
}

}  // namespace

AnswerCache::Budget AnswerCache::Budget::Of(const base::Deadline& deadline) {
  Budget budget{.deadline = deadline.at};
  if (budget.deadline.has_value()) {
    budget.seconds =
        std::max(*budget.deadline - Clock::now(), Clock::duration::zero());
  }
  return budget;
}

bool AnswerCache::Budget::ServedBy(const Kept& kept) const {
  if (kept.makespan <= kept.lower_bound) return true;
  return deadline.has_value() ? seconds <= kMoreTime * kept.longest
                              : kept.fixed_effort;
}

bool AnswerCache::Budget::JoinedTo(const Budget& other) const {
  if (!deadline.has_value() || !other.deadline.has_value()) {
    return deadline.has_value() == other.deadline.has_value();
  }
  return seconds <= kMoreTime * other.seconds &&
         *other.deadline <= *deadline + std::min(seconds / 8, kMostOvertime);
}

AnswerCache::AnswerCache(Options options) : options_(std::move(options)) {}

absl::StatusOr<AnswerCache::Served> AnswerCache::Solve(
    const reshard::ReshardProblem& problem, const reshard::Options& options) {
  const reshard::Canonical canonical = reshard::Canonicalize(problem);
  const std::string key = KeyOf(canonical, options);
  const Budget budget = Budget::Of(options.deadline);
  bool leads = false;
  SearchPtr search;
  KeptPtr kept;
  {
    const absl::MutexLock lock(&mutex_);
    kept = Find(key);
    if (kept == nullptr || !budget.ServedBy(*kept)) {
      search = Join(key, budget, &leads);
    }
    ++(leads ? statistics_.solved : statistics_.served);
  }
  if (search != nullptr) {
    if (!Attend(key, canonical.problem, options, search, leads)) {
      return absl::CancelledError(
          "the caller left before the answer was found");
    }
    RETURN_IF_ERROR(search->status);
    kept = search->found;
  }
  ASSIGN_OR_RETURN(reshard::Answer answer,
                   reshard::Score(problem, Translate(canonical, kept->schedule),
                                  kept->lower_bound, kept->solver));
  answer.elapsed = kept->elapsed;
  return Served{std::move(answer), !leads};
}

AnswerCache::Statistics AnswerCache::statistics() const {
  const absl::MutexLock lock(&mutex_);
  Statistics statistics = statistics_;
  statistics.entries = static_cast<int64_t>(entries_.size());
  return statistics;
}

AnswerCache::KeptPtr AnswerCache::Find(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second.place);
  return found->second.kept;
}

void AnswerCache::Keep(const std::string& key, KeptPtr kept) {
  if (const auto known = entries_.find(key); known != entries_.end()) {
    statistics_.bytes -= BytesOf(known->second.kept->schedule);
    recent_.erase(known->second.place);
    entries_.erase(known);
  }
  const int64_t bytes = BytesOf(kept->schedule);
  if (bytes > options_.most_bytes) return;
  while (statistics_.bytes + bytes > options_.most_bytes) {
    const auto oldest = entries_.find(recent_.back());
    statistics_.bytes -= BytesOf(oldest->second.kept->schedule);
    entries_.erase(oldest);
    recent_.pop_back();
    ++statistics_.evicted;
  }
  recent_.push_front(key);
  entries_[key] = {std::move(kept), recent_.begin()};
  statistics_.bytes += bytes;
}

AnswerCache::SearchPtr AnswerCache::Join(const std::string& key,
                                         const Budget& budget, bool* leads) {
  std::vector<SearchPtr>& searches = searches_[key];
  for (const SearchPtr& search : searches) {
    // One that everybody left ends without an answer.
    if (search->callers > 0 && budget.JoinedTo(search->budget)) {
      ++search->callers;
      return search;
    }
  }
  *leads = true;
  const auto search = std::make_shared<Search>();
  search->budget = budget;
  search->callers = 1;
  searches.push_back(search);
  return search;
}

bool AnswerCache::Attend(const std::string& key,
                         const reshard::ReshardProblem& problem,
                         const reshard::Options& options,
                         const SearchPtr& search, bool leads) {
  bool gone = false;
  {
    const std::stop_callback leave(options.deadline.stop, [&] {
      const absl::MutexLock lock(&mutex_);
      gone = true;
      if (--search->callers == 0) search->stop.request_stop();
    });
    if (leads) {
      Run(key, problem, options, search);
    } else {
      const auto settled = [&] { return gone || search->over; };
      const absl::MutexLock lock(&mutex_);
      ++statistics_.waiting;
      mutex_.Await(absl::Condition(&settled));
      --statistics_.waiting;
    }
  }
  return !gone;
}

void AnswerCache::Run(const std::string& key,
                      const reshard::ReshardProblem& problem,
                      reshard::Options options, const SearchPtr& search) {
  options.deadline.stop = search->stop.get_token();
  absl::StatusOr<reshard::Answer> answer = options_.solve(problem, options);
  const absl::MutexLock lock(&mutex_);
  search->over = true;
  std::vector<SearchPtr>& searches = searches_[key];
  std::erase(searches, search);
  if (searches.empty()) searches_.erase(key);
  search->status = answer.status();
  if (!answer.ok() || (search->callers == 0 && !answer->optimal)) return;
  const bool fixed_effort = !search->budget.deadline.has_value();
  search->found = Better(
      Find(key),
      {.schedule = std::move(answer->schedule),
       .makespan = answer->timing.makespan,
       .lower_bound = answer->lower_bound,
       .solver = std::move(answer->solver),
       .elapsed = answer->elapsed,
       .fixed_effort = fixed_effort,
       .longest = fixed_effort ? answer->elapsed : search->budget.seconds});
  Keep(key, search->found);
}

AnswerCache::KeptPtr AnswerCache::Better(KeptPtr known, Kept found) {
  if (known == nullptr) return std::make_shared<Kept>(std::move(found));
  Kept better = found.makespan < known->makespan ? found : *known;
  better.lower_bound = std::max(found.lower_bound, known->lower_bound);
  better.fixed_effort = found.fixed_effort || known->fixed_effort;
  better.longest = std::max(found.longest, known->longest);
  return std::make_shared<Kept>(std::move(better));
}

}  // namespace meshwright::resharding
