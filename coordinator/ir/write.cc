#include "coordinator/ir/write.h"

#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/constants.h"

namespace meshwright::ir {
namespace {

using google::protobuf::Arena;

// Instructions of copied computations take ids from here on, so that they never
// meet those of the entry.
constexpr int64_t kCalleeIdBase = int64_t{1} << 32;

}  // namespace

ModuleWriter::ModuleWriter(
    std::string name,
    const std::map<int64_t, const hlo::HloComputationProto*>& computations)
    : computations_(computations),
      module_(*Arena::CreateMessage<hlo::HloModuleProto>(&arena_)) {
  module_.set_name(std::move(name));
  OpenScope();
  scope().set_name("entry");
}

void ModuleWriter::OpenScope() {
  scopes_.push_back(Arena::CreateMessage<hlo::HloComputationProto>(&arena_));
}

int64_t ModuleWriter::Register(hlo::HloInstructionProto& it, const Shape& shape,
                               const hlo::OpSharding& sharding) {
  it.set_id(next_id_);
  it.set_name(absl::StrCat("v", next_id_));
  *it.mutable_shape() = ShapeToProto(shape);
  *it.mutable_sharding() = sharding;
  shapes_.push_back(shape);
  shardings_.push_back(&it.sharding());
  return next_id_++;
}

hlo::HloInstructionProto& ModuleWriter::Append(
    const std::string& opcode, const Shape& shape,
    const hlo::OpSharding& sharding) {
  hlo::HloInstructionProto& it = *scope().add_instructions();
  it.set_opcode(opcode);
  Register(it, shape, sharding);
  return it;
}

int64_t ModuleWriter::AddParameter(const Shape& shape,
                                   const hlo::OpSharding& sharding) {
  const int64_t number = scope().program_shape().parameters_size();
  hlo::HloInstructionProto& it = Append("parameter", shape, sharding);
  it.set_parameter_number(number);
  *scope().mutable_program_shape()->add_parameters() = it.shape();
  scope().mutable_program_shape()->add_parameter_names(it.name());
  return it.id();
}

// Every element of a tuple has the attributes of the instruction that made all
// of it: copied with its shape and sharding, n elements would cost n * n.
const hlo::HloInstructionProto& ModuleWriter::ListCopyableAttributes(
    const Instruction& like) {
  const hlo::HloInstructionProto& attributes = like.attributes();
  if (attributes.shape().tuple_shapes().empty()) return attributes;
  const auto [stripped, added] = stripped_.try_emplace(&attributes);
  if (added) {
    stripped->second = attributes;
    stripped->second.clear_shape();
    stripped->second.clear_sharding();
    stripped->second.clear_operand_ids();
  }
  return stripped->second;
}

int64_t ModuleWriter::Add(const Instruction& like,
                          const std::vector<int64_t>& operands,
                          const hlo::OpSharding& sharding) {
  hlo::HloInstructionProto& it = *scope().add_instructions();
  it = ListCopyableAttributes(like);
  const int64_t id = Register(it, like.shape, sharding);
  it.clear_metadata();
  it.clear_control_predecessor_ids();
  it.clear_statistics_viz();
  it.clear_original_value();
  if (it.has_literal()) {
    ToDefaultLayout(*it.mutable_literal());
    *it.mutable_literal()->mutable_shape() = it.shape();
  }
  it.clear_operand_ids();
  for (int64_t operand : operands) it.add_operand_ids(operand);
  for (int i = 0; i < it.called_computation_ids_size(); ++i) {
    it.set_called_computation_ids(
        i, CopyComputation(it.called_computation_ids(i)));
  }
  return id;
}

void ModuleWriter::SetOpName(const std::string& op_name) {
  scope().mutable_instructions()->rbegin()->mutable_metadata()->set_op_name(
      op_name);
}

int64_t ModuleWriter::AddOp(const std::string& opcode, const Shape& shape,
                            const std::vector<int64_t>& operands,
                            const hlo::OpSharding& sharding) {
  hlo::HloInstructionProto& it = Append(opcode, shape, sharding);
  for (int64_t operand : operands) it.add_operand_ids(operand);
  return it.id();
}

int64_t ModuleWriter::AddConstraint(int64_t value,
                                    const hlo::OpSharding& sharding) {
  constexpr int kOriginalVersion = 1;
  hlo::HloInstructionProto& it =
      Append("custom-call", shapes_[value], sharding);
  it.add_operand_ids(value);
  it.set_custom_call_target("Sharding");
  it.set_custom_call_api_version(kOriginalVersion);
  return it.id();
}

int64_t ModuleWriter::AddTuple(const std::vector<int64_t>& values) {
  Shape shape;
  shape.element_type = hlo::TUPLE;
  hlo::OpSharding sharding;
  sharding.set_type(hlo::OpSharding::TUPLE);
  for (int64_t value : values) {
    shape.elements.push_back(shapes_[value]);
    *sharding.add_tuple_shardings() = *shardings_[value];
  }
  if (values.empty()) sharding.set_type(hlo::OpSharding::REPLICATED);
  return AddOp("tuple", shape, values, sharding);
}

std::vector<int64_t> ModuleWriter::AddElements(int64_t tuple) {
  const hlo::OpSharding& sharding = *shardings_[tuple];
  std::vector<int64_t> ids;
  const size_t count = shapes_[tuple].elements.size();
  for (size_t k = 0; k < count; ++k) {
    const Shape shape = shapes_[tuple].elements[k];
    ids.push_back(AddOp("get-tuple-element", shape, {tuple},
                        sharding.tuple_shardings(static_cast<int>(k))));
    scope().mutable_instructions()->rbegin()->set_tuple_index(
        static_cast<int64_t>(k));
  }
  return ids;
}

std::vector<int64_t> ModuleWriter::AddBarrier(
    const std::vector<int64_t>& values) {
  if (values.empty()) return {};
  const int64_t tuple = AddTuple(values);
  const Shape shape = shapes_[tuple];
  return AddElements(AddOp("opt-barrier", shape, {tuple}, *shardings_[tuple]));
}

int64_t ModuleWriter::CopyComputation(int64_t id) {
  const auto found = copied_.find(id);
  if (found != copied_.end()) return found->second;
  const int64_t number = CopyRenamed(*computations_.at(id));
  copied_[id] = number;
  return number;
}

int64_t ModuleWriter::CopyRenamed(hlo::HloComputationProto copy) {
  for (hlo::HloInstructionProto& it : *copy.mutable_instructions()) {
    for (int i = 0; i < it.called_computation_ids_size(); ++i) {
      it.set_called_computation_ids(
          i, CopyComputation(it.called_computation_ids(i)));
    }
  }
  const int64_t number = ++computation_count_;
  std::unordered_map<int64_t, int64_t> renamed;
  int64_t next = number * kCalleeIdBase;
  for (hlo::HloInstructionProto& it : *copy.mutable_instructions()) {
    renamed[it.id()] = next;
    it.set_id(next);
    it.set_name(absl::StrCat("c", number, ".", renamed.size() - 1));
    it.clear_metadata();
    it.clear_sharding();
    it.clear_control_predecessor_ids();
    for (int i = 0; i < it.operand_ids_size(); ++i) {
      it.set_operand_ids(i, renamed.at(it.operand_ids(i)));
    }
    ++next;
  }
  copy.set_root_id(renamed.at(copy.root_id()));
  copy.set_id(number);
  copy.set_name(absl::StrCat("c", number));
  copy.mutable_program_shape()->clear_parameter_names();
  for (int i = 0; i < copy.program_shape().parameters_size(); ++i) {
    copy.mutable_program_shape()->add_parameter_names(absl::StrCat("p", i));
  }
  *module_.add_computations() = std::move(copy);
  return number;
}

const hlo::HloModuleProto& ModuleWriter::Finish(
    const std::vector<int64_t>& outputs, const std::vector<Alias>& aliases) {
  const int64_t root_id = AddTuple(outputs);
  hlo::HloComputationProto& entry = scope();
  *entry.mutable_program_shape()->mutable_result() =
      ShapeToProto(shapes_[root_id]);
  entry.set_root_id(root_id);
  entry.set_id(++computation_count_);
  module_.set_entry_computation_id(entry.id());
  module_.set_entry_computation_name(entry.name());
  *module_.mutable_host_program_shape() = entry.program_shape();
  for (const Alias& alias : aliases) {
    auto& pair = *module_.mutable_input_output_alias()->add_entries();
    pair.add_output_shape_index(alias.output);
    pair.set_parameter_number(alias.parameter);
    pair.set_kind(hlo::MAY_ALIAS);
  }
  module_.mutable_computations()->AddAllocated(&entry);
  return module_;
}

}  // namespace meshwright::ir
