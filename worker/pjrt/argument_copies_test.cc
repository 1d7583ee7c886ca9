#include "worker/pjrt/argument_copies.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace meshwright::worker::pjrt {
namespace {

TEST(ArgumentCopiesTest, OnlyArgumentsThatTheProgramWritesOverCount) {
  hlo::HloModuleProto module;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        entry_computation_id: 2
        input_output_alias { entries { parameter_number: 1 } }
        computations {
          id: 1
          instructions {
            id: 1
            opcode: "parameter"
            shape { element_type: F32 dimensions: 100 }
          }
          instructions {
            id: 2
            opcode: "copy"
            operand_ids: 1
            shape { element_type: F32 dimensions: 100 }
          }
        }
        computations {
          id: 2
          instructions {
            id: 3
            opcode: "parameter"
            shape { element_type: F32 dimensions: 8 }
          }
          instructions {
            id: 4
            opcode: "copy"
            operand_ids: 3
            shape { element_type: F32 dimensions: 8 }
          }
          instructions {
            id: 5
            opcode: "add"
            operand_ids: 3
            operand_ids: 4
            shape { element_type: F32 dimensions: 8 }
          }
          instructions {
            id: 6
            opcode: "copy"
            operand_ids: 5
            shape { element_type: F32 dimensions: 8 }
          }
          instructions {
            id: 7
            opcode: "parameter"
            parameter_number: 1
            shape { element_type: F32 dimensions: 2 dimensions: 3 }
          }
          instructions {
            id: 8
            opcode: "bitcast"
            operand_ids: 7
            shape { element_type: F32 dimensions: 6 }
          }
          instructions {
            id: 9
            opcode: "copy"
            operand_ids: 8
            shape { element_type: F32 dimensions: 6 }
          }
        })pb",
      &module));
  EXPECT_EQ(CountArgumentCopyBytes(module), 24);
}

}  // namespace
}  // namespace meshwright::worker::pjrt
