#include "tests/integration/layout_transfers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "planner/layout/cheapest_path.h"
#include "planner/layout/greedy_path.h"
#include "planner/layout/testing/random_layout.h"

namespace meshwright::layout {
namespace {

// The elements a device holds, by their index in the whole tensor.
using Held = std::map<std::vector<int64_t>, int64_t>;

// A different number for every element.
int64_t ValueAt(const std::vector<int64_t>& index,
                const std::vector<int64_t>& shape) {
  int64_t value = 17;
  for (size_t d = 0; d < shape.size(); ++d) value = value * shape[d] + index[d];
  return value;
}

std::vector<std::vector<int64_t>> Indices(const Box& box) {
  std::vector<std::vector<int64_t>> indices;
  if (box.Empty()) return indices;
  std::vector<int64_t> at = box.start;
  while (true) {
    indices.push_back(at);
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == box.stop[d - 1]) {
      at[d - 1] = box.start[d - 1];
      --d;
    }
    if (d == 0) return indices;
  }
}

std::vector<int64_t> FindCoordinates(const LayoutProblem& problem,
                                     int64_t device) {
  std::vector<int64_t> at;
  for (size_t a = problem.mesh.size(); a-- > 0;) {
    at.insert(at.begin(), device % problem.mesh[a]);
    device /= problem.mesh[a];
  }
  return at;
}

// The elements that a device holds by the spec, one by one.
Held Target(const LayoutProblem& problem, const Spec& spec, int64_t device) {
  const std::vector<int64_t> at = FindCoordinates(problem, device);
  Box whole{std::vector<int64_t>(problem.shape.size(), 0), problem.shape};
  Held held;
  for (const auto& index : Indices(whole)) {
    bool mine = true;
    for (size_t d = 0; d < spec.size(); ++d) {
      int64_t parts = 1;
      for (const int axis : spec[d]) parts *= problem.mesh[axis];
      const int64_t tile = (problem.shape[d] + parts - 1) / parts;
      int64_t part = index[d] / tile;
      for (auto axis = spec[d].rbegin(); axis != spec[d].rend(); ++axis) {
        mine = mine && part % problem.mesh[*axis] == at[*axis];
        part /= problem.mesh[*axis];
      }
    }
    if (mine) held[index] = ValueAt(index, problem.shape);
  }
  return held;
}

class Machine {
 public:
  explicit Machine(const LayoutProblem& problem) : problem_(problem) {
    for (int64_t i = 0; i < CountDevices(problem.mesh); ++i) {
      devices_.push_back(Target(problem, problem.source, i));
    }
  }

  void Run(const Path& path) {
    for (size_t i = 0; i < path.steps.size(); ++i) {
      SCOPED_TRACE(testing::Message()
                   << "step " << i << ": " << NameOp(path.steps[i].op));
      const auto transfers = Transfers(problem_, path, static_cast<int>(i));
      ASSERT_TRUE(transfers.ok()) << transfers.status();
      Apply(path.specs[i + 1], path.steps[i], *transfers);
      for (size_t device = 0; device < devices_.size(); ++device) {
        ASSERT_EQ(devices_[device], Target(problem_, path.specs[i + 1],
                                           static_cast<int64_t>(device)))
            << "device " << device;
      }
    }
  }

 private:
  void Apply(const Spec& spec, const Step& step,
             const std::vector<Transfer>& transfers) {
    const bool permutes = step.op == Op::kCollectivePermute;
    std::vector<Held> received(devices_.size());
    std::vector<int64_t> sent_bytes(devices_.size(), 0);
    std::set<int64_t> senders;
    std::set<int64_t> receivers;
    std::set<std::pair<int64_t, int64_t>> pairs;
    for (const Transfer& it : transfers) {
      EXPECT_TRUE(pairs.insert({it.from, it.to}).second);
      senders.insert(it.from);
      receivers.insert(it.to);
      ExpectAlongAxes(it, permutes ? step.axes : std::vector{step.axis});
      for (const auto& index : Indices(it.box)) {
        const auto found = devices_[it.from].find(index);
        ASSERT_NE(found, devices_[it.from].end()) << "sends what it lacks";
        received[it.to].insert(*found);
        sent_bytes[it.from] += problem_.elem_bytes;
      }
    }
    EXPECT_TRUE(step.op != Op::kSlice || transfers.empty());
    if (permutes) {  // a permutation of all devices
      EXPECT_EQ(transfers.size(), devices_.size());
      EXPECT_EQ(senders.size(), devices_.size());
      EXPECT_EQ(receivers.size(), devices_.size());
    }
    for (size_t device = 0; device < devices_.size(); ++device) {
      ExpectPaidFor(step, sent_bytes[device]);
      // A collective-permute replaces the tile, whatever was there.
      if (!permutes) received[device].merge(devices_[device]);
      Held kept;
      const Box tile = FindTile(problem_, spec, static_cast<int64_t>(device));
      for (const auto& index : Indices(tile)) {
        const auto found = received[device].find(index);
        ASSERT_NE(found, received[device].end())
            << "device " << device << " lacks an element of its tile";
        kept.insert(*found);
      }
      devices_[device] = std::move(kept);
    }
  }

