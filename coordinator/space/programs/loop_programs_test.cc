#include "coordinator/space/programs/loop_programs.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/testing/program_entry.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;

class AccumulationTest : public testing::Test {
 protected:
  AccumulationTest()
      : analysis_(*segmenter::AnalyzeSample("accumulate_tiny", {1, 2}, {})) {
    KeyContext context;
    context.mesh = {1, 2};
    space_ = BuildProfileSpace(analysis_, context);
  }

  bool IsInside(const SegmentGraph& graph, int value) const {
    return segmenter::CountTripsAround(analysis_, graph.values[value].origin) >
           1;
  }

  // Of all configurations whose segment has blocks.
  template <typename Check>
  void ForAll(const Check& check) const {
    for (size_t t = 0; t < space_.types.size(); ++t) {
      if (!HasBlocks(analysis_, analysis_.types[t])) continue;
      for (const Configuration& it : space_.types[t].configurations) {
        SCOPED_TRACE(it.describe);
        check(analysis_.graphs[analysis_.types[t]], it);
      }
    }
  }

  const v1::Program& At(ProgramId program) const {
    return space_.programs[program];
  }

  const Analysis analysis_;
  ProfileSpace space_;
};

TEST_F(AccumulationTest, CountsAllProgramsOfAConfiguration) {
  int count = 0;
  for (const SegmentType& type : space_.types) {
    for (const Configuration& it : type.configurations) {
      if (!it.program.has_value()) continue;
      count += 1 + static_cast<int>(it.corrections.size());
    }
  }
  EXPECT_EQ(space_.segment_programs, count);
  EXPECT_GE(space_.segment_programs + space_.resharding_programs,
            static_cast<int>(space_.programs.size()));
}

TEST_F(AccumulationTest, AStepIsItsTripsAndOneUpdate) {
  int64_t trips = 0;
  for (const ir::Loop& loop : analysis_.module.loops) {
    trips = std::max(trips, loop.trips);
  }
  ASSERT_GT(trips, 1);
  ForAll([&](const SegmentGraph&, const Configuration& it) {
    EXPECT_EQ(it.weight, trips);
    ASSERT_EQ(it.corrections.size(), 1u);
    EXPECT_EQ(it.corrections[0].weight, 1);
  });
}

// XLA computes them once, in front of the loop.
TEST_F(AccumulationTest, ATripReadsTheTablesThatAllTripsShare) {
  int rotary = 0;  // of the step, inside of the loop
  for (const ir::ValueId id : analysis_.module.ids()) {
    const ir::Instruction& it = analysis_.module.at(id);
    rotary += it.loop.has_value() && it.attributes().opcode() == "cosine";
  }
  ASSERT_GT(rotary, 0);
  ForAll([&](const SegmentGraph&, const Configuration& it) {
    const ProgramEntry trip(At(*it.program));
    for (const char* opcode : {"sine", "cosine", "power"}) {
      EXPECT_EQ(trip.Count(opcode), 0) << opcode;
    }
    EXPECT_GT(trip.Count("exponential"), 0);
    bool reads_table = false;
    for (const v1::InputSpec& input : At(*it.program).inputs()) {
      reads_table |= input.kind() == v1::InputSpec::POSITIVE;
    }
    EXPECT_EQ(reads_table, it.describe.find(',') != std::string::npos);
  });
}

// Also of layers that are a loop inside of it, which has one parameter.
TEST(LoopProgramsTest, EveryProgramIsAModule) {
  for (const char* sample : {"accumulate_tiny", "accumulate_scan_tiny"}) {
    const Analysis analysis = *segmenter::AnalyzeSample(sample, {1, 2});
    KeyContext context;
    context.mesh = {1, 2};
    const ProfileSpace space = BuildProfileSpace(analysis, context);
    for (const v1::Program& program : space.programs) {
      SCOPED_TRACE(program.label());
      const auto module = ir::LoadModule(program.hlo_module());
      EXPECT_TRUE(module.ok()) << module.status();
      const ProgramEntry entry(program);
      for (const auto& computation : entry.module.computations()) {
        if (computation.id() == entry.module.entry_computation_id()) continue;
        std::set<int64_t> numbers;
        for (const auto& it : computation.instructions()) {
          if (it.opcode() != "parameter") continue;
          EXPECT_TRUE(numbers.insert(it.parameter_number()).second)
              << computation.name();
        }
      }
    }
  }
}

// Sums that begin with zeros in the program would be no work for XLA.
TEST_F(AccumulationTest, ATripAddsToTheSumsOfTheTripBefore) {
  ForAll([&](const SegmentGraph& graph, const Configuration& it) {
    const ProgramEntry trip(At(*it.program));
    int64_t bytes = 0;
    for (const auto& alias : trip.module.input_output_alias().entries()) {
      const int64_t sum = trip.parameters.at(alias.parameter_number());
      const auto& left = *trip.by_id.at(
          trip.Output(static_cast<int>(alias.output_shape_index(0))));
      const auto& entered = *trip.by_id.at(sum);
      EXPECT_EQ(left.shape().SerializeAsString(),
                entered.shape().SerializeAsString());
      EXPECT_EQ(left.sharding().SerializeAsString(),
                entered.sharding().SerializeAsString());
      EXPECT_EQ(trip.UserOpcodes(sum), std::multiset<std::string>{"add"});
      if (entered.shape().dimensions_size() == 0) continue;  // of the loss
      bytes += CountBytesPerDevice(*ir::ShapeFromProto(entered.shape()),
                                   {-1, -1}, {1, 2});
    }
    int64_t parameters = 0;
    for (const auto& [argument, updated] : graph.state) {
      const ir::Instruction& at =
          analysis_.module.at(graph.values[argument].origin);
      parameters +=
          analysis_.passes.roles[at.attributes().parameter_number()] ==
                  segmenter::ArgumentRole::kParameter
              ? CountBytesPerDevice(at.shape, {-1, -1}, {1, 2})
              : 0;
    }
    EXPECT_EQ(bytes, parameters);
  });
}

