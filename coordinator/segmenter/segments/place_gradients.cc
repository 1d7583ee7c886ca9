#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "coordinator/segmenter/segments/gradient_boundary.h"
#include "coordinator/segmenter/segments/gradient_flow.h"
#include "coordinator/segmenter/segments/placement.h"

namespace meshwright::segmenter {
namespace {

using ir::Opcode;
using ir::ValueId;

class GradientPlacer {
 public:
  GradientPlacer(const GradientFlow& flow, Placement& at)
      : flow_(flow), at_(at) {}

  void Run() {
    PlaceRepeats();
    FindReads();
    for (ValueId id = 0; id < at_.module.size(); ++id) {
      const auto match = at_.gradients.find(id);
      if (match != at_.gradients.end() && at_.KeptSegment(id) < 0) {
        at_.plan.owner[id] = at_.plan.owner[match->second.forward];
      }
    }
    PlaceGaps();
  }

 private:
  // What the backward pass recomputes, behind a barrier, goes where it was
  // computed first; the barriers themselves to their readers.
  void PlaceRepeats() {
    std::vector<char> behind(at_.module.size(), 0);
    for (ValueId id = 0; id < at_.module.size(); ++id) {
      const ir::Instruction& it = at_.module.at(id);
      const bool barrier = it.opcode == Opcode::kOptimizationBarrier;
      behind[id] =
          barrier ||
          std::any_of(it.operands.begin(), it.operands.end(),
                      [&](ValueId operand) { return behind[operand] != 0; });
      if (!behind[id] || barrier || !at_.Backward(id) ||
          at_.KeptSegment(id) >= 0 || at_.gradients.contains(id) ||
          !at_.passes.forward[at_.classes[id]] || at_.classes[id] == id) {
        continue;
      }
      // A mask may be every layer's: it goes to its reader.
      const int owner = at_.plan.owner[at_.classes[id]];
      if (owner < 0 || !at_.passes.has_contraction[at_.classes[id]]) continue;
      at_.plan.owner[id] = owner;
      at_.repeats[id] = 1;
    }
  }

  // The segment a forward value belongs to, also when it has only been prepared
  // for the backward pass since; gradients read nothing.
  void FindReads() {
    read_.assign(at_.module.size(), kNoSegment);
    for (ValueId id = 0; id < at_.module.size(); ++id) {
      if (!at_.Owned(id)) continue;
      if (at_.passes.forward[id] || at_.repeats[id]) {
        read_[id] = at_.plan.owner[id];
      } else if (flow_.from[id] == kFarSegment && !at_.gradients.contains(id)) {
        for (ValueId operand : at_.module.at(id).operands) {
          read_[id] = std::max(read_[id], read_[operand]);
        }
      }
    }
  }

  void PlaceGaps() {
    struct Neighbours {
      int below = 0;
      int above = 0;
      auto operator<=>(const Neighbours&) const = default;
    };
    std::map<Neighbours, std::vector<ValueId>> gaps;
    for (ValueId id = 0; id < at_.module.size(); ++id) {
      if (!at_.Carries(id) || at_.gradients.contains(id)) continue;
      if (flow_.from[id] == kFarSegment || flow_.to[id] == kNoSegment) continue;
      if (at_.KeptSegment(id) >= 0 || at_.repeats[id]) continue;
      if (flow_.from[id] == kSeveralSegments) {
        at_.plan.owner[id] =
            flow_.to[id];  // the sum is made where the value was
      } else if (flow_.from[id] <= flow_.to[id]) {
        at_.plan.owner[id] = flow_.from[id];
      } else {
        gaps[{flow_.to[id], flow_.from[id]}].push_back(id);
      }
    }
    for (const auto& [ends, gap] : gaps) {
      PlaceGap(ends.below, ends.above, gap);
    }
  }

  void PlaceGap(int below, int above, const std::vector<ValueId>& gap) {
    const std::unordered_set<ValueId> inside(gap.begin(), gap.end());
    const std::optional<ValueId> boundary = FindGradientBoundary(
        at_.module, gap,
        [&](ValueId id) {
          return at_.Carries(id) && flow_.from[id] != kFarSegment &&
                 !inside.contains(id);
        },
        [&](ValueId id) {
          if (inside.contains(id)) return false;
          const auto match = at_.gradients.find(id);
          if (match != at_.gradients.end()) {
            return at_.plan.owner[match->second.forward] <= below;
          }
          return at_.Carries(id) && flow_.to[id] != kNoSegment &&
                 flow_.to[id] <= below;
        },
        [&](ValueId id) { return below == 0 && flow_.output_owner[id] == 0; },
        [&](ValueId id) {
          for (ValueId operand : at_.module.at(id).operands) {
            if (read_[operand] > below) return true;
          }
          return false;
        });
    std::set<ValueId> after;
    for (ValueId id : gap) {
      for (ValueId operand : at_.module.at(id).operands) {
        if (operand == boundary || after.contains(operand)) after.insert(id);
      }
      at_.plan.owner[id] = after.contains(id) ? below : above;
    }
  }

  const GradientFlow& flow_;
  Placement& at_;
  std::vector<int> read_;
};

}  // namespace

void PlaceGradients(const GradientFlow& flow, Placement& at) {
  GradientPlacer(flow, at).Run();
}

}  // namespace meshwright::segmenter
