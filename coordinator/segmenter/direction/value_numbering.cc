#include "coordinator/segmenter/direction/value_numbering.h"

#include <bit>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "base/fingerprint.h"
#include "coordinator/segmenter/direction/hash.h"
#include "coordinator/segmenter/direction/layout_walk.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

// Values that are equal to nothing but themselves.
bool IsUnique(Opcode opcode) {
  switch (opcode) {
    case Opcode::kParameter:
    case Opcode::kUnknown:
    case Opcode::kCustomCall:
    case Opcode::kWhile:
    case Opcode::kConditional:
      return true;
    default:
      return false;
  }
}

// The number all elements of a value are, where that is known.
class Splats {
 public:
  explicit Splats(const Module& module)
      : module_(module), numbers_(module.size()) {}

  // Asked in dependency order: it looks at the operands' answers.
  std::optional<double> Find(ValueId id) {
    return numbers_[id] = Evaluate(module_.at(id));
  }

 private:
  std::optional<double> Evaluate(const ir::Instruction& it) const {
    switch (it.opcode) {
      case Opcode::kConstant:
        return it.shape.is_scalar() ? Number(it.attributes().literal())
                                    : std::nullopt;
      case Opcode::kBroadcast:
      case Opcode::kReshape:
      case Opcode::kCopy:
      case Opcode::kOptimizationBarrier:
        return numbers_[it.operands[0]];
      case Opcode::kConvert: {
        // Small whole numbers are the same in every type.
        const auto number = numbers_[it.operands[0]];
        const bool whole = number.has_value() && *number >= 0 &&
                           *number <= kLargestWhole &&
                           *number == std::floor(*number);
        return whole ? number : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }

  static std::optional<double> Number(const hlo::LiteralProto& literal) {
    if (literal.f32s_size() == 1) return literal.f32s(0);
    if (literal.s32s_size() == 1) return literal.s32s(0);
    if (literal.s64s_size() == 1) {
      return static_cast<double>(literal.s64s(0));
    }
    return std::nullopt;
  }

  static constexpr double kLargestWhole = 127;

  const Module& module_;
  std::vector<std::optional<double>> numbers_;  // by ValueId
};

}  // namespace

std::vector<ValueId> NumberValues(const Module& module,
                                  const std::vector<uint64_t>& hashes) {
  std::vector<ValueId> classes(module.size());
  std::unordered_map<uint64_t, ValueId> known;
  std::unordered_map<uint64_t, ValueId> numbers;  // constants of one number
  known.reserve(module.size());
  Splats splats(module);
  for (const ValueId id : module.ids()) {
    const ir::Instruction& it = module.at(id);
    classes[id] = id;
    const std::optional<double> splat = splats.Find(id);
    if (splat.has_value()) {
      uint64_t key = HashShape(it.shape);
      key = base::Mix(key, std::bit_cast<uint64_t>(*splat));
      classes[id] = numbers.emplace(key, id).first->second;
      continue;
    }
    if (IsUnique(it.opcode)) continue;
    const std::optional<ValueId> same = IsSameValue(module, id);
    if (same.has_value()) {
      classes[id] = classes[*same];
      continue;
    }
    if (it.opcode == Opcode::kReshape) {
      const ir::Instruction& source = module.at(classes[it.operands[0]]);
      if (source.opcode == Opcode::kReshape &&
          module.at(source.operands[0]).shape == it.shape) {
        classes[id] = classes[source.operands[0]];
        continue;
      }
    }
    uint64_t key = hashes[id];
    const bool slice_of_stack =
        it.opcode == Opcode::kDynamicSlice && it.loop.has_value();
    const size_t counted = slice_of_stack ? 1 : it.operands.size();
    for (size_t k = 0; k < counted; ++k) {
      key = base::Mix(key, static_cast<uint64_t>(classes[it.operands[k]]));
    }
    const auto [found, added] = known.emplace(key, id);
    const ir::Instruction& first = module.at(found->second);
    if (!added && first.opcode == it.opcode && first.shape == it.shape) {
      classes[id] = found->second;
    }
  }
  return classes;
}

}  // namespace meshwright::segmenter
