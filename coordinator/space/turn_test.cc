#include "coordinator/space/turn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/segmenter/test_steps.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;

// The entry of a program, by instruction id.
class Entry {
 public:
  explicit Entry(const v1::Program& program) {
    module_.ParseFromString(program.hlo_module());
    for (const auto& computation : module_.computations()) {
      if (computation.id() != module_.entry_computation_id()) continue;
      root_ = computation.root_id();
      for (const auto& it : computation.instructions()) {
        by_id_[it.id()] = &it;
        if (it.opcode() == "parameter") {
          parameters_[it.parameter_number()] = it.id();
        }
        for (int64_t operand : it.operand_ids()) {
          users_[operand].insert(it.id());
        }
      }
    }
  }

  int64_t Parameter(int number) const { return parameters_.at(number); }
  int64_t Output(int number) const {
    return by_id_.at(root_)->operand_ids(number);
  }
  const std::set<int64_t>& Users(int64_t id) { return users_[id]; }
  std::string Opcode(int64_t id) const { return by_id_.at(id)->opcode(); }
  // All that `id` is computed from, itself too.
  std::set<int64_t> Sources(int64_t id) const {
    std::set<int64_t> sources = {id};
    std::vector<int64_t> open = {id};
    while (!open.empty()) {
      const int64_t it = open.back();
      open.pop_back();
      for (const int64_t operand : by_id_.at(it)->operand_ids()) {
        if (sources.insert(operand).second) open.push_back(operand);
      }
    }
    return sources;
  }

 private:
  hlo::HloModuleProto module_;
  int64_t root_ = 0;
  std::map<int64_t, const hlo::HloInstructionProto*> by_id_;
  std::map<int64_t, int64_t> parameters_;  // ids by number
  std::map<int64_t, std::set<int64_t>> users_;
};

struct Sample {
  const char* name;
  Mesh mesh;
  bool keeps_barriers;
};

class TurnTest : public testing::TestWithParam<Sample> {};

// Of every program: what comes in is read by one instruction alone, which the
// activation comes before.
TEST_P(TurnTest, AGradientIsReadBehindItsActivationOnly) {
  const Sample& sample = GetParam();
  auto analysis = segmenter::AnalyzeSample(sample.name, sample.mesh);
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  KeyContext context;
  context.mesh = sample.mesh;
  context.keeps_barriers = sample.keeps_barriers;
  const ProfileSpace space = BuildProfileSpace(*analysis, context);
  int pairs = 0;
  for (size_t t = 0; t < space.types.size(); ++t) {
    const SegmentGraph& graph = analysis->graphs[analysis->types[t]];
    const Turn turn = FindTurn(*analysis, graph);
    for (const Configuration& it : space.types[t].configurations) {
      SCOPED_TRACE(it.describe);
      if (it.program < 0) continue;  // no work
      Entry entry(space.programs[it.program]);
      for (const segmenter::BorderPair& exit : turn.exits) {
        if (turn.behind[exit.activation] || graph.is_input(exit.activation)) {
          continue;
        }
        const auto& outputs = graph.outputs;
        const auto left =
            std::find(outputs.begin(), outputs.end(), exit.activation);
        ASSERT_NE(left, outputs.end());
        const auto& users = entry.Users(entry.Parameter(exit.gradient));
        ASSERT_EQ(users.size(), 1U);
        EXPECT_EQ(entry.Opcode(*users.begin()),
                  sample.keeps_barriers ? "tuple" : "add");
        const int64_t activation =
            entry.Output(static_cast<int>(left - outputs.begin()));
        EXPECT_TRUE(entry.Sources(*users.begin()).contains(activation));
        ++pairs;
      }
    }
  }
  EXPECT_GT(pairs, 0);
}

INSTANTIATE_TEST_SUITE_P(All, TurnTest,
                         testing::Values(Sample{"gpt2_tiny", {1, 2}, true},
                                         Sample{"gpt2_tiny", {1, 2}, false},
                                         Sample{"bert_tiny", {2, 2}, false},
                                         Sample{"moe_tiny", {1, 2}, false},
                                         Sample{"t5_tiny", {1, 2}, false},
                                         Sample{"convnet_tiny", {2, 2}, false},
                                         Sample{"unet_tiny", {1, 2}, true}),
                         [](const auto& info) {
                           return std::string(info.param.name) + "_" +
                                  (info.param.keeps_barriers ? "barriers"
                                                             : "zeros");
                         });

TEST(NoTurnTest, WhereNoGradientComesIn) {
  auto analysis = segmenter::AnalyzeSample("gpt2_tiny", {1, 2});
  ASSERT_TRUE(analysis.ok());
  int empty = 0;
  for (const SegmentGraph& graph : analysis->graphs) {
    empty += FindTurn(*analysis, graph).empty();
  }
  EXPECT_EQ(empty, 1);  // the last segment makes the loss
}

}  // namespace
}  // namespace meshwright::space
