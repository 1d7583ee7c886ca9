#include "planner/pipeline/testing/replay.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::pipeline {
namespace {

struct Interval {
  Picoseconds start{0};
  Picoseconds end{0};
  std::string name;
};

absl::Status Broken(const std::string& rule) {
  return absl::InvalidArgumentError(rule);
}

absl::Status Disjoint(std::vector<Interval> intervals,
                      const std::string& where) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) {
              return std::tie(a.start, a.end) < std::tie(b.start, b.end);
            });
  for (size_t i = 0; i + 1 < intervals.size(); ++i) {
    if (intervals[i].end > intervals[i + 1].start) {
      return Broken(absl::StrCat(intervals[i].name, " and ",
                                 intervals[i + 1].name, " overlap on ", where));
    }
  }
  return {};
}

// (stage or link, kind, micro-batch) → when.
using Places = std::map<std::tuple<int, int, int>, Interval>;
constexpr int kForwardTransfer = 100;
constexpr int kBackwardTransfer = 101;

class Judge {
 public:
  Judge(const PipelineProblem& problem, const Timeline& timeline)
      : problem_(problem), timeline_(timeline), held_(problem.Stages()) {}

  absl::StatusOr<Replayed> Run() {
    const size_t stages = problem_.stages.size();
    if (timeline_.stages.size() != stages ||
        timeline_.forward_links.size() != stages - 1 ||
        timeline_.backward_links.size() != stages - 1) {
      return Broken("the timeline has other stages or links");
    }
    RETURN_IF_ERROR(Collect());
    for (int stage = 0; stage < problem_.Stages(); ++stage) {
      for (int k = 0; k < problem_.micro_batches; ++k) {
        RETURN_IF_ERROR(CheckMicroBatch(stage, k));
      }
      RETURN_IF_ERROR(
          Disjoint(held_[stage], absl::StrCat("stage ", stage + 1)));
    }
    if (!places_.empty()) {
      return Broken(
          absl::StrCat(places_.begin()->second.name, " is once too often"));
    }
    Replayed replayed{last_, {}};
    for (int stage = 0; stage < problem_.Stages(); ++stage) {
      replayed.peak_bytes.push_back(Peak(stage));
    }
    return replayed;
  }

 private:
  absl::Status Add(int where, int kind, int micro_batch, Interval interval,
                   Picoseconds time) {
    if (interval.start.count() < 0 || interval.end - interval.start != time) {
      return Broken(absl::StrCat(interval.name, " takes the wrong time"));
    }
    last_ = std::max(last_, interval.end);
    if (!places_.emplace(std::tuple(where, kind, micro_batch), interval)
             .second) {
      return Broken(absl::StrCat(interval.name, " runs twice"));
    }
    return {};
  }

  absl::Status Collect() {
    for (int stage = 0; stage < problem_.Stages(); ++stage) {
      for (const Span& span : timeline_.stages[stage]) {
        const Interval interval{
            span.start, span.end,
            absl::StrCat(Name(span.operation), " of stage ", stage + 1)};
        RETURN_IF_ERROR(
            Add(stage, static_cast<int>(span.operation.kind),
                span.operation.micro_batch, interval,
                FindTime(problem_.stages[stage], span.operation.kind)));
        held_[stage].push_back(interval);
      }
    }
    for (int link = 0; link + 1 < problem_.Stages(); ++link) {
      const Transfer& costs = problem_.transfers[link];
      RETURN_IF_ERROR(CollectLink(link, kForwardTransfer,
                                  timeline_.forward_links[link],
                                  costs.forward));
      RETURN_IF_ERROR(CollectLink(link, kBackwardTransfer,
                                  timeline_.backward_links[link],
                                  costs.backward));
    }
    return {};
  }

  absl::Status CollectLink(int link, int kind,
                           const std::vector<Delivery>& deliveries,
                           Picoseconds time) {
    std::vector<Interval> held;
    for (const Delivery& delivery : deliveries) {
      const Interval interval{
          delivery.start, delivery.end,
          absl::StrCat(kind == kForwardTransfer ? "activation " : "gradient ",
                       delivery.micro_batch, " on link ", link + 1)};
      RETURN_IF_ERROR(Add(link, kind, delivery.micro_batch, interval, time));
      held.push_back(interval);
      if (problem_.overlap || time.count() == 0) continue;
      held_[link].push_back(interval);
      held_[link + 1].push_back(interval);
    }
    return Disjoint(std::move(held), absl::StrCat("link ", link + 1));
  }

