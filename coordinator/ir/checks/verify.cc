#include "coordinator/ir/checks/verify.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/ir/checks/op_checks.h"
#include "coordinator/ir/links/dot_dims.h"

namespace meshwright::ir {
namespace {

// Operations that hand a value on as it is, or of which nothing is known: a
// tuple may stand where every other takes or makes arrays.
bool TakesTuples(Opcode opcode) {
  switch (opcode) {
    case Opcode::kUnknown:
    case Opcode::kCall:
    case Opcode::kCarry:
    case Opcode::kCollective:
    case Opcode::kConditional:
    case Opcode::kCopy:
    case Opcode::kCustomCall:
    case Opcode::kGetTupleElement:
    case Opcode::kLoopResult:
    case Opcode::kOptimizationBarrier:
    case Opcode::kTuple:
    case Opcode::kWhile:
      return true;
    default:
      return false;
  }
}

// Checks of one instruction; each names what is wrong, the caller where.
class ShapeChecker {
 public:
  ShapeChecker(const Module& module, ValueId id)
      : module_(module), it_(module.at(id)) {}

  const char* Check() const {
    if (!TakesTuples(it_.opcode)) {
      for (size_t i = 0; i < it_.operands.size(); ++i) {
        if (Operand(i).is_tuple()) return "takes arrays, and a tuple is given";
      }
    }
    switch (it_.opcode) {
      case Opcode::kElementwise:
        return CheckElementwise();
      case Opcode::kConvert:
      case Opcode::kCopy:
      case Opcode::kReverse:
        return Operands(1) && Operand(0).dims == it_.shape.dims ? nullptr
                                                                : kWrongDims;
      case Opcode::kOptimizationBarrier:
        return Operands(1) && Operand(0) == it_.shape ? nullptr : kWrongDims;
      case Opcode::kSelect:
        return Operands(3) ? CheckElementwise() : kWrongOperands;
      case Opcode::kReshape:
        if (!Operands(1)) return kWrongOperands;
        return Operand(0).element_count() == it_.shape.element_count()
                   ? nullptr
                   : "does not keep the number of elements";
      case Opcode::kBroadcast:
      case Opcode::kTranspose:
        return CheckMoved();
      case Opcode::kReduce:
        return CheckReduce();
      case Opcode::kDot:
        return CheckDot();
      case Opcode::kSlice:
        return CheckSlice();
      case Opcode::kConcatenate:
        return CheckConcatenate();
      case Opcode::kPad:
        return CheckPad();
      case Opcode::kGetTupleElement:
        return CheckTupleElement();
      case Opcode::kTuple:
        return CheckTuple();
      case Opcode::kIota:
        return Operands(0) && DimensionsInRange(it_.shape.rank()) &&
                       it_.attributes().dimensions_size() == 1
                   ? nullptr
                   : kWrongDims;
      case Opcode::kSort:
        return CheckSort();
      case Opcode::kConstant:
        return CheckConstant();
      default:
        return CheckArithmetic(module_, it_);
    }
  }

 private:
  const Shape& Operand(int index) const {
    return module_.at(it_.operands[index]).shape;
  }
  bool Operands(size_t count) const { return it_.operands.size() == count; }
  bool DimensionsInRange(int rank) const {
    return AreDistinctInRange(it_.attributes().dimensions(), rank);
  }

  const char* CheckElementwise() const {
    if (it_.operands.empty()) return kWrongOperands;
    for (size_t i = 0; i < it_.operands.size(); ++i) {
      // clamp and select may take scalars beside arrays.
      if (Operand(i).dims != it_.shape.dims && !Operand(i).is_scalar()) {
        return kWrongDims;
      }
    }
    return nullptr;
  }

  // The dimensions named are those of the result for a broadcast, of the
  // operand for a transpose.
  const char* CheckMoved() const {
    if (!Operands(1)) return kWrongOperands;
    const auto& named = it_.attributes().dimensions();
    const bool transpose = it_.opcode == Opcode::kTranspose;
    if (named.size() != Operand(0).rank() ||
        (transpose && it_.shape.rank() != Operand(0).rank()) ||
        !DimensionsInRange(it_.shape.rank())) {
      return kWrongDims;
    }
    const auto& from = transpose ? it_.shape.dims : Operand(0).dims;
    const auto& to = transpose ? Operand(0).dims : it_.shape.dims;
    for (int i = 0; i < named.size(); ++i) {
      if (from[i] != to[named[i]]) return kWrongDims;
    }
    return nullptr;
  }

  const char* CheckReduce() const {
    const size_t inputs = it_.operands.size() / 2;
    if (inputs == 0 || it_.operands.size() % 2 != 0) return kWrongOperands;
    const auto& reduced = it_.attributes().dimensions();
    if (!DimensionsInRange(Operand(0).rank())) return kWrongDims;
    std::vector<int64_t> kept;
    for (int i = 0; i < Operand(0).rank(); ++i) {
      if (!Contains(reduced, i)) kept.push_back(Operand(0).dims[i]);
    }
    for (size_t i = 0; i < inputs; ++i) {
      if (Operand(i).dims != Operand(0).dims) return kWrongDims;
    }
    const std::vector<int64_t>* const out = CollectUniformDims(it_.shape);
    const size_t results = it_.shape.is_tuple() ? it_.shape.elements.size() : 1;
    return out != nullptr && *out == kept && results == inputs ? nullptr
                                                               : kWrongDims;
  }

