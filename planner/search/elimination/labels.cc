#include "planner/search/elimination/labels.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace meshwright::search {
namespace {

using problem::SaturatingAdd;

constexpr Cost kRounding = 4;
constexpr int64_t kGroupCost = 8;     // in candidates
constexpr size_t kManyLabels = 1000;  // between two looks at the deadline
// Labels of a stage are held to twice the width when there are four times as
// many, so that they never take much memory.
constexpr int64_t kMaxWidths = 4;
constexpr int64_t kHeldWidths = 2;
constexpr int64_t kFewWaiting = 1 << 15;

// Against the order of elimination, and what hangs below one variable before
// what hangs below another, so that few variables are waited for at a time.
std::vector<int> TakingOrder(const Buckets& buckets) {
  const std::vector<int>& sequence = buckets.sequence();
  std::vector<int> order(sequence.rbegin(), sequence.rend());
  if (!buckets.is_exact()) return order;
  std::vector<std::vector<int>> children(sequence.size());
  std::vector<int> below(sequence.size(), 1);
  std::vector<int> open;
  for (const int v : sequence) {
    std::stable_sort(children[v].begin(), children[v].end(),
                     [&](int a, int b) { return below[a] > below[b]; });
    const std::vector<int>& scope = buckets.scope(v);
    if (scope.empty()) {
      open.push_back(v);
      continue;
    }
    const int parent =
        *std::min_element(scope.begin(), scope.end(), [&](int a, int b) {
          return buckets.position(a) < buckets.position(b);
        });
    children[parent].push_back(v);
    below[parent] += below[v];
  }
  order.clear();
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    order.push_back(v);
    open.insert(open.end(), children[v].begin(), children[v].end());
  }
  return order;
}

}  // namespace

Labels::Labels(const Model& model, std::vector<ChargedBuckets> charged,
               const LabelGoal& goal)
    : model_(model),
      charged_(std::move(charged)),
      middle_(static_cast<int>(charged_.size()) / 2),
      goal_(goal),
      joins_of_(FindJoins(model)),
      position_(model.variables.size()),
      merger_(goal.memory),
      values_(model.variables.size(), 0) {
  for (const ChargedBuckets& each : charged_)
    multipliers_.push_back(each.multiplier);
  Arrange();
}

void Labels::Arrange() {
  const Buckets& buckets = *charged_.front().buckets;
  const std::vector<int> order = TakingOrder(buckets);
  std::vector<int> sizes(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    position_[order[i]] = i;
    sizes[order[i]] = model_.size(order[i]);
  }
  std::vector<int> last_use(order.size());  // by position
  for (const int v : order) {
    for (const int u : buckets.scope(v)) {
      int& last = last_use[position_[u]];
      last = std::max(last, position_[v]);
    }
  }
  std::vector<int> waited;
  stages_.reserve(order.size());
  bytes_after_.assign(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    std::erase_if(waited, [&](int u) {
      return last_use[position_[u]] <= static_cast<int>(i);
    });
    std::vector<int> variables = {order[i]};
    variables.insert(variables.end(), waited.begin(), waited.end());
    stages_.push_back({LabelKeys(variables, sizes), {}, {}});
    waited.push_back(order[i]);
  }
  for (size_t i = order.size() - 1; i > 0; --i) {
    const std::vector<int64_t>& bytes = model_.domain(order[i]).bytes;
    bytes_after_[i - 1] = SaturatingAdd(
        bytes_after_[i], *std::min_element(bytes.begin(), bytes.end()));
  }
}

// Sets the label's bound, the least time of any plan that fits and continues
// it; false if none fits, or all take longer than max_time. The bound is
// concave in the multiplier, so the best multiplier is sought from that of the
// label before.
inline bool Labels::SetBound(Label& label, const Cost* completions,
                             int64_t bytes_after) const {
  const int64_t byte_budget = goal_.memory.ComputeByteBudget(label);
  if (byte_budget < bytes_after) return false;
  const auto bound = [&](int p) {
    return label.time + completions[p] - Charge(multipliers_[p], byte_budget);
  };
  const int last = static_cast<int>(multipliers_.size()) - 1;
  int best = label.multiplier;
  Cost max_bound = bound(best);
  if (max_bound > goal_.max_time) return false;
  for (const int step : {1, -1}) {
    for (int p = best + step; p >= 0 && p <= last; p += step) {
      const Cost other = bound(p);
      if (other <= max_bound) break;
      if (other > goal_.max_time) return false;
      max_bound = other;
      best = p;
    }
  }
  label.multiplier = best;
  label.bound = std::max({label.bound, label.time, max_bound});
  return true;
}

