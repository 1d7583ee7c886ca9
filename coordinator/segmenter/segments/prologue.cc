#include "coordinator/segmenter/segments/prologue.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

#include "coordinator/segmenter/direction/hash.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

class PrologueFinder {
 public:
  explicit PrologueFinder(const StepView& step)
      : module_(step.module),
        passes_(step.passes),
        blocks_(step.blocks),
        inside_(step.blocks.blocks.size()) {
    for (const ValueId id : module_.ids()) {
      if (blocks_.inside[id]) inside_[*blocks_.owner_block[id]].push_back(id);
    }
  }

  std::vector<char> Find(const std::vector<Segment>& cover) {
    looks_left_ = kMaxLooks * static_cast<int64_t>(module_.size());
    std::vector<ValueId> boundaries;
    const std::vector<uint64_t> first = ListBlockHashes(blocks_, cover.front());
    for (size_t i = 1; i < cover.size() && boundaries.empty(); ++i) {
      if (first.empty() || ListBlockHashes(blocks_, cover[i]) != first)
        continue;
      boundaries = WalkTogether(cover.front(), cover[i]);
    }
    if (boundaries.empty()) boundaries = SharedByBlocks();
    // A decoder's first layer has nothing before it either.
    for (const auto& [start, matches] : OtherStarts(cover)) {
      for (const size_t match : matches) {
        const auto more = WalkTogether(cover[start], cover[match]);
        if (!alike_) continue;  // equal blocks of another kind of layer
        boundaries.insert(boundaries.end(), more.begin(), more.end());
        break;
      }
    }
    return Above(boundaries);
  }

  bool is_cut_short() const { return looks_left_ <= 0; }

 private:
  // Segments behind the first that hold values which no contraction made, each
  // with the next ones of equal blocks.
  std::map<size_t, std::vector<size_t>> OtherStarts(
      const std::vector<Segment>& cover) const {
    std::vector<char> starts(blocks_.blocks.size(), 0);
    for (const ValueId id : module_.ids()) {
      const std::optional<int>& block = blocks_.owner_block[id];
      if (block.has_value() && passes_.forward[id] &&
          passes_.batch_derived[id] && !passes_.has_contraction[id] &&
          !passes_.recomputable[id] &&
          module_.at(id).opcode != Opcode::kParameter) {
        starts[*block] = 1;
      }
    }
    std::map<std::vector<uint64_t>, std::vector<size_t>> alike;
    for (size_t i = 0; i < cover.size(); ++i) {
      alike[ListBlockHashes(blocks_, cover[i])].push_back(i);
    }
    std::map<size_t, std::vector<size_t>> matches;
    for (const auto& [hashes, members] : alike) {
      for (size_t m = 0; m + 1 < members.size(); ++m) {
        const Segment& segment = cover[members[m]];
        if (members[m] == 0 ||
            std::none_of(starts.begin() + segment.first_block,
                         starts.begin() + segment.last_block,
                         [](char start) { return start != 0; })) {
          continue;
        }
        const size_t last = std::min(members.size(), m + 1 + kMaxMatches);
        matches[members[m]].assign(members.begin() + m + 1,
                                   members.begin() + last);
      }
    }
    return matches;
  }

  bool In(ValueId id, const Segment& segment) const {
    return blocks_.owner_block[id] >= segment.first_block &&
           blocks_.owner_block[id] < segment.last_block;
  }

  // The values of a segment that later blocks read, in structural order; where
  // a norm behind it stays with it, what that norm reads.
  std::vector<ValueId> Ends(const Segment& segment) const {
    std::vector<ValueId> ends = ValuesReadOutside(segment, false);
    return ends.empty() ? ValuesReadOutside(segment, true) : ends;
  }

  std::vector<ValueId> ValuesReadOutside(const Segment& segment,
                                         bool behind) const {
    std::vector<std::pair<uint64_t, ValueId>> ends;
    for (int b = segment.first_block; b < segment.last_block; ++b) {
      for (ValueId id : inside_[b]) {
        for (ValueId user : module_.at(id).users) {
          if (passes_.forward[user] &&
              (!In(user, segment) || (behind && !blocks_.inside[user]))) {
            ends.emplace_back(HashShape(module_.at(id).shape), id);
            break;
          }
        }
      }
    }
    std::sort(ends.begin(), ends.end());
    std::vector<ValueId> ids;
    ids.reserve(ends.size());
    for (const auto& [hash, id] : ends) ids.push_back(id);
    return ids;
  }

