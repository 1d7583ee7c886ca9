#include "coordinator/ir/verify.h"

#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/ir/dot_dims.h"

namespace meshwright::ir {
namespace {

absl::Status Bad(const std::string& what) {
  return absl::InvalidArgumentError(what);
}

absl::Status VerifyComputation(const hlo::HloComputationProto& computation,
                               const std::unordered_set<int64_t>& callees) {
  std::unordered_set<int64_t> defined;
  std::unordered_set<int64_t> parameters;
  for (const hlo::HloInstructionProto& instruction :
       computation.instructions()) {
    const std::string where = absl::StrCat("instruction ", instruction.name(),
                                           " of ", computation.name());
    for (int64_t operand : instruction.operand_ids()) {
      if (!defined.contains(operand)) {
        return Bad(absl::StrCat(where, " uses id ", operand,
                                ", which no instruction before it defines"));
      }
    }
    if (!defined.insert(instruction.id()).second) {
      return Bad(absl::StrCat(where, " has an id that is taken already"));
    }
    for (int64_t callee : instruction.called_computation_ids()) {
      if (!callees.contains(callee)) {
        return Bad(absl::StrCat(where, " calls computation ", callee,
                                ", which the module does not define before ",
                                computation.name()));
      }
    }
    if (instruction.opcode() == "parameter" &&
        !parameters.insert(instruction.parameter_number()).second) {
      return Bad(absl::StrCat(where, " repeats parameter number ",
                              instruction.parameter_number()));
    }
  }
  for (int64_t number : parameters) {
    if (number < 0 || number >= static_cast<int64_t>(parameters.size())) {
      return Bad(absl::StrCat("computation ", computation.name(),
                              " skips a parameter number"));
    }
  }
  if (!defined.contains(computation.root_id())) {
    return Bad(absl::StrCat("computation ", computation.name(),
                            " has no root instruction"));
  }
  return absl::OkStatus();
}

// Checks of one instruction; each names what is wrong, the caller where.
class ShapeChecker {
 public:
  ShapeChecker(const Module& module, ValueId id)
      : module_(module), it_(module.at(id)) {}

  const char* Check() const {
    switch (it_.opcode) {
      case Opcode::kElementwise:
        return CheckElementwise();
      case Opcode::kConvert:
      case Opcode::kCopy:
        return Operands(1) && Operand(0).dims == it_.shape.dims ? nullptr
                                                                : kDims;
      case Opcode::kOptimizationBarrier:
        return Operands(1) && Operand(0) == it_.shape ? nullptr : kDims;
      case Opcode::kBitcast:
        return Operands(1) ? nullptr : kOperands;
      case Opcode::kSelect:
        return Operands(3) ? CheckElementwise() : kOperands;
      case Opcode::kBroadcast:
        return CheckBroadcast();
      case Opcode::kReshape:
        if (!Operands(1)) return kOperands;
        return Operand(0).element_count() == it_.shape.element_count()
                   ? nullptr
                   : "does not keep the number of elements";
      case Opcode::kTranspose:
        return CheckTranspose();
      case Opcode::kReverse:
        return Operands(1) && Operand(0).dims == it_.shape.dims ? nullptr
                                                                : kDims;
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
      case Opcode::kGather:
        return CheckGather();
      case Opcode::kScatter:
        return CheckScatter();
      case Opcode::kIota:
        return Operands(0) && DimensionsInRange(it_.shape.rank()) &&
                       it_.attributes().dimensions_size() == 1
                   ? nullptr
                   : kDims;
      case Opcode::kSort:
        return it_.operands.empty() ? kOperands
               : DimensionsInRange(Operand(0).rank()) &&
                       it_.attributes().dimensions_size() == 1
                   ? nullptr
                   : kDims;
      case Opcode::kReduceWindow:
        return CheckReduceWindow();
      case Opcode::kDynamicSlice:
        return !it_.operands.empty() && Operand(0).rank() == it_.shape.rank()
                   ? nullptr
                   : kDims;
      case Opcode::kDynamicUpdateSlice:
        return it_.operands.size() >= 2 && Operand(0).dims == it_.shape.dims &&
                       Operand(1).rank() == it_.shape.rank()
                   ? nullptr
                   : kDims;
      case Opcode::kConstant:
        return CheckConstant();
      default:
        return nullptr;
    }
  }

