#include "coordinator/segmenter/segments/segments.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "coordinator/segmenter/segments/gradient_boundary.h"
#include "coordinator/segmenter/segments/loop_groups.h"
#include "coordinator/segmenter/segments/prologue.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

constexpr int kNone = -1;
constexpr int kFar = 1 << 30;
constexpr int kSeveral = kFar - 1;

class SegmentPlanner {
 public:
  SegmentPlanner(const Module& module, const Direction& direction,
                 const BlockGraph& blocks, const GradientMatches& gradients,
                 const std::vector<ValueId>& classes, const LoopGroups& groups)
      : module_(module),
        direction_(direction),
        blocks_(blocks),
        gradients_(gradients),
        classes_(classes),
        groups_(groups) {}

  SegmentPlan Run(std::vector<Segment> cover) {
    plan_.owner.assign(module_.size(), SegmentPlan::kNowhere);
    repeats_.assign(module_.size(), 0);
    FindScalarLike();
    if (cover.empty()) cover.push_back({0, 0});  // no contraction at all
    KeepGroups(cover);
    std::vector<char> prologue =
        FindPrologue(module_, direction_, blocks_, cover);
    AddRandomKeys(prologue);
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (KeptSegment(id) >= 0) prologue[id] = 0;
    }
    has_prologue_ =
        std::any_of(prologue.begin(), prologue.end(), [](char x) { return x; });
    if (has_prologue_) plan_.segments.push_back({0, 0});
    plan_.segments.insert(plan_.segments.end(), cover.begin(), cover.end());
    last_ = static_cast<int>(plan_.segments.size()) - 1;
    const bool in_loop = std::count(kept_cover_.begin(), kept_cover_.end(),
                                    static_cast<int>(cover.size()) - 1) > 0;
    if ((in_loop || Repeats(cover)) && HasTail()) {
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
    GatherSmallLoops();
    return std::move(plan_);
  }

 private:
  void AddRandomKeys(std::vector<char>& prologue) const {
    std::vector<char> wanted = direction_.random_key;
    for (ValueId id = module_.size() - 1; id >= 0; --id) {
      if (!wanted[id] || !direction_.forward[id] || !Owned(id)) continue;
      prologue[id] = 1;
      for (ValueId operand : module_.at(id).operands) wanted[operand] = 1;
    }
  }

  // The groups of loops whose blocks are all in one segment of the cover.
  void KeepGroups(const std::vector<Segment>& cover) {
    std::vector<int> first(groups_.count, kNone);
    kept_cover_.assign(groups_.count, kNone);
    for (size_t s = 0; s < cover.size(); ++s) {
      for (int b = cover[s].first_block; b < cover[s].last_block; ++b) {
        for (ValueId id : blocks_.blocks[b].contractions) {
          const int group = groups_.Of(module_, id);
          if (group < 0) continue;
          const int here = static_cast<int>(s);
          kept_cover_[group] =
              first[group] == kNone || first[group] == here ? here : kFar;
          first[group] = kept_cover_[group] == kFar ? kFar : here;
        }
      }
    }
    plan_.kept_loops.assign(module_.loops.size(), 0);
    for (size_t loop = 0; loop < module_.loops.size(); ++loop) {
      const int group = groups_.of_loop[loop];
      plan_.kept_loops[loop] =
          group >= 0 && kept_cover_[group] >= 0 && kept_cover_[group] != kFar;
    }
  }

  // The segment of a value inside a kept loop, and of what leaves one; kNone
  // elsewhere.
  int KeptSegment(ValueId id) const {
    const ir::Instruction& it = module_.at(id);
    for (const ir::LoopId loop : {it.loop, it.border}) {
      if (loop != ir::kNoLoop && plan_.kept_loops[loop]) {
        return kept_cover_[groups_.of_loop[loop]] + (has_prologue_ ? 1 : 0);
      }
    }
    return kNone;
  }

