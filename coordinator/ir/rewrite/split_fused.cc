#include "coordinator/ir/rewrite/split_fused.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/links/dim_links.h"
#include "coordinator/ir/rewrite/tidy.h"

namespace meshwright::ir {
namespace {

// A fused contraction has so many parts at most, and a slice is moved so far
// and no further where the module has doubled.
constexpr size_t kMaxParts = 16;
constexpr int kMaxSteps = 64;
constexpr int kFreeGrowth = 4096;

struct Range {
  int64_t start = 0;
  int64_t limit = 0;
  auto operator<=>(const Range&) const = default;
};

class FusedSplitter {
 public:
  explicit FusedSplitter(Module& module) : module_(module) {}

  int Run() {
    const int count = module_.size();
    max_size_ = 2 * count + kFreeGrowth;
    const base::IndexRange<ValueId> ids = module_.ids();  // of before
    for (const ValueId id : ids) replaced_.push_back(id);
    int split = 0;
    for (const ValueId id : ids) split += SplitForward(id);
    if (split == 0) return 0;
    for (const ValueId id : ids) ConcatenatePads(id);
    for (const ValueId id : ids) SplitBackward(id);
    for (Instruction& it : module_.instructions) {
      for (ValueId& operand : it.operands) operand = Current(operand);
    }
    module_.root = Current(module_.root);
    Tidy(module_);
    return split;
  }

  bool is_cut_short() const { return is_cut_short_; }

 private:
  // ---- forward: slices of a fused output ----

  // The one dimension a slice cuts.
  std::optional<int> CutDim(ValueId id) const {
    const Instruction& it = module_.at(id);
    if (it.opcode != Opcode::kSlice) return std::nullopt;
    const auto& in = module_.at(it.operands[0]).shape.dims;
    std::optional<int> cut;
    for (size_t i = 0; i < in.size(); ++i) {
      if (it.attributes().slice_dimensions(i).stride() != 1) {
        return std::nullopt;
      }
      if (in[i] == it.shape.dims[i]) continue;
      if (cut.has_value()) return std::nullopt;
      cut = static_cast<int>(i);
    }
    return cut;
  }

  // Splits `id` when all its users are slices that part one dimension of it and
  // that dimension is a free one of a contraction with a weight.
  bool SplitForward(ValueId id) {
    const size_t parts = module_.at(id).users.size();
    if (parts < 2 || parts > kMaxParts) return false;
    const std::vector<ValueId> users = module_.at(id).users;
    const std::optional<int> dim = CutDim(users[0]);
    if (!dim.has_value()) return false;
    std::vector<Range> ranges;
    for (ValueId user : users) {
      if (CutDim(user) != dim) return false;
      const auto& cut = module_.at(user).attributes().slice_dimensions(*dim);
      ranges.push_back({cut.start(), cut.limit()});
    }
    if (!Parts(ranges, module_.at(id).shape.dims[*dim])) return false;
    const std::optional<ValueId> weight = FusedWeight(id, *dim);
    if (!weight.has_value()) return false;
    for (size_t i = 0; i < users.size(); ++i) {
      replaced_[users[i]] = PushSlice(id, *dim, ranges[i], 0);
    }
    fused_weights_.insert(*weight);
    return true;
  }

  static bool Parts(std::vector<Range> ranges, int64_t size) {
    std::sort(ranges.begin(), ranges.end());
    int64_t at = 0;
    for (const Range& range : ranges) {
      if (range.start != at) return false;
      at = range.limit;
    }
    return at == size;
  }

  // Follows `dim` of `id` up to a contraction's free dimension; returns the
  // parameter behind that side.
  std::optional<ValueId> FusedWeight(ValueId id, int dim) const {
    for (int steps = 0; steps < 16; ++steps) {
      const Instruction& it = module_.at(id);
      if (it.opcode == Opcode::kDot && IsContraction(module_, id)) {
        for (int side = 0; side < 2; ++side) {
          for (const DimLink& link : FindDimLinks(module_, id, side)) {
            if (link.out != dim) continue;
            const DotDims dims = GetDotDims(module_, id);
            if (dims.side[side][link.in].role != DotRole::kFree) {
              return std::nullopt;
            }
            return BaseParameter(it.operands[side]);
          }
        }
        return std::nullopt;
      }
      if (!IsElementwise(it.opcode) && !IsLayout(it.opcode)) {
        return std::nullopt;
      }
      // Of several operands the one that leads to a contraction counts.
      std::optional<ValueId> next;
      int next_dim = 0;
      for (size_t i = 0; i < it.operands.size() && !next.has_value(); ++i) {
        for (const DimLink& link : FindDimLinks(module_, id, i)) {
          if (link.out != dim || !HasContraction(it.operands[i])) continue;
          if (module_.at(it.operands[i]).shape.dims[link.in] !=
              it.shape.dims[dim]) {
            return std::nullopt;
          }
          next = it.operands[i];
          next_dim = link.in;
        }
      }
      if (!next.has_value()) return std::nullopt;
      id = *next;
      dim = next_dim;
    }
    return std::nullopt;
  }