  std::vector<ValueId> WalkTogether(const Segment& first,
                                    const Segment& second) {
    const std::vector<ValueId> a = Ends(first);
    const std::vector<ValueId> b = Ends(second);
    alike_ = true;
    std::set<ValueId> boundaries;
    std::unordered_set<uint64_t> seen;  // pairs
    std::vector<std::pair<ValueId, ValueId>> stack;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      stack.emplace_back(a[i], b[i]);
    }
    looks_left_ -= static_cast<int64_t>(stack.size());
    while (!stack.empty() && looks_left_ > 0) {
      const auto [x, y] = stack.back();
      stack.pop_back();
      const uint64_t pair =
          static_cast<uint64_t>(x) << 32 | static_cast<uint32_t>(y);
      if (!seen.insert(pair).second) continue;
      const ir::Instruction& left = module_.at(x);
      const ir::Instruction& right = module_.at(y);
      if (passes_.recomputable[x] && passes_.recomputable[y]) continue;
      const bool before = blocks_.owner_block[y] < second.first_block &&
                          right.opcode != Opcode::kParameter &&
                          (x == y || passes_.has_contraction[y]);
      if (before || left.opcode != right.opcode ||
          left.operands.size() != right.operands.size()) {
        if (!passes_.has_contraction[x]) boundaries.insert(x);
        alike_ &= before;
        continue;
      }
      looks_left_ -= static_cast<int64_t>(left.operands.size());
      for (size_t i = 0; i < left.operands.size(); ++i) {
        stack.emplace_back(left.operands[i], right.operands[i]);
      }
    }
    return {boundaries.begin(), boundaries.end()};
  }

  std::vector<ValueId> SharedByBlocks() const {
    for (const ValueId id : module_.ids().Reversed()) {
      if (!passes_.forward[id] || passes_.has_contraction[id] ||
          !passes_.batch_derived[id] || passes_.recomputable[id] ||
          !ir::IsFloating(module_.at(id).shape.element_type) ||
          module_.at(id).opcode == Opcode::kParameter) {
        continue;
      }
      std::optional<int> reader;
      for (ValueId user : module_.at(id).users) {
        const std::optional<int>& block = blocks_.owner_block[user];
        if (!passes_.forward[user] || !block.has_value()) continue;
        if (reader.has_value() && block != reader) return {id};
        reader = block;
      }
    }
    return {};
  }

  std::vector<char> Above(const std::vector<ValueId>& boundaries) const {
    std::vector<char> marks(module_.size(), 0);
    for (ValueId id : boundaries) marks[id] = 1;
    for (const ValueId id : module_.ids().Reversed()) {
      if (!marks[id]) continue;
      for (ValueId operand : module_.at(id).operands) marks[operand] = 1;
    }
    for (const ValueId id : module_.ids()) {
      if (passes_.recomputable[id] ||
          module_.at(id).opcode == Opcode::kParameter) {
        marks[id] = 0;
      }
    }
    return marks;
  }

  // Equal segments have as many pairs as the shorter one has values.
  static constexpr int64_t kMaxLooks = 8;
  static constexpr size_t kMaxMatches = 3;

  const Module& module_;
  const ForwardBackward& passes_;
  const BlockGraph& blocks_;
  std::vector<std::vector<ValueId>> inside_;  // by block
  int64_t looks_left_ = 0;
  bool alike_ = true;  // the last walk met nothing that differs
};

}  // namespace

std::vector<char> FindPrologue(const StepView& step,
                               const std::vector<Segment>& cover,
                               bool& cut_short) {
  PrologueFinder finder(step);
  std::vector<char> prologue = finder.Find(cover);
  cut_short = finder.is_cut_short();
  return prologue;
}

}  // namespace meshwright::segmenter
