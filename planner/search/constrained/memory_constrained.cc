#include "planner/search/constrained/memory_constrained.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <utility>

#include "planner/search/elimination/labels.h"
#include "planner/search/elimination/local_improvement.h"
#include "planner/search/elimination/lower_bound.h"
#include "planner/search/elimination/order.h"
#include "planner/search/elimination/restrict.h"

namespace meshwright::search {
namespace {

using problem::SaturatingAdd;

constexpr int kMaxRounds = 20;
// Eliminated, not bounded by message passing, are models of at most so many
// steps for each entry of a join.
constexpr double kEasySteps = 30;
// But in forests, multipliers are sought until another would differ by a
// small part, or would raise the bound by one.
constexpr int64_t kFineMultiplier = 128;
constexpr Cost kFineBound = 5000;
// Message passing is not enough where it misses such a part of the bound.
constexpr double kLoose = 3e-4;
// Plans faster by less than this part of the time are hardly faster.
constexpr Cost kSmallPart = 1100;
constexpr int64_t kFirstWidth = 32;
// Multipliers for the labels: that of the range, and both ways by parts of
// itself; the powers of two they are.
constexpr int kFewParts[] = {2, 5};
constexpr int kManyParts[] = {1, 2, 3, 4, 5, 6, 7};

// Labels first look for plans a small part of the gap above the bound, then
// farther; where those kept were too few, wider and nearer.
constexpr Cost kFirstPart = 8;
constexpr Cost kFarther = 4;
constexpr Cost kNearer = 3;
constexpr int64_t kFewCandidates = 1000;
constexpr int64_t kWider = 4;
// How much of the reach the transients of a range may span.
constexpr double kSpan = 0.5;
// Or how large a part of the time they may cost.
constexpr Cost kNarrow = 2000;

// Plans whose largest transient is between two values.
struct Range {
  int low = 0;  // indices of transients
  int high = 0;
  Cost bound = 0;
  int64_t multiplier = 0;
  int64_t width = kFirstWidth;         // of the labels to try
  Cost reach = 0;                      // above the bound, to be looked at
  Point fast;                          // of too many bytes
  Point small;                         // of few enough
  std::shared_ptr<const Model> model;  // without what cannot be best

  bool operator<(const Range& other) const {  // the least bound on top
    return std::pair(bound, low) > std::pair(other.bound, other.low);
  }
};

class Search {
 public:
  Search(const Model& model, int64_t limit_bytes, const WorkBudget& work,
         const base::Deadline& deadline, Incumbent& incumbent)
      : model_(std::make_shared<const Model>(Restrict(model, {}))),
        limit_(limit_bytes),
        work_(work),
        deadline_(deadline),
        incumbent_(incumbent),
        max_width_(std::max<int64_t>(
            1, work.labels / static_cast<int64_t>(model_->variables.size()))) {
    int64_t min_transient = 0;
    int64_t bytes = 1;
    for (size_t v = 0; v < model_->variables.size(); ++v) {
      const Domain& domain = model_->domain(v);
      min_transient = std::max(
          min_transient,
          *std::min_element(domain.transient.begin(), domain.transient.end()));
      bytes = SaturatingAdd(
          bytes, *std::max_element(domain.bytes.begin(), domain.bytes.end()));
    }
    max_multiplier_ = FindMultiplier(kNever / 8, bytes);
    for (const Domain& domain : model_->domains) {
      for (const int64_t transient : domain.transient) {
        transients_.push_back(std::max(transient, min_transient));
      }
    }
    is_forest_ = IsForest(*model_);
    order_ = ChooseOrder(*model_, deadline_);
    std::sort(transients_.begin(), transients_.end());
    transients_.erase(std::unique(transients_.begin(), transients_.end()),
                      transients_.end());
  }