  bool HasContraction(ValueId id) const {
    for (int steps = 0; steps < 16; ++steps) {
      const Instruction& it = module_.at(id);
      if (IsContraction(module_, id)) return true;
      if (it.operands.empty() ||
          (!IsElementwise(it.opcode) && !IsLayout(it.opcode))) {
        return false;
      }
      id = it.operands[0];
    }
    return false;
  }

  std::optional<ValueId> BaseParameter(ValueId id) const {
    for (int steps = 0; IsLayout(module_.at(id).opcode); ++steps) {
      if (steps == kMaxSteps) return std::nullopt;
      id = module_.at(id).operands[0];
    }
    if (module_.at(id).opcode != Opcode::kParameter) return std::nullopt;
    return id;
  }

  // The value equal to `id` cut to `range` along `dim`, with the cut moved
  // towards the parameters as far as it goes.
  ValueId PushSlice(ValueId id, int dim, Range range, int steps) {
    const auto key = std::make_tuple(id, dim, range);
    const auto found = pushed_.find(key);
    if (found != pushed_.end()) return found->second;
    const ValueId result = MakeSlice(id, dim, range, steps);
    pushed_[key] = result;
    return result;
  }

  ValueId MakeSlice(ValueId id, int dim, Range range, int steps) {
    if (++steps > kMaxSteps || module_.size() > max_size_) {
      is_cut_short_ = true;
      return AppendSlice(id, dim, range);
    }
    Instruction copy = module_.at(id);
    copy.users.clear();
    copy.shape.dims[dim] = range.limit - range.start;
    if (IsElementwise(copy.opcode) && !IsLoopBoundary(copy.opcode)) {
      for (ValueId& operand : copy.operands) {
        if (!module_.at(operand).shape.is_scalar()) {
          operand = PushSlice(operand, dim, range, steps);
        }
      }
      return Append(Named(std::move(copy), id, range));
    }
    const bool dot = copy.opcode == Opcode::kDot;
    const bool spreads =
        copy.opcode == Opcode::kBroadcast || copy.opcode == Opcode::kTranspose;
    if (!dot && !spreads && copy.opcode != Opcode::kReshape) {
      return AppendSlice(id, dim, range);
    }
    for (int side = 0; side < (dot ? 2 : 1); ++side) {
      for (const DimLink& link : FindDimLinks(module_, id, side)) {
        if (link.out != dim || !CutsAlike(id, side, link)) continue;
        copy.operands[side] =
            PushSlice(copy.operands[side], link.in, range, steps);
        return Append(Named(std::move(copy), id, range));
      }
    }
    if (spreads) return Append(Named(std::move(copy), id, range));
    return AppendSlice(id, dim, range);
  }

  // Whether a range of the result is that range of the operand.
  bool CutsAlike(ValueId id, int side, const DimLink& link) const {
    const Instruction& it = module_.at(id);
    if (it.opcode == Opcode::kDot) {
      return GetDotDims(module_, id).side[side][link.in].role == DotRole::kFree;
    }
    return module_.at(it.operands[side]).shape.dims[link.in] ==
           it.shape.dims[link.out];
  }

  ValueId AppendSlice(ValueId id, int dim, Range range) {
    Instruction slice;
    slice.opcode = Opcode::kSlice;
    slice.loop = module_.at(id).loop;
    slice.shape = module_.at(id).shape;
    hlo::HloInstructionProto& attributes = *module_.NewAttributes();
    attributes.set_opcode("slice");
    for (int i = 0; i < slice.shape.rank(); ++i) {
      auto& cut = *attributes.add_slice_dimensions();
      cut.set_start(i == dim ? range.start : 0);
      cut.set_limit(i == dim ? range.limit : slice.shape.dims[i]);
      cut.set_stride(1);
    }
    slice.shape.dims[dim] = range.limit - range.start;
    slice.operands = {id};
    slice.source = &attributes;
    attributes.set_name(PartName(id, range));
    return Append(std::move(slice));
  }