// The values that the variable can take, given its neighbours', the least
// addition first.
std::vector<Labels::Extension> Labels::FindExtensions(int v) {
  charged_[middle_].buckets->Additions(v, values_, additions_);
  std::vector<Cost> times = JoinTimes(v, values_, 0, position_[v]);
  for (size_t c = 0; c < times.size(); ++c) {
    times[c] = Clamp(times[c] + model_.domain(v).time[c]);
  }
  std::vector<Extension> found;
  for (size_t c = 0; c < times.size(); ++c) {
    if (additions_[c] >= kNever || times[c] >= kNever) continue;
    found.push_back({static_cast<int>(c), additions_[c], times[c]});
  }
  std::sort(
      found.begin(), found.end(), [](const Extension& a, const Extension& b) {
        return std::tie(a.addition, a.value) < std::tie(b.addition, b.value);
      });
  return found;
}

// The group of the new stage that a value leads to; finds what completes it.
int Labels::Meet(const Stage& before, int from, const Extension& extension,
                 Stage& stage) {
  const int v = stage.keys.variable();
  values_[v] = extension.value;
  const int known = stage.keys.size();
  const int group = stage.keys.Find(values_);
  if (group < known) return group;
  candidates_ += kGroupCost;
  if (group == static_cast<int>(runs_.size())) runs_.emplace_back();
  const int64_t bytes = model_.domain(v).bytes[extension.value];
  for (size_t p = 0; p < charged_.size(); ++p) {
    const Cost to_come = before.completions[from * charged_.size() + p];
    const Cost addition = charged_[p].buckets->Addition(v, values_);
    stage.completions.push_back(to_come + addition - extension.time -
                                Charge(charged_[p].multiplier, bytes));
  }
  return group;
}

bool Labels::ExpandGroup(const Stage& before, int from, Stage& stage,
                         const base::Deadline& deadline) {
  const std::vector<int>& variables = before.keys.variables();
  for (size_t i = 0; i < variables.size(); ++i) {
    values_[variables[i]] = before.keys.At(from, i);
  }
  const int v = stage.keys.variable();
  const Domain& domain = model_.domain(v);
  const int64_t after = bytes_after_[position_[v]];
  const Front& front = before.fronts[from];
  const Cost to_come = before.completions[from * charged_.size() + middle_];
  // How much each label may still add; charges are rounded down for each
  // variable.
  slack_.clear();
  for (const Label& label : front) {
    const Cost min_time = label.time + to_come -
                          Charge(charged_[middle_].multiplier,
                                 goal_.memory.ComputeByteBudget(label));
    slack_.push_back(goal_.max_time + kRounding - min_time);
  }
  if (front.empty()) return true;
  const Cost max_slack = *std::max_element(slack_.begin(), slack_.end());
  for (const Extension& extension : FindExtensions(v)) {
    if (extension.addition > max_slack) break;
    if (front.size() > kManyLabels && deadline.HasPassed()) return false;
    const int group = Meet(before, from, extension, stage);
    const Cost* const completions = &stage.completions[group * charged_.size()];
    std::vector<Label>& runs = runs_[group].labels;
    const size_t begin = runs.size();
    const int64_t bytes = domain.bytes[extension.value];
    const int64_t transient = domain.transient[extension.value];
    for (size_t i = 0; i < front.size(); ++i) {
      if (extension.addition > slack_[i]) continue;
      Label next = front[i];
      next.time += extension.time;
      if (bytes > goal_.memory.limit_bytes - next.bytes) continue;
      next.bytes += bytes;
      next.transient = std::max(next.transient, transient);
      ++candidates_;
      if (!SetBound(next, completions, after)) continue;
      if (next.bound > cut_) {
        let_go_ = std::min(let_go_, next.bound);
        continue;
      }
      runs.push_back(next);
    }
    if (runs.size() == begin) continue;
    runs_[group].begins.push_back(begin);
    runs_[group].is_front = false;
    waiting_ += static_cast<int64_t>(runs.size() - begin);
    if (waiting_ > std::max(kFewWaiting, kMaxWidths * goal_.width) &&
        !Hold(stage.keys.size(), kHeldWidths * goal_.width, deadline)) {
      return false;
    }
  }
  return true;
}

// Merges the runs of every group and lets go what is too many. False if
// stopped.
bool Labels::Hold(int groups, int64_t width, const base::Deadline& deadline) {
  waiting_ = 0;
  for (int group = 0; group < groups; ++group) {
    if (!merger_.Merge(runs_[group], deadline)) return false;
  }
  const std::span<Runs> all(runs_.data(), groups);
  cut_ = HoldToWidth(all, width);
  let_go_ = std::min(let_go_, cut_);
  for (const Runs& runs : all) {
    waiting_ += static_cast<int64_t>(runs.labels.size());
  }
  return !deadline.HasPassed();
}

