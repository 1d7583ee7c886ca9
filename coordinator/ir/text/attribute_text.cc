#include "coordinator/ir/text/attribute_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/ir/text/enumerated_attributes.h"
#include "coordinator/ir/text/structured_attributes.h"

namespace meshwright::ir {
namespace {

using Numbers = google::protobuf::RepeatedField<int64_t>;
using Reader = absl::Status (*)(TextCursor& value, AttributeTarget& target);

// Readers of one field each, made from the field's accessor.
template <Numbers* (hlo::HloInstructionProto::*field)()>
absl::Status List(TextCursor& value, AttributeTarget& target) {
  return ReadNumbers(value, *(target.it.*field)());
}

template <void (hlo::HloInstructionProto::*set)(int64_t)>
absl::Status Number(TextCursor& value, AttributeTarget& target) {
  ASSIGN_OR_RETURN(const int64_t number, value.Integer());
  (target.it.*set)(number);
  return absl::OkStatus();
}

template <void (hlo::HloInstructionProto::*set)(int32_t)>
absl::Status SmallNumber(TextCursor& value, AttributeTarget& target) {
  ASSIGN_OR_RETURN(const int64_t number, value.Integer());
  if (number < 0 || number > 1 << 20) return value.Error("is out of range");
  (target.it.*set)(static_cast<int32_t>(number));
  return absl::OkStatus();
}

template <void (hlo::HloInstructionProto::*set)(bool)>
absl::Status Flag(TextCursor& value, AttributeTarget& target) {
  ASSIGN_OR_RETURN(const bool flag, value.Boolean());
  (target.it.*set)(flag);
  return absl::OkStatus();
}

template <std::string* (hlo::HloInstructionProto::*field)()>
absl::Status Word(TextCursor& value, AttributeTarget& target) {
  *(target.it.*field)() = std::string(value.Word());
  return absl::OkStatus();
}

template <std::string* (hlo::HloInstructionProto::*field)()>
absl::Status Quoted(TextCursor& value, AttributeTarget& target) {
  ASSIGN_OR_RETURN(*(target.it.*field)(), value.QuotedString());
  return absl::OkStatus();
}

template <Numbers* (hlo::DotDimensionNumbers::*field)()>
absl::Status DotDims(TextCursor& value, AttributeTarget& target) {
  return ReadNumbers(value,
                     *(target.it.mutable_dot_dimension_numbers()->*field)());
}

// Gather and scatter share index_vector_dim.
template <Numbers* (hlo::GatherDimensionNumbers::*field)()>
absl::Status GatherDims(TextCursor& value, AttributeTarget& target) {
  return ReadNumbers(value,
                     *(target.it.mutable_gather_dimension_numbers()->*field)());
}

template <Numbers* (hlo::ScatterDimensionNumbers::*field)()>
absl::Status ScatterDims(TextCursor& value, AttributeTarget& target) {
  return ReadNumbers(
      value, *(target.it.mutable_scatter_dimension_numbers()->*field)());
}

absl::Status IndexVectorDim(TextCursor& value, AttributeTarget& target) {
  ASSIGN_OR_RETURN(const int64_t dim, value.Integer());
  if (target.it.opcode() == "scatter") {
    target.it.mutable_scatter_dimension_numbers()->set_index_vector_dim(dim);
  } else {
    target.it.mutable_gather_dimension_numbers()->set_index_vector_dim(dim);
  }
  return absl::OkStatus();
}

// One callee or {several}, at `place` among the callees of the instruction.
template <int place>
absl::Status Callees(TextCursor& value, AttributeTarget& target) {
  const bool braces = value.Consume('{');
  if (braces && value.Consume('}')) return absl::OkStatus();
  int next = place;
  do {
    const TextCursor start = value;
    const std::string_view name = value.Name();
    const auto found = target.computations.find(name);
    if (found == target.computations.end()) {
      return start.Error(absl::StrCat("calls computation '",
                                      std::string(name.substr(0, 80)),
                                      "', which the text does not define "
                                      "before"));
    }
    target.callees.emplace_back(next++, found->second);
  } while (braces && value.Consume(','));
  return absl::OkStatus();
}

absl::Status ControlPredecessors(TextCursor& value, AttributeTarget& target) {
  RETURN_IF_ERROR(value.Expect('{'));
  if (value.Consume('}')) return absl::OkStatus();
  do {
    const auto found = target.instructions.find(value.Name());
    if (found == target.instructions.end()) {
      return value.Error("a control predecessor is not defined before");
    }
    target.it.add_control_predecessor_ids(found->second);
  } while (value.Consume(','));
  return value.Expect('}');
}

// JSON stands as it is, anything else in quotes.
absl::Status BackendConfig(TextCursor& value, AttributeTarget& target) {
  if (value.Peek() == '"') {
    ASSIGN_OR_RETURN(*target.it.mutable_backend_config(), value.QuotedString());
  } else {
    target.it.set_backend_config(std::string(value.Rest()));
  }
  return absl::OkStatus();
}

template <absl::Status (*read)(TextCursor&, hlo::HloInstructionProto&)>
absl::Status Structured(TextCursor& value, AttributeTarget& target) {
  return read(value, target.it);
}

const std::unordered_map<std::string_view, Reader>& Readers() {
  using It = hlo::HloInstructionProto;
  using Dot = hlo::DotDimensionNumbers;
  using Gather = hlo::GatherDimensionNumbers;
  using Scatter = hlo::ScatterDimensionNumbers;
  static const auto* const readers =
      new std::unordered_map<std::string_view, Reader>{
          {"algorithm", Structured<ReadAlgorithm>},
          {"api_version", Structured<ReadApiVersion>},
          {"backend_config", BackendConfig},
          {"batch_group_count", Number<&It::set_batch_group_count>},
          {"body", Callees<0>},
          {"branch_computations", Callees<0>},
          {"called_computations", Callees<0>},
          {"calls", Callees<0>},
          {"channel_id", Number<&It::set_channel_id>},
          {"collapsed_slice_dims",
           GatherDims<&Gather::mutable_collapsed_slice_dims>},
          {"condition", Callees<1>},
          {"control-predecessors", ControlPredecessors},
          {"custom_call_has_side_effect",
           Flag<&It::set_custom_call_has_side_effect>},
          {"custom_call_target", Quoted<&It::mutable_custom_call_target>},
          {"delta", Number<&It::set_delta>},
          {"dim_labels", Structured<ReadDimLabels>},
          {"dimensions", List<&It::mutable_dimensions>},
          {"direction", Word<&It::mutable_comparison_direction>},
          {"distribution", Structured<ReadDistribution>},
          {"dynamic_slice_sizes", List<&It::mutable_dynamic_slice_sizes>},
          {"epsilon", Structured<ReadEpsilon>},
          {"exponent_bits", SmallNumber<&It::set_exponent_bits>},
          {"false_computation", Callees<1>},
          {"feature_group_count", Number<&It::set_feature_group_count>},
          {"feature_index", Number<&It::set_feature_index>},
          {"fft_length", List<&It::mutable_fft_length>},
          {"fft_type", Structured<ReadFftType>},
          {"frontend_attributes", Structured<ReadFrontendAttributes>},
          {"index", Number<&It::set_tuple_index>},
          {"index_vector_dim", IndexVectorDim},
          {"indices_are_sorted", Flag<&It::set_indices_are_sorted>},
          {"input_batching_dims",
           ScatterDims<&Scatter::mutable_input_batching_dims>},
          {"inserted_window_dims",
           ScatterDims<&Scatter::mutable_inserted_window_dims>},
          {"iota_dimension", Structured<ReadIotaDimension>},
          {"is_stable", Flag<&It::set_is_stable>},
          {"k", Number<&It::set_k>},
          {"kind", Word<&It::mutable_fusion_kind>},
          {"largest", Flag<&It::set_largest>},
          {"left_side", Structured<ReadLeftSide>},
          {"lhs_batch_dims", DotDims<&Dot::mutable_lhs_batch_dimensions>},
          {"lhs_contracting_dims",
           DotDims<&Dot::mutable_lhs_contracting_dimensions>},
          {"lower", Structured<ReadLower>},
          {"mantissa_bits", SmallNumber<&It::set_mantissa_bits>},
          {"metadata", Structured<ReadMetadata>},
          {"offset_dims", GatherDims<&Gather::mutable_offset_dims>},
          {"operand_batching_dims",
           GatherDims<&Gather::mutable_operand_batching_dims>},
          {"operand_precision", Structured<ReadOperandPrecision>},
          {"padding", Structured<ReadPadding>},
          {"replica_groups", Structured<ReadReplicaGroups>},
          {"rhs_batch_dims", DotDims<&Dot::mutable_rhs_batch_dimensions>},
          {"rhs_contracting_dims",
           DotDims<&Dot::mutable_rhs_contracting_dimensions>},
          {"scatter", Callees<1>},
          {"scatter_dims_to_operand_dims",
           ScatterDims<&Scatter::mutable_scatter_dims_to_operand_dims>},
          {"scatter_indices_batching_dims",
           ScatterDims<&Scatter::mutable_scatter_indices_batching_dims>},
          {"select", Callees<0>},
          {"slice", Structured<ReadSlice>},
          {"slice_sizes", List<&It::mutable_gather_slice_sizes>},
          {"source_target_pairs", Structured<ReadSourceTargetPairs>},
          {"start_index_map", GatherDims<&Gather::mutable_start_index_map>},
          {"start_indices_batching_dims",
           GatherDims<&Gather::mutable_start_indices_batching_dims>},
          {"to_apply", Callees<0>},
          {"transpose_a", Structured<ReadTransposeA>},
          {"true_computation", Callees<0>},
          {"type", Word<&It::mutable_comparison_type>},
          {"unique_indices", Flag<&It::set_unique_indices>},
          {"unit_diagonal", Structured<ReadUnitDiagonal>},
          {"update_window_dims",
           ScatterDims<&Scatter::mutable_update_window_dims>},
          {"use_global_device_ids", Flag<&It::set_use_global_device_ids>},
          {"window", Structured<ReadWindow>},
      };
  return *readers;
}

const char* DefaultComparison(hlo::PrimitiveType type) {
  switch (type) {
    case hlo::S1:
    case hlo::S2:
    case hlo::S4:
    case hlo::S8:
    case hlo::S16:
    case hlo::S32:
    case hlo::S64:
      return "SIGNED";
    case hlo::PRED:
    case hlo::U1:
    case hlo::U2:
    case hlo::U4:
    case hlo::U8:
    case hlo::U16:
    case hlo::U32:
    case hlo::U64:
      return "UNSIGNED";
    default:
      return "FLOAT";
  }
}

}  // namespace

absl::Status ReadNumbers(TextCursor& cursor, Numbers& numbers) {
  RETURN_IF_ERROR(cursor.Expect('{'));
  if (cursor.Consume('}')) return absl::OkStatus();
  do {
    ASSIGN_OR_RETURN(const int64_t number, cursor.Integer());
    numbers.Add(number);
  } while (cursor.Consume(','));
  return cursor.Expect('}');
}

absl::Status ReadAttribute(std::string_view key, TextCursor value,
                           AttributeTarget& target) {
  const auto reader = Readers().find(key);
  if (reader == Readers().end()) return absl::OkStatus();
  return reader->second(value, target);
}

void CompleteAttributes(const std::vector<hlo::PrimitiveType>& operand_types,
                        AttributeTarget& target) {
  hlo::HloInstructionProto& it = target.it;
  std::stable_sort(
      target.callees.begin(), target.callees.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [place, id] : target.callees) {
    it.add_called_computation_ids(id);
  }
  const std::string& opcode = it.opcode();
  if (opcode == "compare" && it.comparison_type().empty() &&
      !operand_types.empty()) {
    it.set_comparison_type(DefaultComparison(operand_types[0]));
  }
  const bool convolution = opcode == "convolution";
  const bool custom_call = opcode == "custom-call";
  if (convolution || custom_call) {
    if (it.feature_group_count() == 0) it.set_feature_group_count(1);
    if (it.batch_group_count() == 0) it.set_batch_group_count(1);
  }
  if (custom_call && it.custom_call_api_version() == 0) {
    it.set_custom_call_api_version(kOriginalApiVersion);
  }
  if (convolution || custom_call || opcode == "dot") {
    auto& precision = *it.mutable_precision_config();
    while (precision.operand_precision_size() <
           static_cast<int>(operand_types.size())) {
      precision.add_operand_precision(0);
    }
  }
  if (opcode == "dot") it.mutable_dot_dimension_numbers();
}

}  // namespace meshwright::ir