  // Takes it out, so that what is left over is noticed.
  absl::StatusOr<Interval> Take(int where, int kind, int micro_batch) {
    const auto found = places_.find({where, kind, micro_batch});
    if (found == places_.end()) {
      return Broken(absl::StrCat("micro-batch ", micro_batch,
                                 " lacks a pass or a transfer at ", where + 1));
    }
    Interval interval = std::move(found->second);
    places_.erase(found);
    return interval;
  }

  static absl::Status After(const Interval& later, const Interval& earlier) {
    if (later.start >= earlier.end) return {};
    return Broken(
        absl::StrCat(later.name, " starts before ", earlier.name, " is done"));
  }

  // The arrival of micro-batch k's activation waits for the stage before; its
  // gradient's for the stage after, whose turn comes later: kept until then.
  absl::Status CheckMicroBatch(int stage, int k) {
    const auto kind = [](OperationKind kind) { return static_cast<int>(kind); };
    ASSIGN_OR_RETURN(const Interval forward,
                     Take(stage, kind(OperationKind::kForward), k));
    const bool split =
        places_.contains({stage, kind(OperationKind::kBackwardInput), k});
    ASSIGN_OR_RETURN(const Interval backward,
                     Take(stage,
                          kind(split ? OperationKind::kBackwardInput
                                     : OperationKind::kBackward),
                          k));
    RETURN_IF_ERROR(After(backward, forward));
    if (split) {
      ASSIGN_OR_RETURN(const Interval weight,
                       Take(stage, kind(OperationKind::kBackwardWeight), k));
      RETURN_IF_ERROR(After(weight, backward));
    }
    if (stage > 0) {
      // The two transfers of the link before this stage.
      RETURN_IF_ERROR(After(forward, activation_[k]));
      ASSIGN_OR_RETURN(const Interval gradient,
                       Take(stage - 1, kBackwardTransfer, k));
      RETURN_IF_ERROR(After(gradient, backward));
      RETURN_IF_ERROR(After(backward_[k], gradient));
    }
    if (stage + 1 < problem_.Stages()) {
      ASSIGN_OR_RETURN(activation_[k], Take(stage, kForwardTransfer, k));
      RETURN_IF_ERROR(After(activation_[k], forward));
    }
    backward_[k] = backward;
    return {};
  }

  int64_t Peak(int stage) const {
    const Stage& costs = problem_.stages[stage];
    // Frees sort before takes of the same moment.
    std::vector<std::pair<Picoseconds, int64_t>> changes;
    for (const Span& span : timeline_.stages[stage]) {
      switch (span.operation.kind) {
        case OperationKind::kForward:
          changes.emplace_back(span.start, costs.activation_bytes);
          break;
        case OperationKind::kBackward:
          changes.emplace_back(span.end, -costs.activation_bytes);
          break;
        case OperationKind::kBackwardInput:
          changes.emplace_back(
              span.end, costs.ComputeDelayedBytes() - costs.activation_bytes);
          break;
        case OperationKind::kBackwardWeight:
          changes.emplace_back(span.end, -costs.ComputeDelayedBytes());
          break;
      }
    }
    std::sort(changes.begin(), changes.end());
    int64_t bytes = costs.persistent_bytes;
    int64_t peak = bytes;
    for (const auto& [time, amount] : changes) {
      bytes += amount;
      peak = std::max(peak, bytes);
    }
    return peak;
  }

  const PipelineProblem& problem_;
  const Timeline& timeline_;
  std::vector<std::vector<Interval>> held_;  // per stage
  Places places_;
  std::map<int, Interval> activation_;  // of the link behind this stage
  std::map<int, Interval> backward_;    // of the stage before this one
  Picoseconds last_{0};
};

}  // namespace

absl::StatusOr<Replayed> Replay(const PipelineProblem& problem,
                                const Timeline& timeline) {
  return Judge(problem, timeline).Run();
}

}  // namespace meshwright::pipeline