 private:
  static constexpr const char* kDims = "has dimensions that do not fit";
  static constexpr const char* kOperands = "has the wrong number of operands";

  const Shape& Operand(int index) const {
    return module_.at(it_.operands[index]).shape;
  }
  bool Operands(size_t count) const { return it_.operands.size() == count; }
  bool DimensionsInRange(int rank) const {
    std::unordered_set<int64_t> seen;
    for (int64_t dim : it_.attributes().dimensions()) {
      if (dim < 0 || dim >= rank || !seen.insert(dim).second) return false;
    }
    return true;
  }

  const char* CheckElementwise() const {
    if (it_.operands.empty()) return kOperands;
    for (size_t i = 0; i < it_.operands.size(); ++i) {
      // clamp and select may take scalars beside arrays.
      if (Operand(i).dims != it_.shape.dims && !Operand(i).is_scalar()) {
        return kDims;
      }
    }
    return nullptr;
  }

  const char* CheckBroadcast() const {
    if (!Operands(1)) return kOperands;
    if (it_.attributes().dimensions_size() != Operand(0).rank() ||
        !DimensionsInRange(it_.shape.rank())) {
      return kDims;
    }
    for (int i = 0; i < Operand(0).rank(); ++i) {
      if (Operand(0).dims[i] !=
          it_.shape.dims[it_.attributes().dimensions(i)]) {
        return kDims;
      }
    }
    return nullptr;
  }

  const char* CheckTranspose() const {
    if (!Operands(1)) return kOperands;
    if (it_.attributes().dimensions_size() != Operand(0).rank() ||
        it_.shape.rank() != Operand(0).rank() ||
        !DimensionsInRange(it_.shape.rank())) {
      return kDims;
    }
    for (int i = 0; i < it_.shape.rank(); ++i) {
      if (it_.shape.dims[i] !=
          Operand(0).dims[it_.attributes().dimensions(i)]) {
        return kDims;
      }
    }
    return nullptr;
  }

  const char* CheckReduce() const {
    if (it_.operands.size() < 2 || it_.operands.size() % 2 != 0) {
      return kOperands;
    }
    if (!DimensionsInRange(Operand(0).rank())) return kDims;
    std::vector<int64_t> kept;
    for (int i = 0; i < Operand(0).rank(); ++i) {
      bool reduced = false;
      for (int64_t dim : it_.attributes().dimensions()) reduced |= dim == i;
      if (!reduced) kept.push_back(Operand(0).dims[i]);
    }
    const size_t inputs = it_.operands.size() / 2;
    for (size_t i = 0; i < inputs; ++i) {
      if (Operand(i).dims != Operand(0).dims) return kDims;
    }
    if (it_.shape.is_tuple()) {
      if (it_.shape.elements.size() != inputs) return kDims;
      for (const Shape& element : it_.shape.elements) {
        if (element.dims != kept) return kDims;
      }
      return nullptr;
    }
    return inputs == 1 && it_.shape.dims == kept ? nullptr : kDims;
  }

  const char* CheckDot() const {
    if (!Operands(2)) return kOperands;
    const auto dims = MakeDotDims(it_.attributes().dot_dimension_numbers(),
                                  Operand(0), Operand(1));
    if (!dims.ok() ||
        dims->OutputDims(Operand(0), Operand(1)) != it_.shape.dims) {
      return kDims;
    }
    return nullptr;
  }

