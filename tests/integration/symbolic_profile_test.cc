// The symbolic profile against what the compiler says of the same program: its
// cost analysis, exactly for single operations and within 2 % for steps that
// are not fused; its memory, peak within 20 % and temporaries within 30 %.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/ir/load/parse.h"
#include "coordinator/operators/step_graph.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "planner/symbolic/profile.h"
#include "tests/integration/cpu_client.h"

namespace meshwright {
namespace {

constexpr symbolic::Device kDevice{.flops_per_second = 5e10,
                                   .bytes_per_second = 1e10};

struct Compared {
  symbolic::Profile ours;
  worker::pjrt::CompilerCosts costs;
  v1::DeviceMemory memory;
};

// The compiler counts a loop once, so the profile does here too.
Compared Compare(const std::string& bytes, bool fused) {
  Compared both;
  const auto module = ir::LoadModule(bytes);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return both;
  symbolic::OpGraph graph = operators::ReadModule(*module);
  for (symbolic::Operation& it : graph.operations) it.trips = 1;
  both.ours = *symbolic::ProfileStep(graph, kDevice);
  worker::pjrt::CompilerOptions options;
  if (!fused) options["xla_disable_hlo_passes"] = "fusion";
  const auto executable =
      (*CpuClient())
          ->Compile(ir::ParseModule(bytes)->SerializeAsString(), 1, 1, options);
  EXPECT_TRUE(executable.ok()) << executable.status();
  if (!executable.ok()) return both;
  both.costs = *(*executable)->Costs();
  both.memory = *(*executable)->Memory();
  return both;
}

struct OneOperation {
  const char* name;
  const char* lines;
};

void PrintTo(const OneOperation& it, std::ostream* out) { *out << it.name; }

class OneOperationTest : public testing::TestWithParam<OneOperation> {};

TEST_P(OneOperationTest, CountsAreTheCompilers) {
  const Compared both = Compare(
      absl::StrCat("HloModule test\n"
                   "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                   " ROOT c = f32[] add(a, b)\n}\n"
                   "ENTRY main {\n",
                   std::string(GetParam().lines), "\n}"),
      false);
  EXPECT_EQ(static_cast<double>(both.ours.total.counts.flops),
            both.costs.flops);
  EXPECT_EQ(static_cast<double>(both.ours.total.counts.transcendentals),
            both.costs.transcendentals);
}

INSTANTIATE_TEST_SUITE_P(
    Operations, OneOperationTest,
    testing::Values(
        OneOperation{"add",
                     "x = f32[32,48] parameter(0)\n"
                     "ROOT y = f32[32,48] add(x, x)"},
        OneOperation{"tanh",
                     "x = f32[32,48] parameter(0)\n"
                     "ROOT y = f32[32,48] tanh(x)"},
        OneOperation{"convert",
                     "x = f32[32,48] parameter(0)\n"
                     "ROOT y = s32[32,48] convert(x)"},
        OneOperation{"compare",
                     "x = f32[32,48] parameter(0)\n"
                     "y = f32[32,48] parameter(1)\n"
                     "ROOT z = pred[32,48] compare(x, y), direction=LT"},
        OneOperation{"dot",
                     "x = f32[64,96] parameter(0)\n"
                     "y = f32[96,80] parameter(1)\n"
                     "ROOT z = f32[64,80] dot(x, y), "
                     "lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
        OneOperation{"batched dot",
                     "x = f32[4,16,24] parameter(0)\n"
                     "y = f32[4,24,12] parameter(1)\n"
                     "ROOT z = f32[4,16,12] dot(x, y), lhs_batch_dims={0}, "
                     "rhs_batch_dims={0}, lhs_contracting_dims={2}, "
                     "rhs_contracting_dims={1}"},
        OneOperation{"convolution",
                     "x = f32[2,16,16,8] parameter(0)\n"
                     "k = f32[3,3,8,12] parameter(1)\n"
                     "ROOT y = f32[2,16,16,12] convolution(x, k), "
                     "window={size=3x3 pad=1_1x1_1}, "
                     "dim_labels=b01f_01io->b01f"},
        OneOperation{"strided convolution",
                     "x = f32[2,17,17,8] parameter(0)\n"
                     "k = f32[3,3,8,12] parameter(1)\n"
                     "ROOT y = f32[2,9,9,12] convolution(x, k), "
                     "window={size=3x3 stride=2x2 pad=1_1x1_1}, "
                     "dim_labels=b01f_01io->b01f"},
        OneOperation{"dilated convolution",
                     "x = f32[2,8,8,4] parameter(0)\n"
                     "k = f32[3,3,4,6] parameter(1)\n"
                     "ROOT y = f32[2,15,13,6] convolution(x, k), "
                     "window={size=3x3 pad=1_1x1_1 lhs_dilate=2x2 "
                     "rhs_dilate=1x2}, dim_labels=b01f_01io->b01f"},
        OneOperation{"grouped convolution",
                     "x = f32[2,16,16,8] parameter(0)\n"
                     "k = f32[3,3,2,12] parameter(1)\n"
                     "ROOT y = f32[2,16,16,12] convolution(x, k), "
                     "window={size=3x3 pad=1_1x1_1}, "
                     "dim_labels=b01f_01io->b01f, feature_group_count=4"},
        OneOperation{"backward of a strided convolution",
                     "x = f32[2,8,8,12] parameter(0)\n"
                     "k = f32[3,3,12,8] parameter(1)\n"
                     "ROOT y = f32[2,16,16,8] convolution(x, k), "
                     "window={size=3x3 pad=1_2x1_2 lhs_dilate=2x2}, "
                     "dim_labels=b01f_01io->b01f"},
        OneOperation{"kernel of a strided convolution",
                     "x = f32[2,16,16,8] parameter(0)\n"
                     "g = f32[2,8,8,12] parameter(1)\n"
                     "ROOT y = f32[3,3,8,12] convolution(x, g), "
                     "window={size=8x8 pad=0_1x0_1 rhs_dilate=2x2}, "
                     "dim_labels=f01b_i01o->01bf"},
        OneOperation{"reduce",
                     "x = f32[32,16] parameter(0)\nz = f32[] constant(0)\n"
                     "ROOT y = f32[32] reduce(x, z), dimensions={1}, "
                     "to_apply=add"},
        OneOperation{"reduce-window",
                     "x = f32[32,48] parameter(0)\nz = f32[] constant(0)\n"
                     "ROOT y = f32[30,47] reduce-window(x, z), "
                     "window={size=3x2}, to_apply=add"},
        OneOperation{"gather",
                     "x = f32[32,48] parameter(0)\n"
                     "i = s32[5,1] parameter(1)\n"
                     "ROOT y = f32[5,48] gather(x, i), offset_dims={1}, "
                     "collapsed_slice_dims={0}, start_index_map={0}, "
                     "index_vector_dim=1, slice_sizes={1,48}"}),
    [](const testing::TestParamInfo<OneOperation>& info) {
      std::string name = info.param.name;
      for (char& c : name) {
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
      }
      return name;
    });

// Groups of a batch ask for what the compiler counts of them one by one.
TEST(GroupedBatchTest, CountsAreThoseOfItsGroups) {
  const std::string head =
      "HloModule test\nENTRY main {\n"
      "x = f32[2,16,16,8] parameter(0)\ng = f32[2,16,16,12] parameter(1)\n";
  const std::string how =
      "window={size=16x16 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf";
  const Compared whole =
      Compare(absl::StrCat(head, "ROOT y = f32[3,3,2,12] convolution(x, g), ",
                           how, ", batch_group_count=4\n}"),
              false);
  std::string parts;
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&parts, "x", i,
                    " = f32[2,16,16,2] slice(x), slice={[0:2], [0:16], [0:16], "
                    "[",
                    2 * i, ":", 2 * i + 2, "]}\n");
    absl::StrAppend(&parts, "g", i,
                    " = f32[2,16,16,3] slice(g), slice={[0:2], [0:16], [0:16], "
                    "[",
                    3 * i, ":", 3 * i + 3, "]}\n");
    absl::StrAppend(&parts, "y", i, " = f32[3,3,2,3] convolution(x", i, ", g",
                    i, "), ", how, "\n");
  }
  const Compared apart =
      Compare(absl::StrCat(head, parts,
                           "ROOT y = f32[3,3,2,12] concatenate(y0, y1, y2, y3),"
                           " dimensions={3}\n}"),
              false);
  EXPECT_EQ(static_cast<double>(whole.ours.total.counts.flops),
            apart.costs.flops);
  EXPECT_EQ(whole.costs.flops, apart.costs.flops);
}