  void Run(const Point& fastest) {
    const Point smallest{incumbent_.time, incumbent_.bytes};
    Range root{.high = static_cast<int>(transients_.size()) - 1,
               .bound = incumbent_.lower_bound,
               .fast = fastest,
               .small = smallest,
               .model = model_};
    root.multiplier = NextMultiplier(root);
    Add(root);
    while (!open_.empty() && open_.top().bound < Sought()) {
      if (deadline_.HasPassed() || IsSpent()) break;
      Range range = open_.top();
      open_.pop();
      SetReach(range);
      if (range.low == range.high || !IsWide(range)) {
        Prove(range);
        continue;
      }
      Halve(range);
    }
    Cost bound = std::min(Sought(), given_up_);
    if (!open_.empty()) bound = std::min(bound, open_.top().bound);
    incumbent_.lower_bound = std::max(incumbent_.lower_bound, bound);
  }

 private:
  void SetReach(Range& range) const {
    if (range.reach > 0) return;
    range.reach = 1 + (incumbent_.time - range.bound) / kFirstPart;
  }

  bool IsSpent() const { return candidates_ > work_.candidates; }

  // Only plans that take less are sought. It never rises, so it bounds all
  // plans that were dropped for it.
  Cost Sought() const {
    const bool is_exact = candidates_ <= work_.exact_candidates;
    return incumbent_.time - (is_exact ? 0 : incumbent_.time / kSmallPart);
  }

  void Halve(Range range) {
    const int middle = (range.low + range.high) / 2;
    Range upper = range;
    range.high = middle;
    upper.low = middle + 1;
    Add(range);
    Add(upper);
  }

  int64_t ComputeByteBudget(const Range& range) const {
    return limit_ - transients_[range.low];
  }

  // Within it are all plans of the range that take at most `time`.
  Cutoff CutoffAt(const Range& range, int64_t multiplier, Cost time) const {
    return {
        .multiplier = multiplier,
        .max_cost = Clamp(time + Charge(multiplier, ComputeByteBudget(range))),
        .free_transient = transients_[range.low]};
  }

  int64_t NextMultiplier(const Range& range) const {
    return std::min(max_multiplier_,
                    FindMultiplier(range.small.time - range.fast.time,
                                   range.fast.bytes - range.small.bytes));
  }

  // No plan above it is looked at for now.
  Cost FindTarget(const Range& range) const {
    return std::min(Sought() - 1, Clamp(range.bound + range.reach));
  }

  // Whether halving the range would raise its bound by as much as matters.
  bool IsWide(const Range& range) const {
    const Cost span = Charge(range.multiplier,
                             transients_[range.high] - transients_[range.low]);
    return static_cast<double>(span) * kSpan >
               static_cast<double>(FindTarget(range) - range.bound) ||
           (!is_forest_ && span > Sought() / kNarrow);
  }

  // Bounds the range and keeps it where it may hold a better plan.
  void Add(Range range) {
    if (ComputeByteBudget(range) < 0) return;
    Confine(range);
    if (range.bound < kNever) RaiseBound(range);
    if (range.bound < Sought()) open_.push(range);
  }

  // Drops the values of too large a transient.
  void Confine(Range& range) const {
    const Model& model = *range.model;
    Keep keep(model.variables.size());
    for (size_t v = 0; v < keep.size(); ++v) {
      const Domain& domain = model.domain(v);
      for (int c = 0; c < domain.size(); ++c) {
        if (domain.transient[c] > transients_[range.high]) continue;
        keep[v].push_back(c);
      }
    }
    SetModel(range, Restrict(model, keep));
  }

  static void SetModel(Range& range, Model model) {
    range.model = std::make_shared<const Model>(std::move(model));
    if (!range.model->IsPossible()) range.bound = kNever;
  }

