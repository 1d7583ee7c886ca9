#include "coordinator/segmenter/segments.h"

#include <algorithm>
#include <map>
#include <set>

#include "coordinator/ir/dim_links.h"
#include "coordinator/segmenter/gradient_border.h"
#include "coordinator/segmenter/prologue.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

constexpr int kNone = -1;
constexpr int kFar = 1 << 30;

class SegmentPlanner {
 public:
  SegmentPlanner(const Module& module, const Direction& direction,
                 const BlockGraph& blocks, const GradientMatches& gradients)
      : module_(module),
        direction_(direction),
        blocks_(blocks),
        gradients_(gradients) {}

  SegmentPlan Run(std::vector<Segment> cover) {
    plan_.owner.assign(module_.size(), SegmentPlan::kNowhere);
    if (cover.empty()) cover.push_back({0, 0});  // no contraction at all
    const std::vector<char> prologue =
        FindPrologue(module_, direction_, blocks_, cover);
    has_prologue_ =
        std::any_of(prologue.begin(), prologue.end(), [](char x) { return x; });
    if (has_prologue_) plan_.segments.push_back({0, 0});
    plan_.segments.insert(plan_.segments.end(), cover.begin(), cover.end());
    last_ = static_cast<int>(plan_.segments.size()) - 1;
    if (Repeats(cover) && HasTail()) {
      const int end = static_cast<int>(blocks_.blocks.size());
      plan_.segments.push_back({end, end});
      tail_ = last_ + 1;
    } else {
      tail_ = last_;
    }
    for (size_t s = 0; s < plan_.segments.size(); ++s) {
      for (int b = plan_.segments[s].first_block;
           b < plan_.segments[s].last_block; ++b) {
        segment_of_block_.resize(blocks_.blocks.size());
        segment_of_block_[b] = static_cast<int>(s);
      }
    }
    PlaceForward(prologue);
    PlaceSharedForward();
    PlaceBackward();
    return std::move(plan_);
  }

 private:
  // The last segment is one of several equal ones, so that its operations must
  // not be mixed with the loss.
  bool Repeats(const std::vector<Segment>& cover) const {
    const Segment& last = cover.back();
    for (size_t i = 0; i + 1 < cover.size(); ++i) {
      const int length = last.last_block - last.first_block;
      if (length == 0 || cover[i].last_block - cover[i].first_block != length) {
        continue;
      }
      bool equal = true;
      for (int b = 0; b < length; ++b) {
        equal &= blocks_.blocks[cover[i].first_block + b].hash ==
                 blocks_.blocks[last.first_block + b].hash;
      }
      if (equal) return true;
    }
    return false;
  }

