#include "coordinator/stages/pass_programs.h"

#include <algorithm>
#include <vector>

namespace meshwright::stages {
namespace {

bool Has(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

class PassProgramFinder {
 public:
  PassProgramFinder(const segmenter::Analysis& analysis,
                    const StepPasses& passes, int segment,
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
    DropReplayed();
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
    return passes_.forward[Origin(i)] && analysis_.plan.owner[Origin(i)] >= 0;
  }

  // What is neither forward nor of a gradient (the slope of an activation) is
  // computed by the rematerialization alone where nobody reads it otherwise.
  void DropReplayed() {
    if (rematerialization_.empty()) return;
    std::vector<char>& computed = parts_.backward.computed;
    for (int i = static_cast<int>(graph_.values.size()) - 1;
         i >= graph_.input_count; --i) {
      computed[i] &= !rematerialization_.recomputed[i] ||
                     Has(graph_.outputs, i) || IsReadBy(parts_.backward, i);
    }
  }

  // What the gradients that others read are made of is apart from the rest,
  // and hands over what the rest reads.
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
    for (int i = 0; i < static_cast<int>(graph_.values.size()); ++i) {
      const bool handed = input.computed[i] && IsReadBy(weight, i);
      if (handed && !Has(input.leaving, i)) input.leaving.push_back(i);
    }
    for (const int gradient : parts_.backward.leaving) {
      space::ProgramPart& part = input.computed[gradient] ? input : weight;
      if (!Has(input.leaving, gradient)) part.leaving.push_back(gradient);
    }
  }

  // A loop is of one part as a whole.
  void FindInput(const std::vector<int>& gradients) {
    std::vector<char>& input = parts_.backward_input.computed;
    input.assign(graph_.values.size(), false);
    std::vector<char> loop_input(analysis_.module.loops.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = static_cast<int>(input.size()) - 1; i >= graph_.input_count;
           --i) {
        if (input[i] || !parts_.backward.computed[i]) continue;
        const ir::LoopId loop = FindKeptLoop(analysis_, Origin(i));
        const bool looped = loop != ir::kNoLoop && loop_input[loop];
        if (!looped && !Has(gradients, i) &&
            !IsReadBy(parts_.backward_input, i)) {
          continue;
        }
        input[i] = changed = true;
        if (loop != ir::kNoLoop) loop_input[loop] = true;
      }
    }
  }

  bool IsReadBy(const space::ProgramPart& part, int value) const {
    const auto& users = graph_.values[value].users;
    return std::any_of(users.begin(), users.end(), [&](int user) {
      return part.computed[user] &&
             !rematerialization_.ReadsRecomputed(user, value);
    });
  }

  // What the readers of `part` find in the forward pass leaves it; forms are
  // made again by `part`.
  void Keep(space::ProgramPart& part) {
    std::vector<int>& leaving = parts_.forward.leaving;
    for (int i = static_cast<int>(graph_.values.size()) - 1;
         i >= graph_.input_count; --i) {
      if (!parts_.forward.computed[i] || !IsKeptFor(part, i)) continue;
      const ir::Instruction& it = analysis_.module.at(Origin(i));
      if (it.loop == ir::kNoLoop && IsForm(it)) {
        part.computed[i] = true;
      } else if (!Has(leaving, i)) {
        leaving.push_back(i);
      }
    }
  }

  void FindDelayed() {
    const space::ProgramPart& weight = parts_.backward_weight;
    for (int i = 0; i < static_cast<int>(graph_.values.size()); ++i) {
      const ir::Instruction& it = analysis_.module.at(Origin(i));
      const bool kept = graph_.is_input(i) || Has(parts_.forward.leaving, i) ||
                        Has(parts_.backward_input.leaving, i);
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
             return rematerialization_.RecomputationReads(user, value);
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
    const segmenter::Analysis& analysis, const StepPasses& passes, int segment,
    const space::Rematerialization& rematerialization) {
  return PassProgramFinder(analysis, passes, segment, rematerialization).Run();
}

}  // namespace meshwright::stages
