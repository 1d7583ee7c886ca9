#include "coordinator/launch/stage_values.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::launch {
namespace {

using ir::ValueId;
using segmenter::Analysis;
using segmenter::SegmentIndex;

class ValuePlacer {
 public:
  ValuePlacer(const Analysis& analysis, const stages::StepPasses& passes,
              const std::vector<SegmentIndex>& first_segments)
      : analysis_(analysis), module_(analysis.module), passes_(passes) {
    for (SegmentIndex s; s < analysis.graphs.size(); ++s) {
      const auto behind =
          std::upper_bound(first_segments.begin(), first_segments.end(), s);
      stage_of_segment_.push_back(
          static_cast<int>(behind - first_segments.begin()) - 1);
    }
    for (const ValueId id : module_.ids()) {
      loop_.push_back(stages::FindKeptLoop(analysis, id));
    }
  }

  absl::StatusOr<std::vector<std::optional<Place>>> Run(bool delays_weights) {
    for (size_t loop = 0; loop < module_.loops.size(); ++loop) {
      if (!analysis_.plan.kept_loops[loop]) {
        return absl::UnimplementedError(
            "the model accumulates over micro-batches in a loop of its own, "
            "and a stage's modules are those of one micro-batch; plan the step "
            "of one micro-batch with --micro-batches");
      }
    }
    places_.resize(module_.size());
    for (const ValueId id : module_.ids()) {
      const segmenter::Owner owner = analysis_.plan.owner[id];
      if (!owner.IsSegment()) continue;
      places_[id] = Place{stage_of_segment_[owner.segment()], FindPass(id), 0};
    }
    const absl::Status one = CheckLoops();
    if (!one.ok()) return one;
    if (delays_weights) SplitBackward();
    CountRounds();
    return std::move(places_);
  }

 private:
  bool HasPass(ValueId id, Pass pass) const {
    return places_[id].has_value() && places_[id]->pass == pass;
  }

  Pass FindPass(ValueId id) const {
    if (passes_.forward[id]) return Pass::kForward;
    const bool update = !loop_[id].has_value() && passes_.update[id];
    return update ? Pass::kUpdate : Pass::kBackward;
  }

  absl::Status CheckLoops() const {
    std::vector<std::optional<Place>> of_loop(module_.loops.size());
    for (const ValueId id : module_.ids()) {
      if (!loop_[id].has_value() || !places_[id].has_value()) continue;
      std::optional<Place>& place = of_loop[*loop_[id]];
      if (!place.has_value()) place = places_[id];
      if (place != places_[id]) {
        return absl::UnimplementedError(
            absl::StrCat("the loop around ", module_.at(id).name(),
                         " is of several stages; plan with fewer stages"));
      }
    }
    return absl::OkStatus();
  }

  // The gradient of the input: values that other segments' backward passes
  // need, and all that they follow from in their segment. Loops stay whole.
  void SplitBackward() {
    std::vector<char> is_input(module_.size(), 0);
    std::vector<std::vector<ValueId>> of_loop(module_.loops.size());
    std::vector<ValueId> stack;
    const auto add = [&](ValueId id) {
      if (is_input[id] || !HasPass(id, Pass::kBackward)) return;
      is_input[id] = 1;
      stack.push_back(id);
    };
    for (const ValueId id : module_.ids()) {
      if (loop_[id].has_value()) of_loop[*loop_[id]].push_back(id);
      if (IsReadBackwardElsewhere(id)) add(id);
    }
    while (!stack.empty()) {
      const ValueId id = stack.back();
      stack.pop_back();
      for (const ValueId operand : module_.at(id).operands) add(operand);
      if (!loop_[id].has_value()) continue;
      for (const ValueId member : std::exchange(of_loop[*loop_[id]], {})) {
        add(member);
      }
    }
    for (const ValueId id : module_.ids()) {
      if (HasPass(id, Pass::kBackward) && !is_input[id]) {
        places_[id]->pass = Pass::kBackwardWeight;
      }
    }
  }

  bool IsReadBackwardElsewhere(ValueId id) const {
    const auto& users = module_.at(id).users;
    return std::any_of(users.begin(), users.end(), [&](ValueId user) {
      return HasPass(user, Pass::kBackward) &&
             analysis_.plan.owner[user] != analysis_.plan.owner[id];
    });
  }

  void CountRounds() {
    for (const ValueId id : module_.ids()) {
      if (!HasPass(id, Pass::kUpdate)) continue;
      Place& place = *places_[id];
      for (const ValueId operand : module_.at(id).operands) {
        if (!HasPass(operand, Pass::kUpdate)) continue;
        const Place& before = *places_[operand];
        place.round = std::max(
            place.round, before.round + (before.stage != place.stage ? 1 : 0));
      }
    }
  }

  const Analysis& analysis_;
  const ir::Module& module_;
  const stages::StepPasses& passes_;
  std::vector<int> stage_of_segment_;
  std::vector<std::optional<ir::LoopId>> loop_;  // outermost, by ValueId
  std::vector<std::optional<Place>> places_;
};

}  // namespace

std::string NamePlace(const Place& place) {
  switch (place.pass) {
    case Pass::kForward:
      return "forward";
    case Pass::kBackward:
      return "backward";
    case Pass::kBackwardWeight:
      return "backward-weight";
    case Pass::kUpdate:
      break;
  }
  return place.round == 0 ? "update" : absl::StrCat("update-", place.round);
}

std::optional<int> FindArgument(const ir::Module& module, ValueId id) {
  const ir::Instruction& it = module.at(id);
  if (it.opcode != ir::Opcode::kParameter) return std::nullopt;
  return static_cast<int>(it.attributes().parameter_number());
}

absl::StatusOr<std::vector<std::optional<Place>>> PlaceValues(
    const Analysis& analysis, const stages::StepPasses& passes,
    const std::vector<SegmentIndex>& first_segments, bool delays_weights) {
  return ValuePlacer(analysis, passes, first_segments).Run(delays_weights);
}

}  // namespace meshwright::launch