  const char* CheckSlice() const {
    if (!Operands(1)) return kOperands;
    const auto& slices = it_.attributes().slice_dimensions();
    if (slices.size() != Operand(0).rank() ||
        it_.shape.rank() != slices.size()) {
      return kDims;
    }
    for (int i = 0; i < slices.size(); ++i) {
      const auto& slice = slices[i];
      if (slice.start() < 0 || slice.limit() < slice.start() ||
          slice.limit() > Operand(0).dims[i] || slice.stride() < 1 ||
          (slice.limit() - slice.start() + slice.stride() - 1) /
                  slice.stride() !=
              it_.shape.dims[i]) {
        return kDims;
      }
    }
    return nullptr;
  }

  const char* CheckConcatenate() const {
    if (it_.operands.empty()) return kOperands;
    if (it_.attributes().dimensions_size() != 1 ||
        !DimensionsInRange(it_.shape.rank())) {
      return kDims;
    }
    const int axis = it_.attributes().dimensions(0);
    int64_t total = 0;
    for (size_t i = 0; i < it_.operands.size(); ++i) {
      if (Operand(i).rank() != it_.shape.rank()) return kDims;
      for (int dim = 0; dim < it_.shape.rank(); ++dim) {
        if (dim != axis && Operand(i).dims[dim] != it_.shape.dims[dim]) {
          return kDims;
        }
      }
      total += Operand(i).dims[axis];
    }
    return total == it_.shape.dims[axis] ? nullptr : kDims;
  }

  const char* CheckPad() const {
    if (!Operands(2)) return kOperands;
    const auto& pads = it_.attributes().padding_config().dimensions();
    if (pads.size() != it_.shape.rank() || Operand(0).rank() != pads.size()) {
      return kDims;
    }
    for (int i = 0; i < pads.size(); ++i) {
      constexpr int64_t kLimit = int64_t{1} << 48;
      const int64_t size = Operand(0).dims[i];
      if (std::abs(pads[i].edge_padding_low()) > kLimit ||
          std::abs(pads[i].edge_padding_high()) > kLimit ||
          pads[i].interior_padding() < 0 ||
          pads[i].interior_padding() > (int64_t{1} << 24)) {
        return kDims;
      }
      const __int128 inner =
          static_cast<__int128>(std::max<int64_t>(size - 1, 0)) *
          pads[i].interior_padding();
      if (inner + size + pads[i].edge_padding_low() +
              pads[i].edge_padding_high() !=
          it_.shape.dims[i]) {
        return kDims;
      }
    }
    return nullptr;
  }

  const char* CheckTupleElement() const {
    if (!Operands(1)) return kOperands;
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
      return kOperands;
    }
    for (size_t i = 0; i < it_.operands.size(); ++i) {
      if (!(it_.shape.elements[i] == Operand(i))) return kDims;
    }
    return nullptr;
  }

  const char* CheckGather() const {
    if (!Operands(2)) return kOperands;
    const auto& numbers = it_.attributes().gather_dimension_numbers();
    const int rank = Operand(0).rank();
    if (it_.attributes().gather_slice_sizes_size() != rank) return kDims;
    for (int i = 0; i < rank; ++i) {
      const int64_t size = it_.attributes().gather_slice_sizes(i);
      if (size < 0 || size > Operand(0).dims[i]) return kDims;
    }
    const int outer_rank = it_.shape.rank() - numbers.offset_dims_size();
    const int index_rank = Operand(1).rank();
    if (!InRange(numbers.offset_dims(), it_.shape.rank()) ||
        !InRange(numbers.collapsed_slice_dims(), rank) ||
        !InRange(numbers.start_index_map(), rank) ||
        !InRange(numbers.operand_batching_dims(), rank) ||
        !InRange(numbers.start_indices_batching_dims(), index_rank) ||
        numbers.operand_batching_dims_size() !=
            numbers.start_indices_batching_dims_size() ||
        numbers.index_vector_dim() < 0 ||
        numbers.index_vector_dim() > index_rank ||
        outer_rank !=
            index_rank - (numbers.index_vector_dim() < index_rank ? 1 : 0) ||
        numbers.offset_dims_size() + numbers.collapsed_slice_dims_size() +
                numbers.operand_batching_dims_size() !=
            rank) {
      return kDims;
    }
    return nullptr;
  }

