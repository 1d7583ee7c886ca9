#include "coordinator/stages/pass_programs.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace meshwright::stages {
namespace {

// Values in the order they came in, each once.
class Ordered {
 public:
  explicit Ordered(std::vector<int>& values)
      : values_(values), known_(values.begin(), values.end()) {}
  void Add(int value) {
    if (known_.insert(value).second) values_.push_back(value);
  }
  bool Has(int value) const { return known_.contains(value); }

 private:
  std::vector<int>& values_;
  std::set<int> known_;
};

class PassProgramFinder {
 public:
  PassProgramFinder(const segmenter::Analysis& analysis,
                    const StepPasses& passes, segmenter::SegmentIndex segment,
                    const space::Rematerialization& rematerialization)
      : analysis_(analysis),
        passes_(passes),
        graph_(analysis.graphs[segment]),
        outputs_(ListPassOutputs(analysis, passes, segment)),
        rematerialization_(rematerialization) {
    parts_.forward.computed.assign(graph_.values.size(), false);
    parts_.backward.computed = parts_.forward.computed;
    parts_.update.computed = parts_.forward.computed;
  }

  PassPrograms Run() {
    const int count = static_cast<int>(graph_.values.size());
    for (int i = graph_.input_count; i < count; ++i) {
      if (IsForward(i)) {
        parts_.forward.computed[i] = true;
      } else {
        (passes_.update[Origin(i)] ? parts_.update : parts_.backward)
            .computed[i] = true;
      }
    }
    DropRecomputed();
    parts_.forward.leaving = outputs_.forward;
    const auto forward = static_cast<int>(outputs_.forward.size());
    parts_.backward.leaving.assign(
        outputs_.with_all_gradients.begin() + forward,
        outputs_.with_all_gradients.end());
    Delay();
    for (space::ProgramPart* part : {&parts_.backward, &parts_.backward_input,
                                     &parts_.backward_weight, &parts_.update}) {
      Keep(*part);
    }
    for (const int output : graph_.outputs) {
      if (parts_.update.computed[output]) {
        parts_.update.leaving.push_back(output);
      }
    }
    FindDelayed();
    return std::move(parts_);
  }

 private:
  ir::ValueId Origin(int i) const { return graph_.values[i].origin; }
  // Values that everybody computes are of every pass.
  bool IsForward(int i) const {
    return passes_.forward[Origin(i)] &&
           analysis_.plan.owner[Origin(i)].IsSegment();
  }

  // Values neither forward nor of a gradient (the slope of an activation) are
  // computed by the rematerialization alone where nobody reads them otherwise.
  void DropRecomputed() {
    if (rematerialization_.empty()) return;
    std::vector<char>& computed = parts_.backward.computed;
    const std::set<int> outputs(graph_.outputs.begin(), graph_.outputs.end());
    for (int i = static_cast<int>(graph_.values.size()) - 1;
         i >= graph_.input_count; --i) {
      computed[i] &= !rematerialization_.recomputed[i] || outputs.contains(i) ||
                     IsReadBy(parts_.backward, i);
    }
  }

  // The computation of gradients that others read is apart from the rest, and
  // hands over the values that the rest reads.
  void Delay() {
    space::ProgramPart& input = parts_.backward_input;
    space::ProgramPart& weight = parts_.backward_weight;
    FindInput(outputs_.with_input_gradients);
    input.leaving.assign(outputs_.with_input_gradients.begin() +
                             static_cast<int>(outputs_.forward.size()),
                         outputs_.with_input_gradients.end());
    weight.computed = parts_.backward.computed;
    for (size_t i = 0; i < weight.computed.size(); ++i) {
      weight.computed[i] &= !input.computed[i];
    }
    Ordered leaving(input.leaving);
    for (int i = 0; i < static_cast<int>(graph_.values.size()); ++i) {
      if (input.computed[i] && IsReadBy(weight, i)) leaving.Add(i);
    }
    for (const int gradient : parts_.backward.leaving) {
      if (input.computed[gradient]) {
        leaving.Add(gradient);
      } else if (!leaving.Has(gradient)) {
        weight.leaving.push_back(gradient);
      }
    }
  }