  bool HasTail() const {
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (IsTail(id)) return true;
    }
    return false;
  }

  // Forward, and no block consumes it: on the way to the loss only.
  bool IsTail(ValueId id) const {
    return direction_.forward[id] && blocks_.home[id] < 0 && Owned(id);
  }

  // Parameters, the root and what everyone computes anew have no owner.
  bool Owned(ValueId id) const {
    return module_.at(id).opcode != Opcode::kParameter &&
           !direction_.recomputable[id] &&
           !(id == module_.root && module_.at(id).opcode == Opcode::kTuple);
  }

  void PlaceForward(const std::vector<char>& prologue) {
    for (ValueId id = 0; id < module_.size(); ++id) {
      int& owner = plan_.owner[id];
      if (direction_.recomputable[id] &&
          module_.at(id).opcode != Opcode::kParameter) {
        owner = SegmentPlan::kEverywhere;
      }
      if (!direction_.forward[id] || !Owned(id)) continue;
      if (prologue[id]) {
        owner = 0;
      } else if (blocks_.home[id] >= 0) {
        owner = segment_of_block_[blocks_.home[id]];
      } else {
        owner = TailOwner(id);
      }
    }
  }

  // Where the operands come from, so that what crosses to the loss is small;
  // sums over several segments belong to the end.
  int TailOwner(ValueId id) {
    int highest = kNone;
    int lowest = kFar;
    for (ValueId operand : module_.at(id).operands) {
      const int owner = plan_.owner[operand];
      if (owner < 0) continue;
      highest = std::max(highest, owner);
      lowest = std::min(lowest, owner);
    }
    if (highest == kNone) return tail_;
    if (highest != lowest && module_.at(id).shape.is_scalar()) return Glue();
    if (highest != lowest || highest == last_) return tail_;
    return highest;
  }

  // Scalars of several segments meet in a segment of their own, the last one:
  // it costs nothing, and no program depends on how many segments there are.
  int Glue() {
    if (glue_ < 0) {
      glue_ = static_cast<int>(plan_.segments.size());
      const int end = static_cast<int>(blocks_.blocks.size());
      plan_.segments.push_back({end, end});
    }
    return glue_;
  }

  // A value without contractions that several segments read is computed once,
  // at the front.
  void PlaceSharedForward() {
    if (!has_prologue_) return;
    for (ValueId id = module_.size() - 1; id >= 0; --id) {
      if (!direction_.forward[id] || !Owned(id) ||
          direction_.has_contraction[id] || plan_.owner[id] <= 0) {
        continue;
      }
      for (ValueId user : module_.at(id).users) {
        if (direction_.forward[user] && plan_.owner[user] >= 0 &&
            plan_.owner[user] != plan_.owner[id]) {
          plan_.owner[id] = 0;
        }
      }
    }
  }

  // ---- backward and update ----

  void PlaceBackward() {
    FindHomes();
    FindFlow();
    FindReads();
    for (ValueId id = 0; id < module_.size(); ++id) {
      const auto match = gradients_.find(id);
      if (match != gradients_.end()) {
        plan_.owner[id] = plan_.owner[match->second.forward];
      }
    }
    PlaceGaps();
    for (ValueId id = module_.size() - 1; id >= 0; --id) {
      if (direction_.forward[id] || !Owned(id) || plan_.owner[id] >= 0) {
        continue;
      }
      plan_.owner[id] = Settle(id);
    }
  }

  // The segment that updates a parameter: the first that reads it.
  void FindHomes() {
    output_home_.assign(module_.size(), kNone);
    std::vector<int> homes(module_.parameters.size(), kFar);
    for (size_t p = 0; p < module_.parameters.size(); ++p) {
      for (ValueId user : module_.at(module_.parameters[p]).users) {
        if (direction_.forward[user] && plan_.owner[user] >= 0) {
          homes[p] = std::min(homes[p], plan_.owner[user]);
        }
      }
      const int output = direction_.state_output[p];
      if (homes[p] == kFar || output < 0) continue;
      output_home_[module_.outputs[output]] = homes[p];
    }
  }

  bool Backward(ValueId id) const {
    return !direction_.forward[id] && Owned(id);
  }
  // A gradient does not flow through a scalar (a norm for clipping).
  bool Carries(ValueId id) const {
    return Backward(id) && !module_.at(id).shape.is_scalar();
  }
  bool IsWeightGradient(ValueId id, const GradientMatch& match) const {
    return !match.recomputation &&
           !direction_.batch_derived[module_.at(match.forward)
                                         .operands[match.differentiated]];
  }

  // from_[v]: the earliest segment whose contractions v's gradient came
  // through. to_[v]: the latest segment whose contractions it goes on to, the
  // prologue counting when the gradient ends in its parameters.
  void FindFlow() {
    from_.assign(module_.size(), kFar);
    to_.assign(module_.size(), kNone);
    reaches_.assign(module_.size(), kFar);
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (!Backward(id)) continue;
      const auto match = gradients_.find(id);
      if (match != gradients_.end()) {
        if (!IsWeightGradient(id, match->second) &&
            !match->second.recomputation) {
          from_[id] = plan_.owner[match->second.forward];
        }
        continue;
      }
      for (ValueId operand : module_.at(id).operands) {
        if (Carries(operand)) from_[id] = std::min(from_[id], from_[operand]);
      }
    }
    for (ValueId id = module_.size() - 1; id >= 0; --id) {
      if (!Backward(id)) continue;
      reaches_[id] = output_home_[id] == kNone ? kFar : output_home_[id];
      if (has_prologue_ && output_home_[id] == 0) to_[id] = 0;
      for (ValueId user : module_.at(id).users) {
        if (!Backward(user)) continue;
        const auto match = gradients_.find(user);
        if (match != gradients_.end()) {
          to_[id] = std::max(to_[id], plan_.owner[match->second.forward]);
          continue;
        }
        reaches_[id] = std::min(reaches_[id], reaches_[user]);
        if (Carries(user)) to_[id] = std::max(to_[id], to_[user]);
      }
    }
  }

  // The segment a forward value belongs to, also when it has only been prepared
  // for the backward pass since; gradients read nothing.
  void FindReads() {
    read_.assign(module_.size(), kNone);
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (!Owned(id)) continue;
      if (direction_.forward[id]) {
        read_[id] = plan_.owner[id];
      } else if (from_[id] == kFar && !gradients_.contains(id)) {
        for (ValueId operand : module_.at(id).operands) {
          read_[id] = std::max(read_[id], read_[operand]);
        }
      }
    }
  }

  void PlaceGaps() {
    std::map<int, std::vector<ValueId>> gaps;  // by the segment below
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (!Carries(id) || gradients_.contains(id)) continue;
      if (from_[id] == kFar || to_[id] == kNone) continue;
      if (from_[id] <= to_[id]) {
        plan_.owner[id] = from_[id];
      } else {
        gaps[to_[id]].push_back(id);
      }
    }
    for (const auto& [below, gap] : gaps) PlaceGap(below, gap);
  }

  void PlaceGap(int below, const std::vector<ValueId>& gap) {
    const ValueId border = FindBorder(
        module_, gap,
        [&](ValueId id) {
          return Carries(id) && from_[id] != kFar && from_[id] > below;
        },
        [&](ValueId id) {
          const auto match = gradients_.find(id);
          if (match != gradients_.end()) {
            return plan_.owner[match->second.forward] <= below;
          }
          return Carries(id) && from_[id] <= below;
        },
        [&](ValueId id) { return below == 0 && output_home_[id] == 0; },
        [&](ValueId id) {
          for (ValueId operand : module_.at(id).operands) {
            if (read_[operand] > below) return true;
          }
          return false;
        });
    std::set<ValueId> after;
    for (ValueId id : gap) {
      for (ValueId operand : module_.at(id).operands) {
        if (operand == border || after.contains(operand)) after.insert(id);
      }
      plan_.owner[id] = after.contains(id) ? below : from_[id];
    }
  }

  // Updates go with their parameter, the gradient of the loss and what is kept
  // for the backward pass with their reader, the rest to where it came from.
  int Settle(ValueId id) {
    if (to_[id] == kNone && reaches_[id] != kFar) {
      if (module_.at(id).shape.is_scalar()) return ScalarOwner(id);
      return reaches_[id];
    }
    int highest = kNone;
    for (ValueId user : module_.at(id).users) {
      if (Owned(user)) highest = std::max(highest, plan_.owner[user]);
    }
    if (highest != kNone) return highest;
    for (ValueId operand : module_.at(id).operands) {
      highest = std::max(highest, plan_.owner[operand]);
    }
    return highest == kNone ? tail_ : highest;
  }

  // A scalar that several segments' updates read is made at the end.
  int ScalarOwner(ValueId id) {
    int owner = kNone;
    for (ValueId user : module_.at(id).users) {
      if (!Owned(user)) continue;
      if (owner != kNone && plan_.owner[user] != owner) return Glue();
      owner = plan_.owner[user];
    }
    return owner == kNone ? tail_ : owner;
  }

  const Module& module_;
  const Direction& direction_;
  const BlockGraph& blocks_;
  const GradientMatches& gradients_;
  bool has_prologue_ = false;
  int last_ = 0;   // the segment of the last block
  int tail_ = 0;   // the segment of what follows it
  int glue_ = -1;  // the segment of scalars of several segments
  std::vector<int> segment_of_block_;
  std::vector<int> output_home_;  // by ValueId of a state output
  std::vector<int> from_;
  std::vector<int> to_;
  std::vector<int> read_;
  std::vector<int> reaches_;  // earliest home of the parameters it updates
  SegmentPlan plan_;
};

}  // namespace

SegmentPlan PlanSegments(const Module& module, const Direction& direction,
                         const BlockGraph& blocks,
                         const GradientMatches& gradients,
                         const std::vector<int>& configurations) {
  std::vector<uint64_t> hashes;
  for (const ParallelBlock& block : blocks.blocks) hashes.push_back(block.hash);
  return SegmentPlanner(module, direction, blocks, gradients)
      .Run(CoverSequence(hashes, configurations));
}

}  // namespace meshwright::segmenter
