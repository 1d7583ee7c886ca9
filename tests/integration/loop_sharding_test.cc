// Fully sharded loops over layers, by the real compiler: a trip gathers its own
// layer and nothing else, and no device holds a whole stack.
#include <gtest/gtest.h>

#include <algorithm>

#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"
#include "tests/integration/plan_outputs.h"
#include "worker/sandbox/runner_process.h"

namespace meshwright {
namespace {

constexpr int64_t kLayers = 8;
constexpr int64_t kLayerBytes = 256 * 256 * 4;
constexpr int64_t kStackBytes = kLayers * kLayerBytes;

// x = tanh(x w) for every layer w of a stack, in bfloat16, whose forward pass
// keeps the converted weights for the backward pass; momentum. All other values
// are small beside a stack of weights.
constexpr char kStep[] = R"(
HloModule stacked, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
forward {
  f_p = (s32[], f32[8,256], f32[8,256,256], f32[8,8,256], f32[8,8,256], bf16[8,256,256]) parameter(0)
  f_i = s32[] get-tuple-element(f_p), index=0
  f_x = f32[8,256] get-tuple-element(f_p), index=1
  f_w = f32[8,256,256] get-tuple-element(f_p), index=2
  f_xs = f32[8,8,256] get-tuple-element(f_p), index=3
  f_ts = f32[8,8,256] get-tuple-element(f_p), index=4
  f_ws = bf16[8,256,256] get-tuple-element(f_p), index=5
  f_zero = s32[] constant(0)
  f_one = s32[] constant(1)
  f_layer = f32[1,256,256] dynamic-slice(f_w, f_i, f_zero, f_zero), dynamic_slice_sizes={1,256,256}
  f_matrix = f32[256,256] reshape(f_layer)
  f_half = bf16[256,256] convert(f_matrix)
  f_used = f32[256,256] convert(f_half)
  f_y = f32[8,256] dot(f_x, f_used), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  f_t = f32[8,256] tanh(f_y)
  f_kept_x = f32[1,8,256] reshape(f_x)
  f_kept_t = f32[1,8,256] reshape(f_t)
  f_kept_w = bf16[1,256,256] reshape(f_half)
  f_new_xs = f32[8,8,256] dynamic-update-slice(f_xs, f_kept_x, f_i, f_zero, f_zero)
  f_new_ts = f32[8,8,256] dynamic-update-slice(f_ts, f_kept_t, f_i, f_zero, f_zero)
  f_new_ws = bf16[8,256,256] dynamic-update-slice(f_ws, f_kept_w, f_i, f_zero, f_zero)
  f_next = s32[] add(f_i, f_one)
  ROOT f_out = (s32[], f32[8,256], f32[8,256,256], f32[8,8,256], f32[8,8,256], bf16[8,256,256]) tuple(f_next, f_t, f_w, f_new_xs, f_new_ts, f_new_ws)
}
forward_goes_on {
  fc_p = (s32[], f32[8,256], f32[8,256,256], f32[8,8,256], f32[8,8,256], bf16[8,256,256]) parameter(0)
  fc_i = s32[] get-tuple-element(fc_p), index=0
  fc_layers = s32[] constant(8)
  ROOT fc_less = pred[] compare(fc_i, fc_layers), direction=LT
}
backward {
  b_p = (s32[], f32[8,256], f32[8,256,256], f32[8,8,256], f32[8,8,256], bf16[8,256,256]) parameter(0)
  b_i = s32[] get-tuple-element(b_p), index=0
  b_dx = f32[8,256] get-tuple-element(b_p), index=1
  b_dw = f32[8,256,256] get-tuple-element(b_p), index=2
  b_xs = f32[8,8,256] get-tuple-element(b_p), index=3
  b_ts = f32[8,8,256] get-tuple-element(b_p), index=4
  b_ws = bf16[8,256,256] get-tuple-element(b_p), index=5
  b_zero = s32[] constant(0)
  b_one = s32[] constant(1)
  b_last = s32[] constant(7)
  b_j = s32[] subtract(b_last, b_i)
  b_x1 = f32[1,8,256] dynamic-slice(b_xs, b_j, b_zero, b_zero), dynamic_slice_sizes={1,8,256}
  b_x = f32[8,256] reshape(b_x1)
  b_t1 = f32[1,8,256] dynamic-slice(b_ts, b_j, b_zero, b_zero), dynamic_slice_sizes={1,8,256}
  b_t = f32[8,256] reshape(b_t1)
  b_w1 = bf16[1,256,256] dynamic-slice(b_ws, b_j, b_zero, b_zero), dynamic_slice_sizes={1,256,256}
  b_w0 = bf16[256,256] reshape(b_w1)
  b_w = f32[256,256] convert(b_w0)
  b_unit = f32[] constant(1)
  b_ones = f32[8,256] broadcast(b_unit), dimensions={}
  b_square = f32[8,256] multiply(b_t, b_t)
  b_slope = f32[8,256] subtract(b_ones, b_square)
  b_dy = f32[8,256] multiply(b_dx, b_slope)
  b_dlayer = f32[256,256] dot(b_x, b_dy), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  b_dlayer1 = f32[1,256,256] reshape(b_dlayer)
  b_new_dw = f32[8,256,256] dynamic-update-slice(b_dw, b_dlayer1, b_j, b_zero, b_zero)
  b_new_dx = f32[8,256] dot(b_dy, b_w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  b_next = s32[] add(b_i, b_one)
  ROOT b_out = (s32[], f32[8,256], f32[8,256,256], f32[8,8,256], f32[8,8,256], bf16[8,256,256]) tuple(b_next, b_new_dx, b_new_dw, b_xs, b_ts, b_ws)
}
backward_goes_on {
  bc_p = (s32[], f32[8,256], f32[8,256,256], f32[8,8,256], f32[8,8,256], bf16[8,256,256]) parameter(0)
  bc_i = s32[] get-tuple-element(bc_p), index=0
  bc_layers = s32[] constant(8)
  ROOT bc_less = pred[] compare(bc_i, bc_layers), direction=LT
}
ENTRY main {
  w = f32[8,256,256] parameter(0)
  m = f32[8,256,256] parameter(1)
  x = f32[8,256] parameter(2)
  start = s32[] constant(0)
  zero = f32[] constant(0)
  zero_half = bf16[] constant(0)
  no_rows = f32[8,8,256] broadcast(zero), dimensions={}
  no_dw = f32[8,256,256] broadcast(zero), dimensions={}
  no_ws = bf16[8,256,256] broadcast(zero_half), dimensions={}
  entered = (s32[], f32[8,256], f32[8,256,256], f32[8,8,256], f32[8,8,256], bf16[8,256,256]) tuple(start, x, w, no_rows, no_rows, no_ws)
  run = (s32[], f32[8,256], f32[8,256,256], f32[8,8,256], f32[8,8,256], bf16[8,256,256]) while(entered), condition=forward_goes_on, body=forward
  y = f32[8,256] get-tuple-element(run), index=1
  xs = f32[8,8,256] get-tuple-element(run), index=3
  ts = f32[8,8,256] get-tuple-element(run), index=4
  ws = bf16[8,256,256] get-tuple-element(run), index=5
  square = f32[8,256] multiply(y, y)
  loss = f32[] reduce(square, zero), dimensions={0,1}, to_apply=add
  back = (s32[], f32[8,256], f32[8,256,256], f32[8,8,256], f32[8,8,256], bf16[8,256,256]) tuple(start, y, no_dw, xs, ts, ws)
  ran = (s32[], f32[8,256], f32[8,256,256], f32[8,8,256], f32[8,8,256], bf16[8,256,256]) while(back), condition=backward_goes_on, body=backward
  dw = f32[8,256,256] get-tuple-element(ran), index=2
  rate = f32[] constant(0.1)
  rates = f32[8,256,256] broadcast(rate), dimensions={}
  slower = f32[8,256,256] multiply(rates, m)
  new_m = f32[8,256,256] add(slower, dw)
  step = f32[8,256,256] multiply(rates, new_m)
  new_w = f32[8,256,256] subtract(w, step)
  ROOT out = (f32[8,256,256], f32[8,256,256], f32[]) tuple(new_w, new_m, loss)
}
)";

segmenter::StrategyRequest FullySharded() {
  segmenter::StrategyRequest request;
  request.switches = {segmenter::SegmentSwitch::kFullySharded};
  return request;
}

class LoopShardingTest : public testing::Test {
 protected:
  // Of the plan of that name, which computes what one device does.
  static v1::Measurement Run(const StepOutputs& step, const std::string& plan) {
    for (const PlanOutputs& it : step.plans) {
      if (it.plan != plan) continue;
      EXPECT_EQ(it.result.outcome(), v1::MEASURED) << it.result.reason();
      EXPECT_LE(it.result.max_relative_difference(), 1e-3) << plan;
      return it.result.measurement();
    }
    ADD_FAILURE() << "no plan " << plan;
    return {};
  }

