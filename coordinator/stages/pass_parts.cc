#include "coordinator/stages/pass_parts.h"

#include <algorithm>
#include <vector>

namespace meshwright::stages {
namespace {

class PartFinder {
 public:
  PartFinder(const segmenter::Analysis& analysis, const StepPasses& passes,
             int segment, const space::Replay& replay)
      : analysis_(analysis),
        passes_(passes),
        graph_(analysis.graphs[segment]),
        outputs_(PassesOf(analysis, passes, segment)),
        replay_(replay) {
    parts_.forward.computed.assign(graph_.values.size(), false);
    parts_.backward.computed = parts_.forward.computed;
    parts_.update.computed = parts_.forward.computed;
  }

  PassParts Run() {
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
    Keep(parts_.backward);
    Keep(parts_.update);
    const auto behind = outputs_.with_input_gradients.begin() +
                        static_cast<int>(outputs_.forward.size());
    parts_.backward.leaving.assign(
        outputs_.with_all_gradients.begin() +
            static_cast<int>(outputs_.forward.size()),
        outputs_.with_all_gradients.end());
    parts_.backward_input.computed = parts_.backward.computed;
    parts_.backward_input.leaving.assign(behind,
                                         outputs_.with_input_gradients.end());
    for (const int output : graph_.outputs) {
      if (parts_.update.computed[output]) {
        parts_.update.leaving.push_back(output);
      }
    }
    return std::move(parts_);
  }

 private:
  ir::ValueId Origin(int i) const { return graph_.values[i].origin; }
  // Values that everybody computes are of every pass.
  bool IsForward(int i) const {
    return passes_.forward[Origin(i)] && analysis_.plan.owner[Origin(i)] >= 0;
  }

  // What is neither forward nor of a gradient (the slope of an activation) is
  // computed by the replay alone where nobody reads it otherwise.
  void DropReplayed() {
    if (replay_.empty()) return;
    std::vector<char>& computed = parts_.backward.computed;
    for (int i = static_cast<int>(graph_.values.size()) - 1;
         i >= graph_.input_count; --i) {
      const auto& users = graph_.values[i].users;
      computed[i] &=
          !replay_.again[i] ||
          std::count(graph_.outputs.begin(), graph_.outputs.end(), i) > 0 ||
          std::any_of(users.begin(), users.end(), [&](int user) {
            return computed[user] && !replay_.Redirects(user, i);
          });
    }
  }

  // What the readers of `part` find in the forward pass leaves it; forms are
  // made again by `part`.
  void Keep(space::ProgramPart& part) {
    std::vector<int>& leaving = parts_.forward.leaving;
    for (int i = static_cast<int>(graph_.values.size()) - 1;
         i >= graph_.input_count; --i) {
      if (!parts_.forward.computed[i]) continue;
      const auto& users = graph_.values[i].users;
      const bool read = std::any_of(users.begin(), users.end(), [&](int user) {
        return Reads(part, user, i);
      });
      if (!read) continue;
      const ir::Instruction& it = analysis_.module.at(Origin(i));
      if (it.loop == ir::kNoLoop && IsForm(it)) {
        part.computed[i] = true;
      } else if (std::find(leaving.begin(), leaving.end(), i) ==
                 leaving.end()) {
        leaving.push_back(i);
      }
    }
  }

  bool Reads(const space::ProgramPart& part, int user, int value) const {
    const bool again = !replay_.empty() && replay_.again[value];
    if (!replay_.empty() && replay_.again[user] && !again) return true;
    return part.computed[user] && !(again && replay_.Redirects(user, value));
  }

  const segmenter::Analysis& analysis_;
  const StepPasses& passes_;
  const segmenter::SegmentGraph& graph_;
  const SegmentPasses outputs_;
  const space::Replay& replay_;
  PassParts parts_;
};

}  // namespace

PassParts PartsOf(const segmenter::Analysis& analysis, const StepPasses& passes,
                  int segment, const space::Replay& replay) {
  return PartFinder(analysis, passes, segment, replay).Run();
}

}  // namespace meshwright::stages