  // A loop without contractions goes as a whole where its first part went.
  void GatherSmallLoops() {
    if (module_.loops.empty()) return;
    std::vector<int> owners(module_.loops.size(), kNone);
    const auto small = [&](ValueId id) {
      const ir::Instruction& it = module_.at(id);
      const ir::LoopId loop = it.loop != ir::kNoLoop ? it.loop : it.border;
      return loop == ir::kNoLoop || groups_.has_contraction[loop] ? ir::kNoLoop
                                                                  : loop;
    };
    const auto top = [&](ir::LoopId loop) {
      while (module_.loops[loop].parent != ir::kNoLoop &&
             !groups_.has_contraction[module_.loops[loop].parent]) {
        loop = module_.loops[loop].parent;
      }
      return loop;
    };
    for (ValueId id = module_.size() - 1; id >= 0; --id) {
      const ir::LoopId loop = small(id);
      if (loop != ir::kNoLoop && plan_.owner[id] >= 0) {
        owners[top(loop)] = plan_.owner[id];
      }
    }
    for (ValueId id = 0; id < module_.size(); ++id) {
      const ir::LoopId loop = small(id);
      if (loop == ir::kNoLoop) continue;
      const int owner = owners[top(loop)];
      if (owner >= 0) plan_.owner[id] = owner;
      plan_.kept_loops[loop] = 1;
    }
  }

  // The last segment is one of several equal ones, so that its operations must
  // not be mixed with the loss.
  bool Repeats(const std::vector<Segment>& cover) const {
    const std::vector<uint64_t> last = BlockHashes(blocks_, cover.back());
    return !last.empty() &&
           std::any_of(cover.begin(), cover.end() - 1, [&](const Segment& it) {
             return BlockHashes(blocks_, it) == last;
           });
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
      const int kept = KeptSegment(id);
      if (kept >= 0) {
        if (Owned(id)) owner = kept;
        continue;
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

  // The lowest and the highest owner of its operands; kFar and kNone without.
  std::pair<int, int> OperandOwners(ValueId id) const {
    int highest = kNone;
    int lowest = kFar;
    for (ValueId operand : module_.at(id).operands) {
      const int owner = plan_.owner[operand];
      if (owner < 0) continue;
      highest = std::max(highest, owner);
      lowest = std::min(lowest, owner);
    }
    return {lowest, highest};
  }

  // Where the operands come from, so that what crosses to the loss is small;
  // sums over several segments belong to the end.
  int TailOwner(ValueId id) {
    const auto [lowest, highest] = OperandOwners(id);
    if (highest == kNone) return tail_;
    if (highest != lowest && IsScalarLike(id)) return Glue();
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
          direction_.has_contraction[id] || plan_.owner[id] <= 0 ||
          KeptSegment(id) >= 0) {
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
    PlaceRepeats();
    FindReads();
    for (ValueId id = 0; id < module_.size(); ++id) {
      const auto match = gradients_.find(id);
      if (match != gradients_.end() && KeptSegment(id) < 0) {
        plan_.owner[id] = plan_.owner[match->second.forward];
      }
    }
    PlaceGaps();
    FindShares();
    SettleUpwards();
    SettleDownwards();
  }

  // What the backward pass computes anew, behind a barrier, goes where it was
  // computed first; the barriers themselves to their readers.
  void PlaceRepeats() {
    std::vector<char> behind(module_.size(), 0);
    for (ValueId id = 0; id < module_.size(); ++id) {
      const ir::Instruction& it = module_.at(id);
      const bool barrier = it.opcode == Opcode::kOptimizationBarrier;
      behind[id] =
          barrier ||
          std::any_of(it.operands.begin(), it.operands.end(),
                      [&](ValueId operand) { return behind[operand] != 0; });
      if (!behind[id] || barrier || !Backward(id) || KeptSegment(id) >= 0 ||
          gradients_.contains(id) || !direction_.forward[classes_[id]] ||
          classes_[id] == id) {
        continue;
      }
      // A mask may be every layer's: it goes to its reader.
      const int owner = plan_.owner[classes_[id]];
      if (owner < 0 || !direction_.has_contraction[classes_[id]]) continue;
      plan_.owner[id] = owner;
      repeats_[id] = 1;
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
  bool Carries(ValueId id) const { return Backward(id) && !IsScalarLike(id); }
  bool IsWeightGradient(ValueId id, const GradientMatch& match) const {
    return !match.recomputation &&
           !direction_.batch_derived[module_.at(match.forward)
                                         .operands[match.differentiated]];
  }

  // to_[v]: the latest segment whose contractions v's gradient goes on to, the
  // prologue counting when it ends in its parameters. reaches_[v]: the earliest
  // segment whose parameters it updates.
  // from_[v]: the segment whose contractions v's gradient came through on its
  // way there; kSeveral where gradients of one forward value meet that come
  // from several segments, each of which read it.
  void FindFlow() {
    from_.assign(module_.size(), kFar);
    to_.assign(module_.size(), kNone);
    reaches_.assign(module_.size(), kFar);
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
        if (!Carries(user)) continue;
        reaches_[id] = std::min(reaches_[id], reaches_[user]);
        to_[id] = std::max(to_[id], to_[user]);
      }
    }
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
        if (!Carries(operand)) continue;
        // A gradient that has been handed to a later segment comes from there.
        const bool handed = !gradients_.contains(operand) &&
                            from_[operand] != kFar && to_[operand] > to_[id] &&
                            to_[operand] != kNone && to_[id] != kNone;
        Join(handed ? to_[operand] : from_[operand], from_[id]);
      }
    }
    for (ValueId id = module_.size() - 1; id >= 0; --id) {
      if (IsSummand(id)) from_[id] = kSeveral;
    }
  }

