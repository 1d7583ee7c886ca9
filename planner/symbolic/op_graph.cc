#include "planner/symbolic/op_graph.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::symbolic {
namespace {

absl::Status Bad(const std::string& field, int64_t value, const char* what) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is ", value, ", ", std::string(what)));
}

absl::Status CheckOperation(const OpGraph& graph, int index) {
  const Operation& it = graph.operations[index];
  const std::string field = absl::StrCat("operations[", index, "]");
  const std::pair<const char*, int64_t> figures[] = {
      {"flops", it.counts.flops},
      {"transcendentals", it.counts.transcendentals},
      {"bytes", it.bytes},
      {"written_bytes", it.written_bytes}};
  for (const auto& [name, figure] : figures) {
    if (figure < 0) {
      return Bad(absl::StrCat(field, ".", std::string(name)), figure,
                 "not a count");
    }
  }
  if (it.trips < 1) {
    return Bad(absl::StrCat(field, ".trips"), it.trips, "not at least 1");
  }
  for (size_t k = 0; k < it.reads.size(); ++k) {
    const Read& read = it.reads[k];
    if (read.value < 0 || read.value >= index) {
      return Bad(absl::StrCat(field, ".reads[", k, "].value"), read.value,
                 "not an earlier operation");
    }
    if (read.bytes < 0) {
      return Bad(absl::StrCat(field, ".reads[", k, "].bytes"), read.bytes,
                 "not a count");
    }
  }
  if (it.storage == Storage::kView && it.reads.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " is a view of nothing: it reads no value"));
  }
  if (it.op < 0 || it.op >= graph.operators) {
    return Bad(absl::StrCat(field, ".op"), it.op, "not an operator");
  }
  if (it.segment.has_value() &&
      (*it.segment < 0 || *it.segment >= graph.segments)) {
    return Bad(absl::StrCat(field, ".segment"), *it.segment, "not a segment");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Validate(const OpGraph& graph) {
  const int count = static_cast<int>(graph.operations.size());
  for (int i = 0; i < count; ++i) {
    RETURN_IF_ERROR(CheckOperation(graph, i));
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Output& it = graph.outputs[i];
    const std::string field = absl::StrCat("outputs[", i, "]");
    if (it.value < 0 || it.value >= count) {
      return Bad(absl::StrCat(field, ".value"), it.value, "not an operation");
    }
    if (it.argument.has_value() &&
        (*it.argument < 0 || *it.argument >= count ||
         graph.operations[*it.argument].storage != Storage::kArgument)) {
      return Bad(absl::StrCat(field, ".argument"), *it.argument,
                 "not an argument");
    }
  }
  return absl::OkStatus();
}

}  // namespace meshwright::symbolic