  static StepOutputs Outputs(const std::string& module,
                             const space::Mesh& mesh) {
    auto outputs = RunPlans(module, mesh, FullySharded(), 0, 0);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return *std::move(outputs);
  }

  // Executions of all-gathers of so many bytes.
  static int64_t Gathers(const v1::Measurement& measurement, int64_t bytes) {
    int64_t count = 0;
    for (const v1::Collective& it : measurement.collectives()) {
      if (it.kind() == "all-gather" && it.bytes() == bytes) count += it.count();
    }
    return count;
  }
  static int64_t LargestGather(const v1::Measurement& measurement) {
    int64_t bytes = 0;
    for (const v1::Collective& it : measurement.collectives()) {
      if (it.kind() == "all-gather") bytes = std::max(bytes, it.bytes());
    }
    return bytes;
  }
};

TEST_F(LoopShardingTest, ADeviceHoldsItsPartOfEveryStack) {
  const StepOutputs step = Outputs(kStep, {1, 2});
  const v1::DeviceMemory plain = Run(step, "dp").memory();
  const v1::Measurement sharded = Run(step, "fsdp");
  const v1::DeviceMemory& memory = sharded.memory();
  // Half of parameters and momentum.
  EXPECT_NEAR(static_cast<double>(memory.argument_bytes()),
              static_cast<double>(plain.argument_bytes() - kStackBytes),
              static_cast<double>(kLayerBytes));
  // Half of the gradients and of the converted weights; a layer or two are
  // there gathered.
  EXPECT_LE(memory.temporary_bytes(), plain.temporary_bytes() -
                                          kStackBytes / 2 - kStackBytes / 4 +
                                          5 * kLayerBytes / 2);
  EXPECT_LE(memory.peak_bytes(), plain.peak_bytes() * 6 / 10);
  EXPECT_LE(LargestGather(sharded), kLayerBytes);
  // Once in the forward and once in the backward pass; this compiler gathers
  // bfloat16 as float32.
  EXPECT_EQ(Gathers(sharded, kLayerBytes) + Gathers(sharded, kLayerBytes / 2),
            2 * kLayers);
}

// A scan over checkpointed layers, from JAX.
TEST_F(LoopShardingTest, AScanGathersLayersOnly) {
  const StepOutputs step = Outputs(segmenter::ReadSample("scan_tiny"), {1, 2});
  const v1::Measurement plain = Run(step, "dp");
  const v1::Measurement sharded = Run(step, "fsdp");
  int64_t stacks = 0;
  int64_t largest = 0;  // layer of a stack, or parameter outside of the loop
  const ir::Module& module = step.analysis.module;
  for (size_t p = 0; p < module.parameters.size(); ++p) {
    if (step.analysis.passes.roles[p] != segmenter::ArgumentRole::kParameter) {
      continue;
    }
    const ir::Shape& shape = module.at(module.parameters[p]).shape;
    const int64_t bytes = space::CountBytesPerDevice(shape, {-1, -1}, {1, 2});
    const bool is_stack = shape.rank() > 1 && shape.dims[0] == 3;
    if (is_stack) stacks += bytes;
    largest = std::max(largest, is_stack ? bytes / 3 : bytes);
  }
  ASSERT_GT(stacks, 0);
  EXPECT_LE(LargestGather(sharded), largest);
  EXPECT_GT(Gathers(sharded, largest), 0);
  // Parameters, momentum and gradients.
  EXPECT_LE(sharded.memory().peak_bytes(),
            plain.memory().peak_bytes() - stacks / 2 * 3 + largest * 2);
}

// The programs that are timed for the segments: with loops, and of one trip of
// a loop that sums gradients, which hands its sums on as it was given them.
TEST_F(LoopShardingTest, ProgramsOfSegmentsRun) {
  const space::Mesh mesh = {1, 2};
  v1::RunnerRequest request = OneRun(mesh);
  for (const char* name : {"scan_tiny", "accumulate_tiny"}) {
    const auto analysis = segmenter::AnalyzeSample(name, mesh, FullySharded());
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    space::KeyContext context;
    context.mesh = mesh;
    const space::ProfileSpace space = BuildProfileSpace(*analysis, context);
    for (const space::SegmentType& type : space.types) {
      for (const space::Configuration& it : type.configurations) {
        if (it.describe != "rows, rows, rows, rows; fully-sharded") continue;
        *request.add_programs() = space.programs[*it.program];
        for (const space::Correction& correction : it.corrections) {
          *request.add_programs() = space.programs[correction.program];
        }
      }
    }
  }
  ASSERT_GE(request.programs_size(), 3);
  int measured = 0;
  const absl::Status status = worker::sandbox::RunBatch(
      request,
      [&](const v1::RunnerEvent& event) {
        if (!event.has_result()) return;
        EXPECT_EQ(event.result().outcome(), v1::MEASURED)
            << event.result().reason();
        ++measured;
      },
      {});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(measured, request.programs_size());
}

}  // namespace
}  // namespace meshwright
