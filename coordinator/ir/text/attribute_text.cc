#include "coordinator/ir/text/attribute_text.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/ir/text/field_text.h"
#include "coordinator/ir/text/structured_attributes.h"

namespace meshwright::ir {
namespace {

using google::protobuf::Message;
using Reader = absl::Status (*)(TextCursor& value, AttributeTarget& target);

// A field that is read by its type: of `message`, or of the instruction itself
// where that is empty; named like the key where `name` is.
struct Field {
  std::string message = {};
  std::string name = {};
  std::string opcode = {};  // of the instructions that have it there; or of all
};

const std::unordered_multimap<std::string_view, Field>& Fields() {
  const std::string dot = "dot_dimension_numbers";
  const std::string gather = "gather_dimension_numbers";
  const std::string scatter = "scatter_dimension_numbers";
  const std::string solve = "triangular_solve_options";
  static const auto* const fields =
      new std::unordered_multimap<std::string_view, Field>{
          {"algorithm", {"precision_config", "algorithm", "dot"}},
          {"algorithm", {"", "rng_algorithm", "rng-bit-generator"}},
          {"api_version", {"", "custom_call_api_version"}},
          {"batch_group_count", {}},
          {"channel_id", {}},
          {"collapsed_slice_dims", {gather}},
          {"custom_call_has_side_effect", {}},
          {"custom_call_target", {}},
          {"delta", {}},
          {"dimensions", {}},
          {"direction", {"", "comparison_direction"}},
          {"distribution", {}},
          {"dynamic_slice_sizes", {}},
          {"epsilon", {}},
          {"exponent_bits", {}},
          {"feature_group_count", {}},
          {"feature_index", {}},
          {"fft_length", {}},
          {"fft_type", {}},
          {"index", {"", "tuple_index"}},
          {"index_vector_dim", {gather, "", "gather"}},
          {"index_vector_dim", {scatter, "", "scatter"}},
          {"indices_are_sorted", {}},
          {"input_batching_dims", {scatter}},
          {"inserted_window_dims", {scatter}},
          {"iota_dimension", {"", "dimensions"}},
          {"is_stable", {}},
          {"k", {}},
          {"kind", {"", "fusion_kind"}},
          {"largest", {}},
          {"left_side", {solve}},
          {"lhs_batch_dims", {dot, "lhs_batch_dimensions"}},
          {"lhs_contracting_dims", {dot, "lhs_contracting_dimensions"}},
          {"lower", {solve, "", "triangular-solve"}},
          {"lower", {"cholesky_options", "", "cholesky"}},
          {"mantissa_bits", {}},
          {"offset_dims", {gather}},
          {"operand_batching_dims", {gather}},
          {"operand_precision", {"precision_config"}},
          {"rhs_batch_dims", {dot, "rhs_batch_dimensions"}},
          {"rhs_contracting_dims", {dot, "rhs_contracting_dimensions"}},
          {"scatter_dims_to_operand_dims", {scatter}},
          {"scatter_indices_batching_dims", {scatter}},
          {"slice_sizes", {"", "gather_slice_sizes"}},
          {"start_index_map", {gather}},
          {"start_indices_batching_dims", {gather}},
          {"transpose_a", {solve}},
          {"type", {"", "comparison_type"}},
          {"unique_indices", {}},
          {"unit_diagonal", {solve}},
          {"update_window_dims", {scatter}},
          {"use_global_device_ids", {}},
      };
  return *fields;
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
  return value.ReadList('{', '}', [&]() -> absl::Status {
    const auto found = target.instructions.find(value.Name());
    if (found == target.instructions.end()) {
      return value.Error("a control predecessor is not defined before");
    }
    target.it.add_control_predecessor_ids(found->second);
    return absl::OkStatus();
  });
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

// Attributes with a form of their own.
const std::unordered_map<std::string_view, Reader>& Readers() {
  static const auto* const readers =
      new std::unordered_map<std::string_view, Reader>{
          {"backend_config", BackendConfig},
          {"body", Callees<0>},
          {"branch_computations", Callees<0>},
          {"called_computations", Callees<0>},
          {"calls", Callees<0>},
          {"condition", Callees<1>},
          {"control-predecessors", ControlPredecessors},
          {"dim_labels", Structured<ReadDimLabels>},
          {"false_computation", Callees<1>},
          {"frontend_attributes", Structured<ReadFrontendAttributes>},
          {"metadata", Structured<ReadMetadata>},
          {"padding", Structured<ReadPadding>},
          {"replica_groups", Structured<ReadReplicaGroups>},
          {"scatter", Callees<1>},
          {"select", Callees<0>},
          {"slice", Structured<ReadSlice>},
          {"source_target_pairs", Structured<ReadSourceTargetPairs>},
          {"to_apply", Callees<0>},
          {"true_computation", Callees<0>},
          {"window", Structured<ReadWindow>},
      };
  return *readers;
}

const char* DefaultComparison(hlo::PrimitiveType type) {
  const std::string& name = hlo::PrimitiveType_Name(type);
  if (name[0] == 'S') return "SIGNED";
  return name[0] == 'U' || type == hlo::PRED ? "UNSIGNED" : "FLOAT";
}

}  // namespace

absl::Status ReadAttribute(std::string_view key, TextCursor value,
                           AttributeTarget& target) {
  const auto reader = Readers().find(key);
  if (reader != Readers().end()) return reader->second(value, target);
  const auto [first, last] = Fields().equal_range(key);
  for (auto it = first; it != last; ++it) {
    const Field& field = it->second;
    if (!field.opcode.empty() && field.opcode != target.it.opcode()) continue;
    Message* message = &target.it;
    if (!field.message.empty()) {
      message = target.it.GetReflection()->MutableMessage(
          message, message->GetDescriptor()->FindFieldByName(field.message));
    }
    const auto* const place = message->GetDescriptor()->FindFieldByName(
        field.name.empty() ? std::string(key) : field.name);
    return ReadField(value, *place, *message);
  }
  return absl::OkStatus();
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
