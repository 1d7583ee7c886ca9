// Every path of the layout planner, run with XLA's own collectives on the CPU
// plugin, leaves on every device its tile of the tensor.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "coordinator/ir/text/hlo_text.h"
#include "planner/layout/cheapest_path.h"
#include "planner/layout/testing/random_layout.h"
#include "tests/integration/cpu_client.h"
#include "tests/integration/layout_program.h"
#include "tests/integration/layout_transfers.h"
#include "worker/pjrt/plugin.h"

namespace meshwright {
namespace {

using layout::Box;
using layout::LayoutProblem;
using layout::Op;
using layout::Spec;
using worker::pjrt::Buffer;
using worker::pjrt::HostArray;

constexpr int32_t kPadding = -1;

// Every element is its own number in the whole tensor.
std::vector<int32_t> Tile(const LayoutProblem& problem, const Spec& spec,
                          int64_t device) {
  const Box box = layout::FindTile(problem, spec, device);
  const std::vector<int64_t> tile = TileShape(problem, spec);
  std::vector<int32_t> values = {0};
  for (size_t d = 0; d < tile.size(); ++d) {
    std::vector<int32_t> longer;
    for (const int32_t outer : values) {
      for (int64_t i = box.start[d]; i < box.start[d] + tile[d]; ++i) {
        const bool inside = outer != kPadding && i < box.stop[d];
        longer.push_back(
            inside ? static_cast<int32_t>(outer * problem.shape[d] + i)
                   : kPadding);
      }
    }
    values = std::move(longer);
  }
  return values;
}

HostArray SourceTile(const PathToRun& run, int device) {
  HostArray array;
  array.type = hlo::S32;
  array.dimensions = TileShape(run.problem, run.problem.source);
  const auto values = Tile(run.problem, run.problem.source, device);
  array.bytes.assign(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(int32_t));
  return array;
}

void ExpectTargetTile(const PathToRun& run, int device,
                      const HostArray& array) {
  const auto expected = Tile(run.problem, run.problem.target, device);
  ASSERT_EQ(array.bytes.size(), expected.size() * sizeof(int32_t));
  std::vector<int32_t> values(expected.size());
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (expected[i] == kPadding) continue;
    ASSERT_EQ(values[i], expected[i])
        << "device " << device << ", element " << i << " of its tile";
  }
}

void RunAndCheck(const std::vector<PathToRun>& paths) {
  const auto text = LayoutProgram(paths);
  ASSERT_TRUE(text.ok()) << text.status();
  const auto module = ir::ParseHloText(*text);
  ASSERT_TRUE(module.ok()) << module.status() << "\n" << *text;
  const auto devices =
      static_cast<int>(layout::CountDevices(paths[0].problem.mesh));
  const auto executable = (*CpuClient())
                              ->Compile(module->SerializeAsString(),
                                        /*num_partitions=*/1, devices);
  ASSERT_TRUE(executable.ok()) << executable.status() << "\n" << *text;
  std::vector<std::vector<Buffer>> buffers(devices);
  std::vector<std::vector<const Buffer*>> arguments(devices);
  for (int device = 0; device < devices; ++device) {
    for (const PathToRun& run : paths) {
      auto buffer = (*CpuClient())->Upload(SourceTile(run, device), device);
      ASSERT_TRUE(buffer.ok()) << buffer.status();
      buffers[device].push_back(*std::move(buffer));
    }
    for (const Buffer& buffer : buffers[device]) {
      arguments[device].push_back(&buffer);
    }
  }
  const auto execution = (*executable)->Execute(arguments, {});
  ASSERT_TRUE(execution.ok()) << execution.status();
  for (int device = 0; device < devices; ++device) {
    for (size_t i = 0; i < paths.size(); ++i) {
      SCOPED_TRACE(i);
      const auto array = execution->outputs[device][i].Download();
      ASSERT_TRUE(array.ok()) << array.status();
      ExpectTargetTile(paths[i], device, *array);
    }
  }
}

TEST(LayoutPathsTest, GiveTheRightTensorOnTheCpuPlugin) {
  constexpr size_t kPathsAProgram = 20;
  std::map<std::vector<int64_t>, std::vector<PathToRun>> by_mesh;
  std::map<Op, int> steps;
  for (int seed = 0; seed < 1200; ++seed) {
    const LayoutProblem problem =
        layout::MakeRandomLayout(
            seed, {.axes = 1 + seed % 4, .dims = 3, .max_devices = kCpuDevices})
            .problem;
    const auto conversion = layout::FindCheapestPath(problem);
    ASSERT_TRUE(conversion.ok()) << conversion.status();
    if (!conversion->path.has_value() || conversion->path->steps.empty()) {
      continue;
    }
    std::vector<PathToRun>& paths = by_mesh[problem.mesh];
    if (paths.size() == kPathsAProgram) continue;
    paths.push_back({problem, *conversion->path});
    for (const layout::Step& step : conversion->path->steps) ++steps[step.op];
  }
  for (const auto& [mesh, paths] : by_mesh) {
    SCOPED_TRACE(testing::PrintToString(mesh));
    RunAndCheck(paths);
  }
  for (const Op op :
       {Op::kAllGather, Op::kSlice, Op::kAllToAll, Op::kCollectivePermute}) {
    EXPECT_GT(steps[op], 50) << layout::NameOp(op);
  }
}

}  // namespace
}  // namespace meshwright