struct Written {
  const char* name;
  double flops;
};

// The compiler may make a program denser than it was written: on the CPU it
// multiplies by the zeros between the groups of the convnet's kernel gradients.
// Its cost analysis of the steps as they are written, by jaxlib's
// hlo_module_cost_analysis:
TEST(WrittenStepTest, FlopsAreThoseOfTheCostAnalysis) {
  for (const Written& it :
       {Written{"convnet_tiny", 728'253}, Written{"unet_tiny", 51'158'932},
        Written{"llama_tiny", 5'126'087}}) {
    const ir::Module module = segmenter::LoadSample(it.name);
    const auto profile =
        symbolic::ProfileStep(operators::ReadModule(module), kDevice);
    ASSERT_TRUE(profile.ok()) << profile.status();
    const auto flops = static_cast<double>(profile->total.counts.flops);
    EXPECT_NEAR(flops / it.flops, 1, 0.001) << it.name;
  }
}

class SampleStepTest : public testing::TestWithParam<const char*> {};

TEST_P(SampleStepTest, FlopsAndMemoryAreTheCompilers) {
  const std::string bytes = segmenter::ReadSample(GetParam());
  const Compared unfused = Compare(bytes, false);
  const double flops = static_cast<double>(unfused.ours.total.counts.flops);
  EXPECT_NEAR(flops / unfused.costs.flops, 1, 0.02);
  const Compared fused = Compare(bytes, true);
  const symbolic::Footprint& ours = fused.ours.footprint;
  const auto ratio = [](int64_t a, int64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  EXPECT_EQ(ours.argument_bytes, fused.memory.argument_bytes());
  EXPECT_NEAR(ratio(ours.peak_bytes, fused.memory.peak_bytes()), 1, 0.2);
  EXPECT_NEAR(ratio(ours.temporary_bytes, fused.memory.temporary_bytes()), 1,
              0.3);
}

INSTANTIATE_TEST_SUITE_P(Samples, SampleStepTest,
                         testing::Values("llama_2l", "scan_tiny", "unet_tiny"));

}  // namespace
}  // namespace meshwright
