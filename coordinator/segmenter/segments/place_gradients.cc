#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "coordinator/segmenter/segments/gradient_boundary.h"
#include "coordinator/segmenter/segments/placement_steps.h"

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
    for (const ValueId id : at_.module.ids()) {
      const auto match = at_.gradients.find(id);
      if (match != at_.gradients.end() && !at_.KeptSegment(id).has_value()) {
        at_.plan.owner[id] = at_.plan.owner[match->second.forward];
      }
    }
    PlaceGaps();
  }

 private:
  // Values that the backward pass recomputes, behind a barrier, go where they
  // were computed first; the barriers themselves to their readers.
  void PlaceRepeats() {
    std::vector<char> behind(at_.module.size(), 0);
    for (const ValueId id : at_.module.ids()) {
      const ir::Instruction& it = at_.module.at(id);
      const bool barrier = it.opcode == Opcode::kOptimizationBarrier;
      behind[id] =
          barrier ||
          std::any_of(it.operands.begin(), it.operands.end(),
                      [&](ValueId operand) { return behind[operand] != 0; });
      if (!behind[id] || barrier || !at_.Backward(id) ||
          at_.KeptSegment(id).has_value() || at_.gradients.contains(id) ||
          !at_.passes.forward[at_.classes[id]] || at_.classes[id] == id) {
        continue;
      }
      // A mask may be every layer's: it goes to its reader.
      const Owner owner = at_.plan.owner[at_.classes[id]];
      if (!owner.IsSegment() || !at_.passes.has_contraction[at_.classes[id]])
        continue;
      at_.plan.owner[id] = owner;
      at_.repeats[id] = 1;
    }
  }

  // The segment a forward value belongs to, also when it has only been prepared
  // for the backward pass since; gradients read nothing.
  void FindReads() {
    read_.resize(at_.module.size());
    for (const ValueId id : at_.module.ids()) {
      if (!at_.Owned(id)) continue;
      if (at_.passes.forward[id] || at_.repeats[id]) {
        read_[id] = at_.plan.owner[id].FindSegment();
      } else if (flow_.from[id].IsNone() && !at_.gradients.contains(id)) {
        for (ValueId operand : at_.module.at(id).operands) {
          read_[id] = std::max(read_[id], read_[operand]);
        }
      }
    }
  }

  void PlaceGaps() {
    struct Neighbours {
      SegmentIndex below;
      SegmentIndex above;
      auto operator<=>(const Neighbours&) const = default;
    };
    std::map<Neighbours, std::vector<ValueId>> gaps;
    for (const ValueId id : at_.module.ids()) {
      if (!at_.Carries(id) || at_.gradients.contains(id)) continue;
      if (flow_.from[id].IsNone() || !flow_.to[id].has_value()) continue;
      if (at_.KeptSegment(id).has_value() || at_.repeats[id]) continue;
      const SegmentIndex below = *flow_.to[id];
      const std::optional<SegmentIndex> above = flow_.from[id].segment;
      if (!above.has_value()) {
        at_.plan.owner[id] = below;  // the sum is made where the value was
      } else if (*above <= below) {
        at_.plan.owner[id] = *above;
      } else {
        gaps[{below, *above}].push_back(id);
      }
    }
    for (const auto& [ends, gap] : gaps) {
      PlaceGap(ends.below, ends.above, gap);
    }
  }

  void PlaceGap(SegmentIndex below, SegmentIndex above,
                const std::vector<ValueId>& gap) {
    const std::unordered_set<ValueId> inside(gap.begin(), gap.end());
    const std::optional<ValueId> boundary = FindGradientBoundary(
        at_.module, gap,
        [&](ValueId id) {
          return at_.Carries(id) && !flow_.from[id].IsNone() &&
                 !inside.contains(id);
        },
        [&](ValueId id) {
          if (inside.contains(id)) return false;
          const auto match = at_.gradients.find(id);
          if (match != at_.gradients.end()) {
            const Owner owner = at_.plan.owner[match->second.forward];
            return !owner.IsSegment() || owner.segment() <= below;
          }
          return at_.Carries(id) && flow_.to[id].has_value() &&
                 flow_.to[id] <= below;
        },
        [&](ValueId id) {
          return below == kPrologue && flow_.output_owner[id] == kPrologue;
        },
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
  std::vector<std::optional<SegmentIndex>> read_;
};

}  // namespace

void PlaceGradients(const GradientFlow& flow, Placement& at) {
  GradientPlacer(flow, at).Run();
}

}  // namespace meshwright::segmenter
