// ModuleWriter: loops.
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/write.h"

namespace meshwright::ir {
namespace {

// One instruction of a condition; its operands are ids.
hlo::HloInstructionProto& AddTo(hlo::HloComputationProto& computation,
                                const std::string& opcode,
                                const hlo::ShapeProto& shape,
                                const std::vector<int64_t>& operands) {
  hlo::HloInstructionProto& it = *computation.add_instructions();
  it.set_id(computation.instructions_size() - 1);
  it.set_name(absl::StrCat("i", it.id()));
  it.set_opcode(opcode);
  *it.mutable_shape() = shape;
  for (int64_t operand : operands) it.add_operand_ids(operand);
  return it;
}

void SetLiteral(int64_t value, const hlo::ShapeProto& shape,
                hlo::LiteralProto& literal) {
  *literal.mutable_shape() = shape;
  switch (shape.element_type()) {
    case hlo::S64:
      literal.add_s64s(value);
      break;
    case hlo::U64:
      literal.add_u64s(static_cast<uint64_t>(value));
      break;
    case hlo::U32:
      literal.add_u32s(static_cast<uint32_t>(value));
      break;
    default:
      literal.add_s32s(static_cast<int32_t>(value));
      break;
  }
}

}  // namespace

std::vector<int64_t> ModuleWriter::BeginLoop(
    const std::vector<LoopElement>& elements) {
  OpenScope();
  Shape tuple;
  tuple.element_type = hlo::TUPLE;
  hlo::OpSharding sharding;
  sharding.set_type(hlo::OpSharding::TUPLE);
  for (const LoopElement& element : elements) {
    tuple.elements.push_back(element.shape);
    *sharding.add_tuple_shardings() = element.sharding;
  }
  return AddElements(AddParameter(tuple, sharding));
}

std::vector<int64_t> ModuleWriter::EndLoop(const std::vector<int64_t>& initial,
                                           const std::vector<int64_t>& next,
                                           const LoopEnd& end) {
  const int64_t parameter = scope().instructions(0).id();
  const Shape tuple = shapes_[parameter];
  const hlo::OpSharding& sharding = *shardings_[parameter];
  scope().set_root_id(AddOp("tuple", tuple, next, sharding));
  *scope().mutable_program_shape()->mutable_result() = ShapeToProto(tuple);
  const int64_t body = ++computation_count_;
  scope().set_id(body);
  scope().set_name(absl::StrCat("body", body));
  module_.mutable_computations()->AddAllocated(&scope());
  scopes_.pop_back();
  const int64_t condition = end.condition.has_value()
                                ? CopiedCondition(tuple, end)
                                : CountedCondition(tuple, end);

  const int64_t start = AddOp("tuple", tuple, initial, sharding);
  const int64_t loop = AddOp("while", tuple, {start}, sharding);
  hlo::HloInstructionProto& it = *scope().mutable_instructions()->rbegin();
  it.add_called_computation_ids(body);
  it.add_called_computation_ids(condition);
  return AddElements(loop);
}

int64_t ModuleWriter::CountedCondition(const Shape& tuple, const LoopEnd& end) {
  hlo::HloComputationProto condition;
  const hlo::ShapeProto counter = ShapeToProto(tuple.elements[end.counter]);
  hlo::ShapeProto verdict = counter;
  verdict.set_element_type(hlo::PRED);
  AddTo(condition, "parameter", ShapeToProto(tuple), {});
  AddTo(condition, "get-tuple-element", counter, {0})
      .set_tuple_index(end.counter);
  SetLiteral(end.limit, counter,
             *AddTo(condition, "constant", counter, {}).mutable_literal());
  auto& compare = AddTo(condition, "compare", verdict, {1, 2});
  compare.set_comparison_direction(end.upwards ? "LT" : "GT");
  condition.set_root_id(compare.id());
  *condition.mutable_program_shape()->add_parameters() = ShapeToProto(tuple);
  *condition.mutable_program_shape()->mutable_result() = verdict;
  return CopyRenamed(std::move(condition));
}

int64_t ModuleWriter::CopiedCondition(const Shape& tuple, const LoopEnd& end) {
  hlo::HloComputationProto condition = *computations_.at(*end.condition);
  // Elements nobody needs are gone: what reads them is dead too.
  google::protobuf::RepeatedPtrField<hlo::HloInstructionProto> kept;
  for (hlo::HloInstructionProto& it : *condition.mutable_instructions()) {
    if (it.opcode() == "parameter") {
      *it.mutable_shape() = ShapeToProto(tuple);
    } else if (it.opcode() == "get-tuple-element") {
      const std::optional<int> element = end.elements[it.tuple_index()];
      if (!element.has_value()) continue;
      it.set_tuple_index(*element);
    }
    *kept.Add() = std::move(it);
  }
  condition.mutable_instructions()->Swap(&kept);
  // A module may come without program shapes.
  condition.mutable_program_shape()->clear_parameters();
  *condition.mutable_program_shape()->add_parameters() = ShapeToProto(tuple);
  return CopyRenamed(std::move(condition));
}

}  // namespace meshwright::ir