  // Raises the bound by better multipliers, drops the values that no plan
  // sought takes, and offers the plans met on the way.
  void RaiseBound(Range& range) {
    const Model& model = *range.model;
    const Order order = CountSteps(model, order_.sequence);
    const bool is_exact =
        !MayMoveCosts(model) || IsForest(model) ||
        order.steps <= (is_loose_ ? work_.easy_steps
                                  : kEasySteps * CountJoinEntries(model));
    std::optional<MessagePassing> passing;
    std::vector<int> fast;
    std::vector<int> small = KnownValues(model);
    int64_t multiplier = range.multiplier;
    // The least multiplier known to be enough, the largest known not to be.
    int64_t enough = max_multiplier_;
    int64_t not_enough = 0;
    for (int round = 0; round < kMaxRounds; ++round) {
      const Cutoff cutoff = CutoffAt(range, multiplier, Sought() - 1);
      std::vector<int> values;
      Cost min_cost = kNever;
      if (is_exact) {
        const Buckets buckets(model, multiplier, order.sequence,
                              work_.table_entries, nullptr, deadline_);
        min_cost = buckets.bound();
        if (!buckets.is_complete()) return;
        if (min_cost < kNever) values = FindBestValues(buckets);
      } else {
        passing.has_value() ? passing->SetCutoff(cutoff)
                            : void(passing.emplace(model, cutoff));
        if (passing->Converge(deadline_)) {
          min_cost = passing->bound();
          values = passing->Values();
        }
      }
      if (min_cost >= kNever) {
        range.bound = kNever;
        return;
      }
      const Cost bound =
          min_cost - Charge(multiplier, ComputeByteBudget(range));
      if (bound > range.bound) {
        range.bound = bound;
        range.multiplier = multiplier;
      }
      if (range.bound >= Sought() || deadline_.HasPassed()) return;
      const Point plan = Offer(model, values);
      const bool fits = plan.bytes <= ComputeByteBudget(range);
      Point& side = fits ? range.small : range.fast;
      (fits ? small : fast) = std::move(values);
      if (plan.bytes == side.bytes && plan.time == side.time) break;
      side = plan;
      const int64_t next = NextMultiplier(range);
      if (next == 0 || next == multiplier) break;
      if (is_forest_) {
        multiplier = next;
        continue;
      }
      int64_t& end = fits ? enough : not_enough;
      end = fits ? std::min(end, multiplier) : std::max(end, multiplier);
      // No multiplier gives more than where the lines of the plans cross.
      const Cost max_bound = range.small.time +
                             Charge(next, range.small.bytes) -
                             Charge(next, ComputeByteBudget(range));
      if (enough - not_enough <= enough / kFineMultiplier ||
          max_bound - range.bound <= max_bound / kFineBound) {
        break;
      }
      multiplier = next > not_enough && next < enough
                       ? next
                       : not_enough + (enough - not_enough) / 2;
    }
    if (!small.empty()) Offer(model, Polish(model, small, limit_, deadline_));
    if (!small.empty() && !fast.empty()) {
      Offer(model, Polish(model, Mix(model, small, fast, limit_, deadline_),
                          limit_, deadline_));
    }
    if (range.bound >= Sought()) return;
    const Cutoff cutoff = CutoffAt(range, range.multiplier, Sought() - 1);
    if (is_exact) {
      SetModel(range, Focus(model, cutoff, deadline_));
      return;
    }
    if (!is_compared_ && order.steps <= work_.easy_steps) {
      is_compared_ = true;
      const Buckets buckets(model, range.multiplier, order.sequence,
                            work_.table_entries, nullptr, deadline_);
      if (buckets.is_complete()) {
        const Cost bound = buckets.bound() -
                           Charge(range.multiplier, ComputeByteBudget(range));
        is_loose_ = bound - range.bound > kLoose * static_cast<double>(bound);
        range.bound = std::max(range.bound, bound);
      }
    }
    passing->SetCutoff(cutoff);
    const bool is_possible = passing->Pass(deadline_);
    SetModel(range,
             Restrict(model, is_possible ? passing->Alive()
                                         : Keep(model.variables.size())));
  }

  // Those of the incumbent; empty if one is gone.
  std::vector<int> KnownValues(const Model& model) const {
    std::vector<int> known(model.variables.size());
    for (size_t v = 0; v < known.size(); ++v) {
      known[v] = incumbent_.slots[model.variables[v].slot];
    }
    return FindValues(model, known);
  }

  // Makes a plan the incumbent if it fits and is better.
  Point Offer(const Model& model, const std::vector<int>& values) {
    const Draft draft(model, values);
    if (draft.peak() <= limit_) Take(draft.time(), model, values);
    return {draft.time(), draft.bytes()};
  }

  void Take(Cost time, const Model& model, const std::vector<int>& values) {
    if (time >= incumbent_.time || time >= kNever) return;
    std::vector<int> slots(values.size());
    for (size_t v = 0; v < values.size(); ++v) {
      slots[model.variables[v].slot] = model.domain(v).configs[values[v]];
    }
    incumbent_.time = time;
    incumbent_.slots = std::move(slots);
  }