bool Labels::Expand(const Stage& before, Stage& stage,
                    const base::Deadline& deadline) {
  for (Runs& runs : runs_) {
    runs.labels.clear();
    runs.begins.clear();
    runs.is_front = false;
  }
  waiting_ = 0;
  cut_ = kNever;
  for (size_t from = 0; from < before.fronts.size(); ++from) {
    if (from % kManyLabels == kManyLabels - 1 && deadline.HasPassed())
      return false;
    if (!ExpandGroup(before, static_cast<int>(from), stage, deadline)) {
      return false;
    }
  }
  if (!Hold(stage.keys.size(), goal_.width, deadline)) return false;
  for (int group = 0; group < stage.keys.size(); ++group) {
    stage.fronts.push_back(runs_[group].labels);
  }
  Compact(stage);
  return true;
}

// Forgets the groups without labels.
void Labels::Compact(Stage& stage) const {
  std::vector<int> groups;
  std::vector<Cost> completions;
  for (size_t group = 0; group < stage.fronts.size(); ++group) {
    if (stage.fronts[group].empty()) continue;
    const auto begin = stage.completions.begin() + group * charged_.size();
    completions.insert(completions.end(), begin, begin + charged_.size());
    if (groups.size() != group) {
      stage.fronts[groups.size()] = std::move(stage.fronts[group]);
    }
    groups.push_back(static_cast<int>(group));
  }
  stage.keys.Retain(groups);
  stage.completions = std::move(completions);
  stage.fronts.resize(groups.size());
}

Cost Labels::Solve(const base::Deadline& deadline) {
  Stage start{LabelKeys({0}, {1}), {}, {{Label{}}}};
  start.fronts[0][0].multiplier = middle_;
  start.fronts[0][0].time = model_.base;
  start.keys.Find({0});
  for (const ChargedBuckets& charged : charged_) {
    start.completions.push_back(charged.buckets->bound() - model_.base);
  }
  const Stage* before = &start;
  const auto find_min = [&](Cost Label::*figure) {
    Cost min = kNever;
    for (const Front& front : before->fronts) {
      for (const Label& label : front) min = std::min(min, label.*figure);
    }
    return min;
  };
  for (Stage& stage : stages_) {
    if (deadline.HasPassed() || !Expand(*before, stage, deadline)) {
      let_go_ = std::min(let_go_, find_min(&Label::bound));
      return kNever;
    }
    before = &stage;
  }
  return best_ = find_min(&Label::time);
}

// From the last variable back: the smallest value of each with which, what is
// later being settled, some label still reaches the best time within the limit.
std::vector<int> Labels::Values() const {
  std::vector<int> values(model_.variables.size(), 0);
  Label later;
  for (size_t i = stages_.size(); i > 0; --i) {
    const Stage& stage = stages_[i - 1];
    const std::vector<int>& variables = stage.keys.variables();
    std::vector<std::vector<Cost>> times;  // of joins to later ones
    for (const int v : variables) {
      times.push_back(JoinTimes(v, values, i, stages_.size()));
    }
    std::optional<int> chosen;
    for (size_t group = 0; group < stage.fronts.size(); ++group) {
      const int value = stage.keys.At(group, 0);
      if (chosen.has_value() && *chosen <= value) continue;
      Label whole = later;
      for (size_t f = 0; f < variables.size(); ++f) {
        whole.time = Clamp(whole.time + times[f][stage.keys.At(group, f)]);
      }
      const auto reaches = [&](const Label& label) {
        return label.time + whole.time == best_ &&
               label.bytes <= goal_.memory.limit_bytes - whole.bytes &&
               goal_.memory.ComputeByteBudget(
                   {.bytes = label.bytes + whole.bytes,
                    .transient = std::max(label.transient, whole.transient)}) >=
                   0;
      };
      const Front& front = stage.fronts[group];
      if (std::any_of(front.begin(), front.end(), reaches)) chosen = value;
    }
    const int v = stage.keys.variable();
    values[v] = *chosen;
    const Domain& domain = model_.domain(v);
    later.time += domain.time[*chosen] + times.front()[*chosen];
    later.bytes += domain.bytes[*chosen];
    later.transient = std::max(later.transient, domain.transient[*chosen]);
  }
  return values;
}

// The cost of each value of `v` in its joins to the variables at positions
// [from, to).
std::vector<Cost> Labels::JoinTimes(int v, const std::vector<int>& values,
                                    int from, int to) const {
  std::vector<Cost> times(model_.size(v), 0);
  for (const int j : joins_of_[v]) {
    const Model::Join& join = model_.joins[j];
    const bool is_row = join.a == v;
    const int other = is_row ? join.b : join.a;
    if (position_[other] < from || position_[other] >= to) continue;
    const MatrixView link{&model_.matrices[join.matrix], !is_row};
    for (size_t c = 0; c < times.size(); ++c) {
      times[c] = Clamp(times[c] + link.at(c, values[other]));
    }
  }
  return times;
}

}  // namespace meshwright::search