  void ExpectAlongAxes(const Transfer& it, const std::vector<int>& axes) {
    const auto from = FindCoordinates(problem_, it.from);
    const auto to = FindCoordinates(problem_, it.to);
    for (int a = 0; a < static_cast<int>(from.size()); ++a) {
      if (std::find(axes.begin(), axes.end(), a) == axes.end()) {
        EXPECT_EQ(from[a], to[a]) << it.from << " to " << it.to;
      }
    }
  }

  // No device sends more than the model charges it for. Short tiles make an
  // all-to-all uneven: one device may want a sender's whole tile.
  void ExpectPaidFor(const Step& step, int64_t sent) {
    const int64_t others = problem_.mesh[step.axis] - 1;
    EXPECT_LE(sent, step.op == Op::kAllGather ? others * step.bytes
                    : step.op == Op::kSlice   ? 0
                                              : step.bytes);
  }

  const LayoutProblem& problem_;
  std::vector<Held> devices_;
};

TEST(TransfersTest, EveryPathGivesEveryDeviceItsTile) {
  int permutes = 0;
  int exchanges = 0;
  int cases = 0;
  for (int seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(seed);
    const LayoutProblem problem =
        MakeRandomLayout(seed,
                         {.axes = 1 + seed % 4, .dims = 3, .max_devices = 24})
            .problem;
    int64_t elements = 1;
    for (const int64_t size : problem.shape) elements *= size;
    if (elements > 700) continue;  // every device looks at every element
    ++cases;
    const auto conversion = FindCheapestPath(problem);
    ASSERT_TRUE(conversion.ok());
    if (conversion->path.has_value()) {
      Machine(problem).Run(*conversion->path);
      for (const Step& step : conversion->path->steps) {
        permutes += step.op == Op::kCollectivePermute;
        exchanges += step.op == Op::kAllToAll;
      }
    }
    const auto greedy = FindGreedyPath(problem);
    if (greedy.has_value()) Machine(problem).Run(*greedy);
    if (HasFailure()) return;
  }
  EXPECT_GT(cases, 2000);
  EXPECT_GT(permutes, 500);
  EXPECT_GT(exchanges, 500);
}

// The cost of a step depends on its kind, its axes and the bytes held before.
TEST(TransfersTest, StepsCostWhatTheModelSays) {
  for (int seed = 0; seed < 2000; ++seed) {
    const RandomLayout random =
        MakeRandomLayout(seed, {.axes = 1 + seed % 4, .dims = 3});
    const auto conversion = FindCheapestPath(random.problem);
    if (!conversion->path.has_value()) continue;
    for (size_t i = 0; i < conversion->path->steps.size(); ++i) {
      const Step& step = conversion->path->steps[i];
      double bytes = static_cast<double>(random.problem.elem_bytes);
      for (size_t d = 0; d < random.problem.shape.size(); ++d) {
        double parts = 1;
        for (const int axis : conversion->path->specs[i][d]) {
          parts *= static_cast<double>(random.problem.mesh[axis]);
        }
        bytes *=
            std::ceil(static_cast<double>(random.problem.shape[d]) / parts);
      }
      EXPECT_EQ(static_cast<double>(step.bytes), bytes);
      const auto n = static_cast<double>(random.problem.mesh[step.axis]);
      double alpha = random.alpha[step.axis];
      double beta = random.beta[step.axis];
      double seconds = 0;
      if (step.op == Op::kAllGather) seconds = (n - 1) * (alpha + bytes * beta);
      if (step.op == Op::kAllToAll) {
        seconds = (n - 1) * (alpha + bytes / n * beta);
      }
      if (step.op == Op::kCollectivePermute && !step.axes.empty()) {
        for (const int axis : step.axes) {
          alpha = std::max(alpha, random.alpha[axis]);
          beta = std::max(beta, random.beta[axis]);
        }
        seconds = alpha + bytes * beta;
      }
      EXPECT_EQ(step.time.count(), std::llrint(seconds * 1e12)) << seed;
    }
  }
}

LayoutProblem Small() {
  LayoutProblem problem;
  problem.shape = {4, 4};
  problem.elem_bytes = 1;
  problem.mesh = {2, 2};
  problem.links = *AlphaBetaLinks::Create({1e-6, 1e-6}, {1e-9, 1e-9});
  problem.source = {{0}, {}};
  problem.target = {{1}, {}};
  return problem;
}

TEST(TransfersTest, PermutesKeepWhatStays) {
  const LayoutProblem problem = Small();
  const Path path = *FindCheapestPath(problem)->path;
  const auto transfers = Transfers(problem, path, 0);
  ASSERT_TRUE(transfers.ok());
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const Transfer& it : *transfers) pairs.push_back({it.from, it.to});
  EXPECT_EQ(pairs, (std::vector<std::pair<int64_t, int64_t>>{
                       {0, 0}, {2, 1}, {1, 2}, {3, 3}}));
}

TEST(TransfersTest, AStepThatDoesNotMakeItsSpecIsAnError) {
  const LayoutProblem problem = Small();
  Path path = *FindCheapestPath(problem)->path;
  path.specs[1] = {{}, {0}};
  EXPECT_EQ(Transfers(problem, path, 0).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace meshwright::layout