  bool IsAdd(ValueId id) const {
    return module_.at(id).attributes().opcode() == "add";
  }

  // A sum of one segment's gradients that only a sum over segments reads: part
  // of that one, lest the segment whose gradients come first differ.
  bool IsSummand(ValueId id) const {
    const ir::Instruction& it = module_.at(id);
    if (!IsAdd(id) || !Carries(id) || from_[id] == kFar ||
        from_[id] == kSeveral || it.users.empty()) {
      return false;
    }
    return std::all_of(it.users.begin(), it.users.end(), [&](ValueId user) {
      return IsAdd(user) && Carries(user) && from_[user] == kSeveral &&
             to_[user] == to_[id];
    });
  }

  static void Join(int from, int& into) {
    if (from == kFar || from == into) return;
    into = into == kFar ? from : kSeveral;
  }

  // The segment a forward value belongs to, also when it has only been prepared
  // for the backward pass since; gradients read nothing.
  void FindReads() {
    read_.assign(module_.size(), kNone);
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (!Owned(id)) continue;
      if (direction_.forward[id] || repeats_[id]) {
        read_[id] = plan_.owner[id];
      } else if (from_[id] == kFar && !gradients_.contains(id)) {
        for (ValueId operand : module_.at(id).operands) {
          read_[id] = std::max(read_[id], read_[operand]);
        }
      }
    }
  }

  void PlaceGaps() {
    // By the segment below and the one above.
    std::map<std::pair<int, int>, std::vector<ValueId>> gaps;
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (!Carries(id) || gradients_.contains(id)) continue;
      if (from_[id] == kFar || to_[id] == kNone) continue;
      if (KeptSegment(id) >= 0 || repeats_[id]) continue;
      if (from_[id] == kSeveral) {
        plan_.owner[id] = to_[id];  // the sum is made where the value was
      } else if (from_[id] <= to_[id]) {
        plan_.owner[id] = from_[id];
      } else {
        gaps[{to_[id], from_[id]}].push_back(id);
      }
    }
    for (const auto& [ends, gap] : gaps) {
      PlaceGap(ends.first, ends.second, gap);
    }
  }

  void PlaceGap(int below, int above, const std::vector<ValueId>& gap) {
    const std::unordered_set<ValueId> inside(gap.begin(), gap.end());
    const ValueId border = FindBorder(
        module_, gap,
        [&](ValueId id) {
          return Carries(id) && from_[id] != kFar && !inside.contains(id);
        },
        [&](ValueId id) {
          if (inside.contains(id)) return false;
          const auto match = gradients_.find(id);
          if (match != gradients_.end()) {
            return plan_.owner[match->second.forward] <= below;
          }
          return Carries(id) && to_[id] != kNone && to_[id] <= below;
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
      plan_.owner[id] = after.contains(id) ? below : above;
    }
  }

  // Updates go with their parameter, the gradient of the loss and what is kept
  // for the backward pass with their reader.
  void SettleUpwards() {
    for (ValueId id = module_.size() - 1; id >= 0; --id) {
      if (direction_.forward[id] || !Owned(id) || plan_.owner[id] >= 0) {
        continue;
      }
      if (IsScalarLike(id)) continue;
      if (to_[id] == kNone && reaches_[id] != kFar) {
        const bool stays = joins_sum_[id] && !IsRearrangedForSum(id);
        plan_.owner[id] = stays ? made_[id] : reaches_[id];
        continue;
      }
      GoToReader(id);
    }
  }

  // A share that is only moved or converted on its way to the sum is so there:
  // compilers fuse that into what adds it up.
  bool IsRearrangedForSum(ValueId id) const {
    const ir::Instruction& it = module_.at(id);
    const bool moves = ir::IsLayout(it.opcode) &&
                       !ir::IsLoopBorder(it.opcode) &&
                       it.opcode != Opcode::kOptimizationBarrier;
    return moves && !it.users.empty() &&
           std::all_of(it.users.begin(), it.users.end(), [&](ValueId user) {
             return plan_.owner[user] == reaches_[id];
           });
  }

  // made_[v], of what leads to updates only: the segment of the gradients it is
  // made of. joins_sum_[v]: one segment's share of a sum over several, the
  // gradient of a parameter that these read. It stays where it is made: only
  // the parameter's gradient leaves, not what that is made of.
  void FindShares() {
    made_.assign(module_.size(), kFar);
    joins_sum_.assign(module_.size(), 0);
    const auto updates = [&](ValueId id) {
      return Carries(id) && to_[id] == kNone && plan_.owner[id] < 0 &&
             reaches_[id] != kFar;
    };
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (!updates(id)) continue;
      for (ValueId operand : module_.at(id).operands) {
        if (!Carries(operand)) continue;
        const int owner = plan_.owner[operand];
        Join(owner >= 0 ? owner : made_[operand], made_[id]);
      }
    }
    for (ValueId id = module_.size() - 1; id >= 0; --id) {
      if (!updates(id) || made_[id] == kSeveral) continue;
      int reader = kFar;  // of what is no gradient itself
      for (ValueId user : module_.at(id).users) {
        if (!updates(user)) continue;
        joins_sum_[id] |= made_[user] == kSeveral || joins_sum_[user];
        Join(made_[user], reader);
      }
      if (made_[id] != kFar) continue;
      made_[id] = reader;
      joins_sum_[id] &= reader != kFar && reader != kSeveral;
    }
  }

  // To the last of the segments that read it, if any does.
  void GoToReader(ValueId id) {
    for (ValueId user : module_.at(id).users) {
      if (Owned(user)) {
        plan_.owner[id] = std::max(plan_.owner[id], plan_.owner[user]);
      }
    }
  }

  // The rest, sums over a segment's gradients among it, stays where it came
  // from; scalars of several segments meet in the last one.
  void SettleDownwards() {
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (direction_.forward[id] || !Owned(id) || plan_.owner[id] >= 0) {
        continue;
      }
      const auto [lowest, highest] = OperandOwners(id);
      const bool scalar = IsScalarLike(id);
      if (highest == kNone) {
        if (scalar) plan_.owner[id] = ReaderOfScalar(id);
      } else if (highest != lowest && scalar) {
        plan_.owner[id] = Glue();
      } else {
        plan_.owner[id] = highest;
      }
    }
    // What reads state only (a running statistic) goes to its reader.
    for (ValueId id = module_.size() - 1; id >= 0; --id) {
      if (direction_.forward[id] || !Owned(id) || plan_.owner[id] >= 0) {
        continue;
      }
      GoToReader(id);
      if (plan_.owner[id] < 0) plan_.owner[id] = tail_;
    }
  }

  // A scalar made of nothing owned goes to its reader; with several of them to
  // the scalars' segment.
  int ReaderOfScalar(ValueId id) {
    int owner = kNone;
    for (ValueId user : module_.at(id).users) {
      if (!Owned(user) || plan_.owner[user] < 0) continue;
      if (owner != kNone && plan_.owner[user] != owner) return Glue();
      owner = plan_.owner[user];
    }
    return owner == kNone ? tail_ : owner;
  }

  // A scalar, or a row of scalars put side by side.
  bool IsScalarLike(ValueId id) const { return scalar_like_[id] != 0; }

  void FindScalarLike() {
    scalar_like_.assign(module_.size(), 0);
    for (ValueId id = 0; id < module_.size(); ++id) {
      const ir::Instruction& it = module_.at(id);
      if (it.shape.is_tuple()) continue;
      scalar_like_[id] =
          it.shape.is_scalar() ||
          (it.shape.rank() == 1 && !it.operands.empty() &&
           (ir::IsElementwise(it.opcode) || ir::IsLayout(it.opcode) ||
            it.opcode == Opcode::kConcatenate ||
            (it.opcode == Opcode::kBroadcast && it.shape.dims[0] == 1)) &&
           std::all_of(it.operands.begin(), it.operands.end(),
                       [&](ValueId operand) { return IsScalarLike(operand); }));
    }
  }

  const Module& module_;
  const Direction& direction_;
  const BlockGraph& blocks_;
  const GradientMatches& gradients_;
  const std::vector<ValueId>& classes_;
  const LoopGroups& groups_;
  std::vector<int> kept_cover_;  // by group: the segment of the cover, or kFar
  bool has_prologue_ = false;
  int last_ = 0;   // the segment of the last block
  int tail_ = 0;   // the segment of what follows it
  int glue_ = -1;  // the segment of scalars of several segments
  std::vector<int> segment_of_block_;
  std::vector<int> output_home_;  // by ValueId of a state output
  std::vector<int> from_;
  std::vector<int> to_;
  std::vector<int> read_;
  std::vector<int> reaches_;
  std::vector<int> made_;
  std::vector<char> joins_sum_;
  std::vector<char> scalar_like_;
  std::vector<char> repeats_;  // placed with what they repeat
  SegmentPlan plan_;
};

}  // namespace

