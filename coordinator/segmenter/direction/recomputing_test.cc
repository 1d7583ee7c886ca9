#include "coordinator/segmenter/direction/recomputing.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace meshwright::segmenter {
namespace {

ir::Module MakeGraph(const std::vector<std::vector<ir::ValueId>>& operands) {
  ir::Module module;
  for (size_t id = 0; id < operands.size(); ++id) {
    ir::Instruction it;
    it.operands = operands[id];
    module.instructions.push_back(it);
    for (ir::ValueId operand : operands[id]) {
      auto& users = module.instructions[operand].users;
      if (users.empty() || users.back() != ir::ValueId(id)) {
        users.push_back(ir::ValueId(id));
      }
    }
  }
  return module;
}

using Ids = base::IndexRange<ir::ValueId>;

TEST(LimitRecomputingTest, KeepsWhatIsSmallHoweverOftenItIsReadTwice) {
  // 2^200 paths, 201 operations.
  std::vector<std::vector<ir::ValueId>> operands = {{}};
  for (const ir::ValueId id : Ids(200)) operands.push_back({id, id});
  const ir::Module module = MakeGraph(operands);
  std::vector<char> marks(module.size(), 1);
  EXPECT_FALSE(LimitRecomputing(module, marks));
  EXPECT_EQ(std::count(marks.begin(), marks.end(), 1), 201);
}

TEST(LimitRecomputingTest, DropsWhatIsLarge) {
  std::vector<std::vector<ir::ValueId>> operands = {{}};
  for (const ir::ValueId id : Ids(3000)) operands.push_back({id});
  const ir::Module module = MakeGraph(operands);
  std::vector<char> marks(module.size(), 1);
  EXPECT_FALSE(LimitRecomputing(module, marks));
  EXPECT_EQ(std::count(marks.begin(), marks.end(), 1), 1024);
  EXPECT_EQ(marks[1023], 1);
}

TEST(LimitRecomputingTest, DropsWhatIsReadTooOften) {
  // 500 operations for each of 5000 readers are more than they are worth.
  std::vector<std::vector<ir::ValueId>> operands = {{}};
  for (const ir::ValueId id : Ids(499)) operands.push_back({id});
  operands.resize(5500, {ir::ValueId(499)});
  const ir::Module module = MakeGraph(operands);
  std::vector<char> marks(module.size(), 0);
  std::fill(marks.begin(), marks.begin() + 500, 1);
  EXPECT_TRUE(LimitRecomputing(module, marks));
  EXPECT_EQ(marks[499], 0);
  EXPECT_EQ(marks[0], 1);
}

}  // namespace
}  // namespace meshwright::segmenter