TEST_F(AccumulationTest, EveryContractionIsDoneOnItsSideOfTheLoop) {
  ForAll([&](const SegmentGraph& graph, const Configuration& it) {
    int inside = 0;
    int outside = 0;
    for (int i = graph.input_count; i < static_cast<int>(graph.values.size());
         ++i) {
      if (!ir::IsContraction(analysis_.module, graph.values[i].origin)) {
        continue;
      }
      ++(IsInside(graph, i) ? inside : outside);
    }
    EXPECT_GT(inside, 0);
    EXPECT_EQ(ProgramEntry(At(*it.program)).Count("dot"), inside);
    EXPECT_EQ(ProgramEntry(At(it.corrections[0].program)).Count("dot"),
              outside);
  });
}

TEST_F(AccumulationTest, TheUpdateWritesTheState) {
  ForAll([&](const SegmentGraph& graph, const Configuration& it) {
    const ProgramEntry update(At(it.corrections[0].program));
    EXPECT_EQ(update.module.input_output_alias().entries_size(),
              static_cast<int>(graph.state.size()));
  });
}

// Twenty-four layers, each of six products in a row with one matrix.
constexpr char kNested[] = R"(
HloModule nested
ticks {
  t_p = (s32[], f32[8,64], f32[64,64]) parameter(0)
  t_i = s32[] get-tuple-element(t_p), index=0
  t_x = f32[8,64] get-tuple-element(t_p), index=1
  t_w = f32[64,64] get-tuple-element(t_p), index=2
  t_one = s32[] constant(1)
  t_y = f32[8,64] dot(t_x, t_w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t_h = f32[8,64] tanh(t_y)
  t_next = s32[] add(t_i, t_one)
  ROOT t_out = (s32[], f32[8,64], f32[64,64]) tuple(t_next, t_h, t_w)
}
ticks_go_on {
  tc_p = (s32[], f32[8,64], f32[64,64]) parameter(0)
  tc_i = s32[] get-tuple-element(tc_p), index=0
  tc_all = s32[] constant(6)
  ROOT tc_less = pred[] compare(tc_i, tc_all), direction=LT
}
layers {
  l_p = (s32[], f32[8,64], f32[24,64,64]) parameter(0)
  l_i = s32[] get-tuple-element(l_p), index=0
  l_x = f32[8,64] get-tuple-element(l_p), index=1
  l_ws = f32[24,64,64] get-tuple-element(l_p), index=2
  l_zero = s32[] constant(0)
  l_one = s32[] constant(1)
  l_slice = f32[1,64,64] dynamic-slice(l_ws, l_i, l_zero, l_zero), dynamic_slice_sizes={1,64,64}
  l_w = f32[64,64] reshape(l_slice)
  l_in = (s32[], f32[8,64], f32[64,64]) tuple(l_zero, l_x, l_w)
  l_ran = (s32[], f32[8,64], f32[64,64]) while(l_in), condition=ticks_go_on, body=ticks
  l_y = f32[8,64] get-tuple-element(l_ran), index=1
  l_next = s32[] add(l_i, l_one)
  ROOT l_out = (s32[], f32[8,64], f32[24,64,64]) tuple(l_next, l_y, l_ws)
}
layers_go_on {
  lc_p = (s32[], f32[8,64], f32[24,64,64]) parameter(0)
  lc_i = s32[] get-tuple-element(lc_p), index=0
  lc_all = s32[] constant(24)
  ROOT lc_less = pred[] compare(lc_i, lc_all), direction=LT
}
ENTRY main {
  ws = f32[24,64,64] parameter(0)
  x = f32[8,64] parameter(1)
  start = s32[] constant(0)
  entered = (s32[], f32[8,64], f32[24,64,64]) tuple(start, x, ws)
  run = (s32[], f32[8,64], f32[24,64,64]) while(entered), condition=layers_go_on, body=layers
  ROOT y = f32[8,64] get-tuple-element(run), index=1
}
)";

// The trips of the loops of a program, by a program read again.
std::multiset<int64_t> ListTrips(const v1::Program& program) {
  const auto module = ir::LoadModule(program.hlo_module());
  EXPECT_TRUE(module.ok()) << module.status();
  std::multiset<int64_t> trips;
  for (const ir::Loop& loop : module->loops) trips.insert(loop.trips);
  return trips;
}

TEST(LoopProgramsTest, ALoopWithinALayerRunsWholeInEachTrip) {
  const auto analysis = segmenter::Analyze(*ir::LoadModule(kNested), {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  KeyContext context;
  context.mesh = {1, 2};
  const ProfileSpace space = BuildProfileSpace(*analysis, context);
  int cut = 0;
  for (const SegmentType& type : space.types) {
    for (const Configuration& it : type.configurations) {
      if (it.corrections.empty()) continue;
      ++cut;
      EXPECT_EQ(it.weight, 11);
      EXPECT_EQ(it.corrections[0].weight, -10);
      EXPECT_EQ(ListTrips(space.programs[*it.program]),
                (std::multiset<int64_t>{4, 6}));
      EXPECT_EQ(ListTrips(space.programs[it.corrections[0].program]),
                (std::multiset<int64_t>{2, 6}));
    }
  }
  EXPECT_GT(cut, 0);
}

}  // namespace
}  // namespace meshwright::space