  const char* CheckScatter() const {
    if (it_.operands.size() < 3 || it_.operands.size() % 2 != 1) {
      return kOperands;
    }
    const size_t inputs = it_.operands.size() / 2;
    const auto& numbers = it_.attributes().scatter_dimension_numbers();
    const Shape& updates = Operand(inputs + 1);
    const int rank = Operand(0).rank();
    const int index_rank = Operand(inputs).rank();
    if (!it_.shape.is_tuple() && Operand(0).dims != it_.shape.dims) {
      return kDims;
    }
    if (!InRange(numbers.update_window_dims(), updates.rank()) ||
        !InRange(numbers.inserted_window_dims(), rank) ||
        !InRange(numbers.scatter_dims_to_operand_dims(), rank) ||
        !InRange(numbers.input_batching_dims(), rank) ||
        !InRange(numbers.scatter_indices_batching_dims(), index_rank) ||
        numbers.index_vector_dim() < 0 ||
        numbers.index_vector_dim() > index_rank ||
        updates.rank() - numbers.update_window_dims_size() !=
            index_rank - (numbers.index_vector_dim() < index_rank ? 1 : 0) ||
        numbers.update_window_dims_size() +
                numbers.inserted_window_dims_size() +
                numbers.input_batching_dims_size() !=
            rank) {
      return kDims;
    }
    return nullptr;
  }

  const char* CheckReduceWindow() const {
    if (it_.operands.size() < 2) return kOperands;
    const int rank = Operand(0).rank();
    return it_.attributes().window().dimensions_size() == rank &&
                   (it_.shape.is_tuple() || it_.shape.rank() == rank)
               ? nullptr
               : kDims;
  }

  const char* CheckConstant() const {
    const hlo::LiteralProto& literal = it_.attributes().literal();
    if (!literal.has_shape()) return nullptr;
    const auto shape = ShapeFromProto(literal.shape());
    return shape.ok() && shape->dims == it_.shape.dims
               ? nullptr
               : "holds a literal of another shape";
  }

  template <typename Repeated>
  static bool InRange(const Repeated& dims, int rank) {
    std::unordered_set<int64_t> seen;
    for (int64_t dim : dims) {
      if (dim < 0 || dim >= rank || !seen.insert(dim).second) return false;
    }
    return true;
  }

  const Module& module_;
  const Instruction& it_;
};

}  // namespace

absl::Status VerifyStructure(const hlo::HloModuleProto& module) {
  if (module.computations().empty()) {
    return Bad("the file holds no HLO module");
  }
  std::unordered_set<int64_t> before;
  bool has_entry = false;
  for (const hlo::HloComputationProto& computation : module.computations()) {
    RETURN_IF_ERROR(VerifyComputation(computation, before));
    if (!before.insert(computation.id()).second) {
      return Bad(absl::StrCat("computation ", computation.name(),
                              " has an id that is taken already"));
    }
    has_entry |= computation.id() == module.entry_computation_id();
  }
  if (!has_entry) return Bad("the module has no entry computation");
  return absl::OkStatus();
}

absl::Status VerifyShape(const Module& module, ValueId id) {
  if (const char* problem = ShapeChecker(module, id).Check()) {
    const Instruction& instruction = module.at(id);
    return Bad(absl::StrCat("instruction ", instruction.name(), " (",
                            instruction.attributes().opcode(), " of shape ",
                            ToString(instruction.shape), ") ", problem));
  }
  return absl::OkStatus();
}

}  // namespace meshwright::ir