SegmentPlan PlanSegments(const Module& module, const Direction& direction,
                         const BlockGraph& blocks,
                         const GradientMatches& gradients,
                         const std::vector<ValueId>& classes,
                         const std::vector<int>& configurations) {
  const LoopGroups groups = FindLoopGroups(module, direction, gradients);
  const int count = static_cast<int>(blocks.blocks.size());
  const auto group_of = [&](int block) {
    return groups.Of(module, blocks.blocks[block].roots[0]);
  };
  std::vector<Segment> cover;
  for (int first = 0, last = 0; first < count; first = last) {
    const int group = group_of(first);
    std::vector<uint64_t> hashes;
    std::vector<int> choices;
    for (; last < count && group_of(last) == group; ++last) {
      hashes.push_back(blocks.blocks[last].hash);
      choices.push_back(configurations[last]);
    }
    if (group >= 0) {
      cover.push_back({first, last});
      continue;
    }
    for (Segment segment : CoverSequence(hashes, choices)) {
      cover.push_back(
          {segment.first_block + first, segment.last_block + first});
    }
  }
  return PlaceSegments(module, direction, blocks, gradients, classes,
                       std::move(cover));
}

SegmentPlan PlaceSegments(const Module& module, const Direction& direction,
                          const BlockGraph& blocks,
                          const GradientMatches& gradients,
                          const std::vector<ValueId>& classes,
                          std::vector<Segment> cover) {
  const LoopGroups groups = FindLoopGroups(module, direction, gradients);
  return SegmentPlanner(module, direction, blocks, gradients, classes, groups)
      .Run(std::move(cover));
}

}  // namespace meshwright::segmenter