  // A loop is of one part as a whole.
  void FindInput(const std::vector<int>& gradients) {
    std::vector<char>& input = parts_.backward_input.computed;
    input.assign(graph_.values.size(), false);
    std::vector<std::vector<int>> members(analysis_.module.loops.size());
    for (int i = 0; i < static_cast<int>(input.size()); ++i) {
      const std::optional<ir::LoopId> loop = FindKeptLoop(analysis_, Origin(i));
      if (loop.has_value()) members[*loop].push_back(i);
    }
    std::vector<int> stack;
    const auto mark = [&](int i) {
      if (graph_.is_input(i) || input[i] || !parts_.backward.computed[i]) {
        return;
      }
      input[i] = true;
      stack.push_back(i);
    };
    for (const int gradient : gradients) mark(gradient);
    while (!stack.empty()) {
      const int i = stack.back();
      stack.pop_back();
      for (const int operand : graph_.values[i].operands) {
        if (!rematerialization_.ReadsRecomputed(i, operand)) mark(operand);
      }
      const std::optional<ir::LoopId> loop = FindKeptLoop(analysis_, Origin(i));
      if (!loop.has_value()) continue;
      for (const int member : std::exchange(members[*loop], {})) mark(member);
    }
  }

  bool IsReadBy(const space::ProgramPart& part, int value) const {
    const auto& users = graph_.values[value].users;
    return std::any_of(users.begin(), users.end(), [&](int user) {
      return part.computed[user] &&
             !rematerialization_.ReadsRecomputed(user, value);
    });
  }

  // Forward values that readers in `part` use leave the forward pass; forms are
  // made again by `part`.
  void Keep(space::ProgramPart& part) {
    Ordered leaving(parts_.forward.leaving);
    for (int i = static_cast<int>(graph_.values.size()) - 1;
         i >= graph_.input_count; --i) {
      if (!parts_.forward.computed[i] || !IsKeptFor(part, i)) continue;
      const ir::Instruction& it = analysis_.module.at(Origin(i));
      if (!it.loop.has_value() && IsForm(it)) {
        part.computed[i] = true;
      } else {
        leaving.Add(i);
      }
    }
  }

  void FindDelayed() {
    const space::ProgramPart& weight = parts_.backward_weight;
    std::vector<char> leaving(graph_.values.size(), false);
    for (const space::ProgramPart* part :
         {&parts_.forward, &parts_.backward_input}) {
      for (const int i : part->leaving) leaving[i] = true;
    }
    for (int i = 0; i < static_cast<int>(graph_.values.size()); ++i) {
      const ir::Instruction& it = analysis_.module.at(Origin(i));
      const bool kept = graph_.is_input(i) || leaving[i];
      if (kept && it.opcode != ir::Opcode::kParameter && IsKeptFor(weight, i)) {
        parts_.delayed.push_back(i);
      }
    }
  }

  // To be read as it is, or to recompute something.
  bool IsKeptFor(const space::ProgramPart& part, int value) const {
    const auto& users = graph_.values[value].users;
    return IsReadBy(part, value) ||
           std::any_of(users.begin(), users.end(), [&](int user) {
             return rematerialization_.FindRecomputationReads(user, value);
           });
  }

  const segmenter::Analysis& analysis_;
  const StepPasses& passes_;
  const segmenter::SegmentGraph& graph_;
  const SegmentPasses outputs_;
  const space::Rematerialization& rematerialization_;
  PassPrograms parts_;
};

}  // namespace

PassPrograms FindPassPrograms(
    const segmenter::Analysis& analysis, const StepPasses& passes,
    segmenter::SegmentIndex segment,
    const space::Rematerialization& rematerialization) {
  return PassProgramFinder(analysis, passes, segment, rematerialization).Run();
}

}  // namespace meshwright::stages
