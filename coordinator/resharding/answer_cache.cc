#include "coordinator/resharding/answer_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/fingerprint.h"
#include "base/mutex.h"
#include "base/status_macros.h"

namespace meshwright::resharding {
namespace {

constexpr double kMoreTime = 1.25;  // what is less is the same
constexpr std::chrono::duration<double> kMaxOvertime{0.1};
constexpr int64_t kEntryBytes = 256;  // the tables around one

bool IsRandom(reshard::Solver solver) {
  return solver == reshard::Solver::kAuto ||
         solver == reshard::Solver::kRandomized ||
         solver == reshard::Solver::kEnsemble;
}

std::string CacheKey(const reshard::ReshardProblem& problem,
                     const reshard::Options& options) {
  base::Fingerprinter key;
  const auto add_speed = [&](std::optional<double> speed) {
    // No speed is negative.
    key.Add(std::bit_cast<int64_t>(speed.value_or(-1)));
  };
  const auto add_hosts = [&](const std::vector<int>& hosts) {
    key.Add(static_cast<int64_t>(hosts.size()));
    for (const int host : hosts) key.Add(int64_t{host});
  };
  key.Add("meshwright resharding 2");
  key.Add(static_cast<int64_t>(options.solver));
  key.Add(static_cast<int64_t>(IsRandom(options.solver) ? options.seed : 0));
  key.Add(int64_t{problem.split});
  add_speed(problem.bandwidth_bytes_per_s);
  key.Add(static_cast<int64_t>(problem.hosts.size()));
  for (const reshard::Host& host : problem.hosts) {
    key.Add(int64_t{host.out_links}).Add(int64_t{host.in_links});
    add_speed(host.out_bytes_per_s);
    add_speed(host.in_bytes_per_s);
  }
  key.Add(static_cast<int64_t>(problem.routes.size()));
  for (const reshard::Route& route : problem.routes) {
    key.Add(int64_t{route.from}).Add(int64_t{route.to});
    add_speed(route.bytes_per_s);
  }
  for (const reshard::UnitTask& task : problem.tasks) {
    key.Add(task.size_bytes);
    add_hosts(task.senders);
    add_hosts(task.receivers);
  }
  return key.Hex();
}

int64_t CountBytes(const reshard::Answer& answer) {
  return kEntryBytes + static_cast<int64_t>(answer.schedule.size() *
                                            (sizeof(reshard::Send) +
                                             2 * sizeof(reshard::Ticks)));
}

}  // namespace

AnswerCache::Budget AnswerCache::Budget::From(const base::Deadline& deadline) {
  Budget budget{.deadline = deadline.at};
  if (budget.deadline.has_value()) {
    budget.seconds =
        std::max(*budget.deadline - Clock::now(), Clock::duration::zero());
  }
  return budget;
}

bool AnswerCache::Budget::ServedBy(const Kept& kept) const {
  if (kept.answer.optimal) return true;
  return deadline.has_value() ? seconds <= kMoreTime * kept.longest
                              : kept.fixed_work;
}

bool AnswerCache::Budget::JoinedTo(const Budget& other) const {
  if (!deadline.has_value() || !other.deadline.has_value()) {
    return deadline.has_value() == other.deadline.has_value();
  }
  return seconds <= kMoreTime * other.seconds &&
         *other.deadline <= *deadline + std::min(seconds / 8, kMaxOvertime);
}

AnswerCache::AnswerCache(Options options) : options_(std::move(options)) {}

absl::StatusOr<AnswerCache::Served> AnswerCache::Solve(
    const reshard::ReshardProblem& problem, const reshard::Options& options) {
  const std::string key = CacheKey(problem, options);
  const Budget budget = Budget::From(options.deadline);
  bool leads = false;
  SearchPtr search;
  KeptPtr kept;
  {
    const base::MutexLock lock(&mutex_);
    kept = Find(key);
    if (kept == nullptr || !budget.ServedBy(*kept)) {
      search = Join(key, budget, &leads);
    }
    ++(leads ? statistics_.solved : statistics_.served);
  }
  if (search != nullptr) {
    if (!Attend(key, problem, options, search, leads)) {
      return absl::CancelledError(
          "the caller left before the answer was found");
    }
    RETURN_IF_ERROR(search->status);
    kept = search->found;
  }
  return Served{kept->answer, !leads};
}

AnswerCache::Statistics AnswerCache::statistics() const {
  const base::MutexLock lock(&mutex_);
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
    statistics_.bytes -= CountBytes(known->second.kept->answer);
    recent_.erase(known->second.place);
    entries_.erase(known);
  }
  const int64_t bytes = CountBytes(kept->answer);
  if (bytes > options_.max_bytes) return;
  while (statistics_.bytes + bytes > options_.max_bytes) {
    const auto oldest = entries_.find(recent_.back());
    statistics_.bytes -= CountBytes(oldest->second.kept->answer);
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
  auto search = std::make_shared<Search>();
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
      const base::MutexLock lock(&mutex_);
      gone = true;
      if (--search->callers == 0) search->stop.request_stop();
    });
    if (leads) {
      Run(key, problem, options, search);
    } else {
      const auto ended = [&] { return gone || search->over; };
      const base::MutexLock lock(&mutex_);
      ++statistics_.waiting;
      mutex_.Await(absl::Condition(&ended));
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
  const base::MutexLock lock(&mutex_);
  search->over = true;
  std::vector<SearchPtr>& searches = searches_[key];
  std::erase(searches, search);
  if (searches.empty()) searches_.erase(key);
  search->status = answer.status();
  if (!answer.ok() || (search->callers == 0 && !answer->optimal)) return;
  const bool fixed_work = !search->budget.deadline.has_value();
  const std::chrono::duration<double> longest =
      fixed_work ? answer->elapsed : search->budget.seconds;
  search->found = Better(Find(key), {.answer = *std::move(answer),
                                     .fixed_work = fixed_work,
                                     .longest = longest});
  Keep(key, search->found);
}

AnswerCache::KeptPtr AnswerCache::Better(const KeptPtr& known, Kept found) {
  if (known == nullptr) return std::make_shared<Kept>(std::move(found));
  const bool shorter =
      found.answer.timing.makespan < known->answer.timing.makespan;
  const reshard::Answer& higher =
      found.answer.lower_bound > known->answer.lower_bound ? found.answer
                                                           : known->answer;
  Kept better = shorter ? found : *known;
  better.answer.lower_bound = higher.lower_bound;
  better.answer.lower_bound_seconds = higher.lower_bound_seconds;
  better.answer.optimal =
      better.answer.timing.makespan == better.answer.lower_bound;
  better.fixed_work = found.fixed_work || known->fixed_work;
  better.longest = std::max(found.longest, known->longest);
  return std::make_shared<Kept>(std::move(better));
}

}  // namespace meshwright::resharding