  std::vector<int64_t> MultipliersAround(const Range& range) const {
    const std::span<const int> parts = range.width == kFirstWidth
                                           ? std::span<const int>(kFewParts)
                                           : std::span<const int>(kManyParts);
    std::vector<int64_t> multipliers;
    for (const int k : parts) {
      multipliers.push_back(range.multiplier - (range.multiplier >> k));
    }
    multipliers.push_back(range.multiplier);
    for (size_t i = parts.size(); i > 0; --i) {
      multipliers.push_back(
          std::min(max_multiplier_,
                   range.multiplier + (range.multiplier >> parts[i - 1])));
    }
    return multipliers;
  }

  // Looks for a plan up to the target; puts the range back if there may be
  // others, farther up or among those let go.
  void Prove(Range range) {
    const Cost target = FindTarget(range);
    const Model model = Focus(
        *range.model, CutoffAt(range, range.multiplier, target), deadline_);
    Cost let_go = kNever;
    const int64_t before = candidates_;
    if (model.IsPossible() && !Label(range, model, target, let_go)) {
      given_up_ = std::min(given_up_, range.bound);
      return;
    }
    range.bound = std::max(range.bound, std::min(let_go, target + 1));
    if (range.bound >= Sought()) return;
    if (let_go > target) {
      const Cost farther = candidates_ - before < kFewCandidates
                               ? kFarther * kFarther
                               : kFarther;
      range.reach = std::min(range.reach, kNever / farther) * farther;
    } else if (range.width < max_width_) {
      range.width = std::min(max_width_, range.width * kWider);
      range.reach = 1 + range.reach / kNearer;
    } else {
      given_up_ = std::min(given_up_, range.bound);
      return;
    }
    open_.push(range);
  }

  // False if that takes too much.
  bool Label(const Range& range, const Model& model, Cost target,
             Cost& let_go) {
    const Order order = ChooseOrder(model, deadline_);
    std::vector<LowerBound> lowers;
    std::vector<ChargedBuckets> charged;
    const std::vector<int64_t> multipliers = MultipliersAround(range);
    const LowerBoundWork spend{
        .steps = work_.easy_steps * (range.width == kFirstWidth ? 1 : 20),
        .together = static_cast<int>(multipliers.size())};
    for (const int64_t multiplier : multipliers) {
      lowers.push_back(FindLowerBound(model, order,
                                      CutoffAt(range, multiplier, target),
                                      spend, work_, deadline_));
      if (lowers.back().bound >= kNever) return true;
      if (!lowers.back().is_complete()) return false;
      charged.push_back({multiplier, lowers.back().buckets.get()});
    }
    Labels labels(model, std::move(charged),
                  {.memory = {.limit_bytes = limit_,
                              .min_transient = transients_[range.low]},
                   .max_time = target,
                   .width = range.width});
    const Cost time = labels.Solve(deadline_);
    candidates_ += labels.candidates();
    if (time < kNever) Take(time, model, labels.Values());
    let_go = labels.let_go();
    return true;
  }

  const std::shared_ptr<const Model> model_;
  const int64_t limit_;
  const WorkBudget work_;
  const base::Deadline& deadline_;
  Incumbent& incumbent_;
  const int64_t max_width_;
  int64_t max_multiplier_ = 0;  // beyond it, charged bytes might not add up
  bool is_forest_ = false;
  bool is_compared_ = false;  // an elimination with message passing
  bool is_loose_ = false;     // which was far off
  Order order_;
  std::vector<int64_t> transients_;
  std::priority_queue<Range> open_;
  Cost given_up_ = kNever;  // the least bound of ranges no longer open
  int64_t candidates_ = 0;
};

}  // namespace

void SolveMemoryConstrained(const Model& model, int64_t limit_bytes,
                            const Point& fastest, const WorkBudget& work,
                            const base::Deadline& deadline,
                            Incumbent& incumbent) {
  Search(model, limit_bytes, work, deadline, incumbent).Run(fastest);
}

}  // namespace meshwright::search
