#include "coordinator/segmenter/direction/hash.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace meshwright::segmenter {
namespace {

using google::protobuf::FieldDescriptor;

ir::Module WithOne(const hlo::HloInstructionProto& attributes) {
  ir::Module module;
  ir::Instruction it;
  it.shape.element_type = hlo::F32;
  it.shape.dims = {4};
  it.source = module.NewAttributes(attributes);
  module.instructions = {it};
  return module;
}

uint64_t HashAttributes(const hlo::HloInstructionProto& attributes) {
  return HashOperations(WithOne(attributes))[0];
}

// Any value but the default.
void Fill(const FieldDescriptor& field, google::protobuf::Message& message) {
  const auto& fields = *message.GetReflection();
  const bool many = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return many ? fields.AddInt32(&message, &field, 3)
                  : fields.SetInt32(&message, &field, 3);
    case FieldDescriptor::CPPTYPE_INT64:
      return many ? fields.AddInt64(&message, &field, 3)
                  : fields.SetInt64(&message, &field, 3);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return many ? fields.AddFloat(&message, &field, 3)
                  : fields.SetFloat(&message, &field, 3);
    case FieldDescriptor::CPPTYPE_BOOL:
      return many ? fields.AddBool(&message, &field, true)
                  : fields.SetBool(&message, &field, true);
    case FieldDescriptor::CPPTYPE_STRING:
      return many ? fields.AddString(&message, &field, "three")
                  : fields.SetString(&message, &field, "three");
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      auto* const inner = many ? fields.AddMessage(&message, &field)
                               : fields.MutableMessage(&message, &field);
      // A literal's shape is that of its instruction.
      const auto& type = *inner->GetDescriptor();
      return Fill(*type.field(type.field_count() - 1), *inner);
    }
    default:
      FAIL() << field.full_name() << " has a type this test does not fill";
  }
}

TEST(HashOperationsTest, CoversEveryFieldButWhereItStandsAndItsName) {
  const std::set<std::string> silent = {
      "name",     "shape",          "metadata",
      "id",       "operand_ids",    "control_predecessor_ids",
      "sharding", "statistics_viz", "original_value"};
  hlo::HloInstructionProto plain;
  plain.set_opcode("add");
  const uint64_t hash = HashAttributes(plain);
  const auto& type = *hlo::HloInstructionProto::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.name() == "called_computation_ids") continue;
    hlo::HloInstructionProto filled = plain;
    Fill(field, filled);
    EXPECT_EQ(HashAttributes(filled) == hash, silent.contains(field.name()))
        << field.name();
  }
}

TEST(HashOperationsTest, CoversFieldsItDoesNotKnow) {
  hlo::HloInstructionProto plain;
  plain.set_opcode("add");
  hlo::HloInstructionProto later = plain;
  later.GetReflection()->MutableUnknownFields(&later)->AddVarint(1000, 3);
  EXPECT_NE(HashAttributes(plain), HashAttributes(later));
}

TEST(HashOperationsTest, AnArgumentsNumberSaysNothing) {
  hlo::HloInstructionProto first;
  first.set_opcode("parameter");
  hlo::HloInstructionProto second = first;
  second.set_parameter_number(7);
  EXPECT_EQ(HashAttributes(first), HashAttributes(second));
}

TEST(HashOperationsTest, LiteralsDifferByTheirValuesNotTheirLayout) {
  hlo::HloInstructionProto one;
  one.set_opcode("constant");
  one.mutable_literal()->add_f32s(1);
  hlo::HloInstructionProto laid_out = one;
  laid_out.mutable_literal()
      ->mutable_shape()
      ->mutable_layout()
      ->add_minor_to_major(0);
  hlo::HloInstructionProto two = one;
  two.mutable_literal()->set_f32s(0, 2);
  EXPECT_EQ(HashAttributes(one), HashAttributes(laid_out));
  EXPECT_NE(HashAttributes(one), HashAttributes(two));
}

// A reducer of two parameters.
hlo::HloComputationProto Reducer(const std::string& opcode, int64_t id) {
  hlo::HloComputationProto made;
  made.set_id(id);
  for (int i = 0; i < 3; ++i) {
    auto& it = *made.add_instructions();
    it.set_id(100 * id + i);
    it.set_opcode(i == 2 ? opcode : "parameter");
    if (i < 2) it.set_parameter_number(i);
  }
  made.mutable_instructions(2)->add_operand_ids(100 * id);
  made.mutable_instructions(2)->add_operand_ids(100 * id + 1);
  made.set_root_id(100 * id + 2);
  return made;
}

TEST(HashOperationsTest, ReducersCountByContent) {
  const hlo::HloComputationProto sum = Reducer("add", 1);
  const hlo::HloComputationProto same = Reducer("add", 2);
  const hlo::HloComputationProto maximum = Reducer("maximum", 3);
  uint64_t hashes[3];
  int next = 0;
  for (const auto* reducer : {&sum, &same, &maximum}) {
    hlo::HloInstructionProto reduce;
    reduce.set_opcode("reduce");
    reduce.add_called_computation_ids(reducer->id());
    ir::Module module = WithOne(reduce);
    module.computations[reducer->id()] = reducer;
    hashes[next++] = HashOperations(module)[0];
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_NE(hashes[0], hashes[2]);
}

}  // namespace
}  // namespace meshwright::segmenter