  const char* CheckDot() const {
    if (!Operands(2)) return kWrongOperands;
    const auto dims = MakeDotDims(it_.attributes().dot_dimension_numbers(),
                                  Operand(0), Operand(1));
    if (!dims.ok() ||
        dims->FindOutputDims(Operand(0), Operand(1)) != it_.shape.dims) {
      return kWrongDims;
    }
    return nullptr;
  }

  const char* CheckSlice() const {
    if (!Operands(1)) return kWrongOperands;
    const auto& slices = it_.attributes().slice_dimensions();
    if (slices.size() != Operand(0).rank() ||
        it_.shape.rank() != slices.size()) {
      return kWrongDims;
    }
    for (int i = 0; i < slices.size(); ++i) {
      const auto& slice = slices[i];
      if (slice.start() < 0 || slice.limit() < slice.start() ||
          slice.limit() > Operand(0).dims[i] || slice.stride() < 1 ||
          (slice.limit() - slice.start() + slice.stride() - 1) /
                  slice.stride() !=
              it_.shape.dims[i]) {
        return kWrongDims;
      }
    }
    return nullptr;
  }

  const char* CheckConcatenate() const {
    if (it_.operands.empty()) return kWrongOperands;
    if (it_.attributes().dimensions_size() != 1 ||
        !DimensionsInRange(it_.shape.rank())) {
      return kWrongDims;
    }
    const int axis = it_.attributes().dimensions(0);
    int64_t total = 0;
    for (size_t i = 0; i < it_.operands.size(); ++i) {
      if (Operand(i).rank() != it_.shape.rank()) return kWrongDims;
      for (int dim = 0; dim < it_.shape.rank(); ++dim) {
        if (dim != axis && Operand(i).dims[dim] != it_.shape.dims[dim]) {
          return kWrongDims;
        }
      }
      total += Operand(i).dims[axis];
    }
    return total == it_.shape.dims[axis] ? nullptr : kWrongDims;
  }

  const char* CheckPad() const {
    if (!Operands(2)) return kWrongOperands;
    const auto& pads = it_.attributes().padding_config().dimensions();
    if (pads.size() != it_.shape.rank() || Operand(0).rank() != pads.size()) {
      return kWrongDims;
    }
    for (int i = 0; i < pads.size(); ++i) {
      constexpr int64_t kLimit = int64_t{1} << 48;
      const int64_t size = Operand(0).dims[i];
      if (std::abs(pads[i].edge_padding_low()) > kLimit ||
          std::abs(pads[i].edge_padding_high()) > kLimit ||
          pads[i].interior_padding() < 0 ||
          pads[i].interior_padding() > (int64_t{1} << 24)) {
        return kWrongDims;
      }
      const __int128 inner =
          static_cast<__int128>(std::max<int64_t>(size - 1, 0)) *
          pads[i].interior_padding();
      if (inner + size + pads[i].edge_padding_low() +
              pads[i].edge_padding_high() !=
          it_.shape.dims[i]) {
        return kWrongDims;
      }
    }
    return nullptr;
  }

  const char* CheckTupleElement() const {
    if (!Operands(1)) return kWrongOperands;
    const int64_t index = it_.attributes().tuple_index();
    if (!Operand(0).is_tuple() || index < 0 ||
        index >= static_cast<int64_t>(Operand(0).elements.size()) ||
        !(Operand(0).elements[index] == it_.shape)) {
      return "does not name an element of its operand";
    }
    return nullptr;
  }

  const char* CheckTuple() const {
    if (!it_.shape.is_tuple() ||
        it_.shape.elements.size() != it_.operands.size()) {
      return kWrongOperands;
    }
    for (size_t i = 0; i < it_.operands.size(); ++i) {
      if (!(it_.shape.elements[i] == Operand(i))) return kWrongDims;
    }
    return nullptr;
  }

  const char* CheckSort() const {
    if (it_.operands.empty()) return kWrongOperands;
    if (it_.attributes().dimensions_size() != 1 ||
        !DimensionsInRange(Operand(0).rank())) {
      return kWrongDims;
    }
    const bool one = !it_.shape.is_tuple();
    if (Operands(one ? 1 : it_.shape.elements.size())) {
      for (size_t i = 0; i < it_.operands.size(); ++i) {
        const Shape& sorted = one ? it_.shape : it_.shape.elements[i];
        if (Operand(i).dims != Operand(0).dims ||
            sorted.dims != Operand(0).dims) {
          return kWrongDims;
        }
      }
      return nullptr;
    }
    return kWrongOperands;
  }

  const char* CheckConstant() const {
    const hlo::LiteralProto& literal = it_.attributes().literal();
    if (!literal.has_shape()) return nullptr;
    const auto shape = ShapeFromProto(literal.shape());
    return shape.ok() && shape->dims == it_.shape.dims
               ? nullptr
               : "holds a literal of another shape";
  }

  const Module& module_;
  const Instruction& it_;
};

}  // namespace

absl::Status VerifyShape(const Module& module, ValueId id) {
  if (const char* problem = ShapeChecker(module, id).Check()) {
    const Instruction& instruction = module.at(id);
    return absl::InvalidArgumentError(
        absl::StrCat("instruction ", instruction.name(), " (",
                     instruction.attributes().opcode(), " of shape ",
                     ToString(instruction.shape), ") ", problem));
  }
  return absl::OkStatus();
}

}  // namespace meshwright::ir