  // "qkv[0:24]": the parts of one operation differ by what they keep.
  std::string PartName(ValueId id, Range range) const {
    return absl::StrCat(module_.at(id).name(), "[", range.start, ":",
                        range.limit, "]");
  }

  Instruction Named(Instruction part, ValueId id, Range range) {
    hlo::HloInstructionProto& attributes =
        *module_.NewAttributes(part.attributes());
    attributes.set_name(PartName(id, range));
    part.source = &attributes;
    return part;
  }

  // ---- backward: readers of the concatenated cotangent ----

  // An add tree of zero pads that part one dimension is a concatenation.
  void ConcatenatePads(ValueId id) {
    if (module_.at(id).attributes().opcode() != "add") return;
    std::vector<ValueId> leaves;
    if (!AddLeaves(id, kMaxParts, /*is_root=*/true, leaves) ||
        leaves.size() < 2) {
      return;
    }
    std::optional<int> dim;
    std::vector<std::pair<Range, ValueId>> parts;
    for (ValueId leaf : leaves) {
      const Instruction& pad = module_.at(leaf);
      if (pad.opcode != Opcode::kPad || !IsZero(pad.operands[1])) return;
      const auto& config = pad.attributes().padding_config().dimensions();
      for (int i = 0; i < config.size(); ++i) {
        if (config[i].edge_padding_low() == 0 &&
            config[i].edge_padding_high() == 0 &&
            config[i].interior_padding() == 0) {
          continue;
        }
        if (dim.has_value() && dim != i) return;
        dim = i;
      }
      if (!dim.has_value()) return;
      const int64_t start = config[*dim].edge_padding_low();
      parts.push_back(
          {{start, start + module_.at(pad.operands[0]).shape.dims[*dim]},
           pad.operands[0]});
    }
    std::sort(parts.begin(), parts.end());
    std::vector<Range> ranges;
    Instruction join;
    for (const auto& [range, part] : parts) {
      ranges.push_back(range);
      join.operands.push_back(part);
    }
    if (!Parts(ranges, module_.at(id).shape.dims[*dim])) return;
    join.opcode = Opcode::kConcatenate;
    join.loop = module_.at(id).loop;
    join.shape = module_.at(id).shape;
    join.source = ConcatenateAttributes(*dim);
    // In place: later readers and SplitBackward find the concatenation here.
    join.users = module_.at(id).users;
    module_.instructions[id] = std::move(join);
  }

  // A tree of so many parts is not deeper than them.
  bool AddLeaves(ValueId id, int depth, bool is_root,
                 std::vector<ValueId>& leaves) const {
    const Instruction& it = module_.at(id);
    if (leaves.size() > kMaxParts || depth < 0 ||
        (!is_root && it.users.size() != 1)) {
      return false;
    }
    if (it.attributes().opcode() != "add" || it.operands.size() != 2) {
      leaves.push_back(id);
      return true;
    }
    return AddLeaves(it.operands[0], depth - 1, false, leaves) &&
           AddLeaves(it.operands[1], depth - 1, false, leaves);
  }

  bool IsZero(ValueId id) const {
    const Instruction& it = module_.at(id);
    if (it.opcode != Opcode::kConstant) return false;
    const hlo::LiteralProto& literal = it.attributes().literal();
    for (float value : literal.f32s()) {
      if (value != 0) return false;
    }
    for (double value : literal.f64s()) {
      if (value != 0) return false;
    }
    for (const std::string* bytes : {&literal.bf16s(), &literal.f16s()}) {
      for (char byte : *bytes) {
        if (byte != 0) return false;
      }
    }
    return IsFloating(it.shape.element_type);
  }

  void SplitBackward(ValueId id) {
    if (module_.at(id).opcode != Opcode::kConcatenate ||
        module_.at(id).operands.size() > kMaxParts) {
      return;
    }
    const int dim = static_cast<int>(module_.at(id).attributes().dimensions(0));
    const std::vector<ValueId> users = module_.at(id).users;
    bool meets_weight = false;
    for (ValueId user : users) {
      if (!IsContraction(module_, user)) continue;
      for (ValueId operand : module_.at(user).operands) {
        if (operand == id) continue;
        const std::optional<ValueId> weight = BaseParameter(operand);
        meets_weight |= weight.has_value() && fused_weights_.contains(*weight);
      }
    }
    if (!meets_weight) return;
    for (ValueId user : users) {
      const Instruction& it = module_.at(user);
      if (it.opcode == Opcode::kDot) {
        replaced_[user] = SplitDot(user, id, dim);
      } else if (it.opcode == Opcode::kReduce && it.operands.size() == 2 &&
                 it.operands[0] == id) {
        SplitReduce(user, id, dim);
      }
    }
  }

