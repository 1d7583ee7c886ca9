#include "coordinator/ir/load/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace meshwright::ir {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

hlo::HloInstructionProto& Add(hlo::HloComputationProto& computation, int64_t id,
                              const std::vector<int64_t>& operands) {
  hlo::HloInstructionProto& it = *computation.add_instructions();
  it.set_id(id);
  it.set_name(absl::StrCat("v", id));
  it.set_opcode("negate");
  for (int64_t operand : operands) it.add_operand_ids(operand);
  computation.set_root_id(id);
  return it;
}

hlo::HloComputationProto& AddComputation(hlo::HloModuleProto& module) {
  hlo::HloComputationProto& made = *module.add_computations();
  made.set_id(module.computations_size());
  made.set_name(absl::StrCat("c", made.id()));
  module.set_entry_computation_id(made.id());
  return made;
}

TEST(ResolveTest, TellsPositionsHoweverIdsAreNumbered) {
  for (const std::vector<int64_t>& ids :
       {std::vector<int64_t>{7, 8, 9}, std::vector<int64_t>{9, -3, 8},
        std::vector<int64_t>{INT64_MAX, INT64_MIN, int64_t{5} << 32}}) {
    hlo::HloModuleProto module;
    hlo::HloComputationProto& entry = AddComputation(module);
    Add(entry, ids[0], {});
    Add(entry, ids[1], {ids[0]});
    Add(entry, ids[2], {ids[1], ids[0], ids[1]});
    const auto resolved = Resolve(module);
    ASSERT_TRUE(resolved.ok()) << resolved.status();
    EXPECT_THAT(resolved->at(1).operands, ElementsAre(0, 1, 0, 1));
    EXPECT_EQ(resolved->at(1).root, 2);
  }
}

TEST(ResolveTest, RefusesAnIdThatIsTaken) {
  for (const int64_t far : {int64_t{1}, int64_t{1} << 40}) {
    hlo::HloModuleProto module;
    hlo::HloComputationProto& entry = AddComputation(module);
    Add(entry, 0, {});
    Add(entry, far, {});
    Add(entry, far, {}).set_name("second");
    EXPECT_THAT(Resolve(module).status().message(),
                AllOf(HasSubstr("second"), HasSubstr("taken already")));
  }
}

TEST(ResolveTest, RefusesAnOperandThatComesLater) {
  for (const int64_t far : {int64_t{1}, int64_t{1} << 40}) {
    hlo::HloModuleProto module;
    hlo::HloComputationProto& entry = AddComputation(module);
    Add(entry, 0, {far});
    Add(entry, far, {});
    EXPECT_THAT(Resolve(module).status().message(),
                AllOf(HasSubstr("v0"), HasSubstr("before it defines")));
  }
}

TEST(ResolveTest, RefusesParametersWithGaps) {
  for (const int64_t number : {int64_t{-1}, int64_t{2}, INT64_MAX}) {
    hlo::HloModuleProto module;
    hlo::HloComputationProto& entry = AddComputation(module);
    Add(entry, 0, {}).set_opcode("parameter");
    auto& second = Add(entry, 1, {});
    second.set_opcode("parameter");
    second.set_parameter_number(number);
    Add(entry, 2, {});
    EXPECT_THAT(Resolve(module).status().message(), HasSubstr("skips"));
  }
}

TEST(ResolveTest, RefusesComputationsThatNestTooDeeply) {
  hlo::HloModuleProto module;
  for (int64_t level = 0; level < 200; ++level) {
    hlo::HloComputationProto& made = AddComputation(module);
    auto& it = Add(made, level, {});
    if (level > 0) it.add_called_computation_ids(level);
  }
  EXPECT_THAT(Resolve(module).status().message(),
              AllOf(HasSubstr("instruction v101"), HasSubstr("deeper")));
}

TEST(ResolveTest, RefusesACallOfWhatComesLater) {
  hlo::HloModuleProto module;
  Add(AddComputation(module), 0, {}).add_called_computation_ids(2);
  Add(AddComputation(module), 1, {});
  EXPECT_THAT(Resolve(module).status().message(),
              AllOf(HasSubstr("v0"), HasSubstr("does not define before")));
}

}  // namespace
}  // namespace meshwright::ir