  ValueId SplitDot(ValueId user, ValueId joined, int dim) {
    const Instruction dot = module_.at(user);
    const DotDims dims = GetDotDims(module_, user);
    const int side = dot.operands[0] == joined ? 0 : 1;
    const DotDims::Dim& cut = dims.side[side][dim];
    if (cut.role == DotRole::kBatch || dot.operands[0] == dot.operands[1]) {
      return user;
    }
    std::vector<ValueId> parts;
    int64_t at = 0;
    const std::vector<ValueId> pieces = module_.at(joined).operands;
    for (ValueId piece : pieces) {
      const int64_t size = module_.at(piece).shape.dims[dim];
      Instruction part = dot;
      part.users.clear();
      part.operands[side] = piece;
      if (cut.role == DotRole::kContracting) {
        part.operands[1 - side] =
            PushSlice(dot.operands[1 - side], *cut.partner, {at, at + size}, 0);
      } else {
        part.shape.dims[*cut.output] = size;
      }
      parts.push_back(Append(std::move(part)));
      at += size;
    }
    if (cut.role == DotRole::kFree) {
      return AppendConcatenate(parts, *cut.output, dot.shape);
    }
    hlo::HloInstructionProto* const sum_attributes = module_.NewAttributes();
    sum_attributes->set_opcode("add");
    ValueId sum = parts[0];
    for (size_t i = 1; i < parts.size(); ++i) {
      Instruction add;
      add.opcode = Opcode::kElementwise;
      add.loop = dot.loop;
      add.source = sum_attributes;
      add.shape = dot.shape;
      add.operands = {sum, parts[i]};
      sum = Append(std::move(add));
    }
    return sum;
  }

  void SplitReduce(ValueId user, ValueId joined, int dim) {
    std::optional<int> output;
    for (const DimLink& link : FindDimLinks(module_, user, 0)) {
      if (link.in == dim) output = link.out;
    }
    if (!output.has_value()) return;
    const Instruction reduce = module_.at(user);
    std::vector<ValueId> parts;
    const std::vector<ValueId> pieces = module_.at(joined).operands;
    for (ValueId piece : pieces) {
      Instruction part = reduce;
      part.users.clear();
      part.operands[0] = piece;
      part.shape.dims[*output] = module_.at(piece).shape.dims[dim];
      parts.push_back(Append(std::move(part)));
    }
    replaced_[user] = AppendConcatenate(parts, *output, reduce.shape);
  }

  ValueId AppendConcatenate(const std::vector<ValueId>& parts, int dim,
                            const Shape& shape) {
    Instruction join;
    join.opcode = Opcode::kConcatenate;
    join.loop = module_.at(parts[0]).loop;
    join.source = ConcatenateAttributes(dim);
    join.shape = shape;
    join.operands = parts;
    return Append(std::move(join));
  }

  const hlo::HloInstructionProto* ConcatenateAttributes(int dim) {
    hlo::HloInstructionProto* const attributes = module_.NewAttributes();
    attributes->set_opcode("concatenate");
    attributes->add_dimensions(dim);
    return attributes;
  }

  ValueId Append(Instruction instruction) {
    module_.instructions.push_back(std::move(instruction));
    return ValueId(module_.instructions.size() - 1);
  }

  ValueId Current(ValueId id) const {
    while (id < ValueId(replaced_.size()) && replaced_[id] != id) {
      id = replaced_[id];
    }
    return id;
  }

  Module& module_;
  std::map<std::tuple<ValueId, int, Range>, ValueId> pushed_;
  std::vector<ValueId> replaced_;  // by ValueId before the rewrite; or itself
  int max_size_ = 0;               // size of the module to stop at
  bool is_cut_short_ = false;
  std::set<ValueId> fused_weights_;
};

}  // namespace

int SplitFusedContractions(Module& module, bool* cut_short) {
  FusedSplitter splitter(module);
  const int split = splitter.Run();
  if (cut_short != nullptr) *cut_short = splitter.is_cut_short();
  return split;
}

}  // namespace meshwright::ir
