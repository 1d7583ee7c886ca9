#include "cli/cluster/plan_meshes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "cli/cluster/cluster_file.h"
#include "cli/cluster/mesh_order.h"
#include "cli/testing/outcome.h"

namespace meshwright::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr char kModel[] = "tests/testdata/llama_tiny.hlo.pb";

// Pairs (0, 2) and (1, 3) have NVLink, the others PCIe.
constexpr char kCluster[] = R"({
  "devices": ["gpu[0-3]"],
  "link_classes": [{"name": "pcie", "alpha": 1e-5, "beta": 1e-10},
                   {"name": "nvlink", "alpha": 1e-6, "beta": 1e-12}],
  "groups": [{"name": "box", "class": "pcie", "members": ["gpu[0-3]"]}],
  "links": [{"class": "nvlink", "devices": ["gpu0", "gpu2"]},
            {"class": "nvlink", "devices": ["gpu1", "gpu3"]}]})";

std::string WriteCluster() {
  std::string path = testing::TempDir() + "/crossed.json";
  EXPECT_TRUE(base::WriteFile(path, kCluster).ok());
  return path;
}

v1::PlanRequest MakeRequest() {
  v1::PlanRequest request;
  request.set_hlo_module(*base::ReadFile(kModel));
  return request;
}

// Plans made up from seconds per mesh; below 0: none fits.
struct Planner {
  std::map<std::string, double> seconds;
  std::vector<std::string> asked;
  std::map<std::string, absl::Status> failures;

  absl::StatusOr<v1::Plan> operator()(const v1::PlanRequest& request) {
    const std::string mesh = NameShape(
        {request.mesh().shape().begin(), request.mesh().shape().end()});
    asked.push_back(mesh);
    if (failures.contains(mesh)) return failures[mesh];
    if (!seconds.contains(mesh)) return absl::CancelledError("interrupted");
    v1::Plan plan;
    *plan.mutable_mesh() = request.mesh().shape();
    plan.set_feasible(seconds[mesh] >= 0);
    if (plan.feasible()) {
      plan.mutable_predicted()->set_step_seconds(seconds[mesh]);
    }
    return plan;
  }
};

absl::StatusOr<v1::Plan> Ask(Planner& planner, const MeshWishes& wishes = {}) {
  const auto loaded = LoadCluster(WriteCluster());
  return PlanMeshes(MakeRequest(), loaded->cluster, wishes,
                    [&](const v1::PlanRequest& it) { return planner(it); });
}

TEST(PlanMeshesTest, TheFastestPlanOfAllMeshes) {
  Planner planner{{{"1x4", 2}, {"2x2", 1}}, {}};
  const auto plan = Ask(planner);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(planner.asked.size(), 2u);
  EXPECT_THAT(plan->mesh(), ElementsAre(2, 2));
  EXPECT_THAT(plan->notes(), Contains(HasSubstr("2x2 estimated")));
  EXPECT_THAT(plan->notes(), Contains(HasSubstr("planned 1.0 s")));
  EXPECT_THAT(plan->notes(),
              Contains(HasSubstr("row by row: gpu0, gpu2, gpu1, gpu3")));
}

TEST(PlanMeshesTest, TheBestEstimateFirst) {
  Planner planner{{{"1x4", 2}, {"2x2", 1}}, {}};
  const auto plan = Ask(planner, {.maximum_meshes = 1});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto loaded = LoadCluster(WriteCluster());
  const auto order =
      OrderMeshes(MakeRequest(), loaded->cluster, {{2, 2}, {1, 4}});
  ASSERT_TRUE(order.ok()) << order.status();
  EXPECT_LE(*(*order)[0].estimate_seconds, *(*order)[1].estimate_seconds);
  EXPECT_THAT(planner.asked, ElementsAre(NameShape((*order)[0].shape)));
  EXPECT_THAT(plan->notes(), Contains(HasSubstr("not planned")));
}

TEST(PlanMeshesTest, EveryFactorisationIsPlannedInTheOrderOfEstimates) {
  const std::string path = testing::TempDir() + "/eight.json";
  ASSERT_TRUE(base::WriteFile(path, R"({
    "devices": ["gpu[0-7]"],
    "link_classes": [{"name": "nvlink", "alpha": 1e-6, "beta": 1e-12}],
    "groups": [{"name": "box", "class": "nvlink", "members": ["gpu[0-7]"]}]})")
                  .ok());
  const auto loaded = LoadCluster(path);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  Planner planner{{{"1x8", 3}, {"2x4", 2}, {"4x2", 1}}, {}};
  const auto plan =
      PlanMeshes(MakeRequest(), loaded->cluster, {},
                 [&](const v1::PlanRequest& it) { return planner(it); });
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(planner.asked, UnorderedElementsAre("1x8", "2x4", "4x2"));
  EXPECT_THAT(plan->mesh(), ElementsAre(4, 2));
  const auto order = OrderMeshes(MakeRequest(), loaded->cluster,
                                 ListPlanShapes(loaded->cluster, 2));
  ASSERT_TRUE(order.ok()) << order.status();
  std::vector<std::string> names;
  for (const MeshCandidate& it : *order) names.push_back(NameShape(it.shape));
  EXPECT_EQ(planner.asked, names);
}

TEST(PlanMeshesTest, AMeshThatDoesNotFitLosesToOneThatDoes) {
  Planner planner{{{"1x4", -1}, {"2x2", 5}}, {}};
  EXPECT_THAT(Ask(planner)->mesh(), ElementsAre(2, 2));
  Planner neither{{{"1x4", -1}, {"2x2", -1}}, {}};
  EXPECT_FALSE(Ask(neither)->feasible());
}

TEST(PlanMeshesTest, AnInterruptionLeavesTheBestSoFar) {
  Planner first;
  EXPECT_EQ(Ask(first).status().code(), absl::StatusCode::kCancelled);
  ASSERT_EQ(first.asked.size(), 1u);
  Planner planner{{{first.asked[0], 3}}, {}};
  const auto plan = Ask(planner);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->notes(), Contains(HasSubstr("failed: interrupted")));
}

TEST(PlanMeshesTest, TimeThatIsOverIsOverForEveryMesh) {
  const absl::Status late = absl::DeadlineExceededError("no plan after 10m");
  Planner both{{{"1x4", 2}, {"2x2", 1}}, {}, {}};
  ASSERT_TRUE(Ask(both).ok());
  const std::string first = both.asked[0];
  const std::string second = both.asked[1];
  Planner none{{{second, 1}}, {}, {{first, late}}};
  EXPECT_EQ(Ask(none).status(), late);
  EXPECT_THAT(none.asked, ElementsAre(first));
  Planner one{{{first, 1}}, {}, {{second, late}}};
  const auto plan = Ask(one);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->notes(), Contains(HasSubstr("no plan after 10m")));
}

TEST(PlanMeshesTest, AMeshThatFailsIsANote) {
  const absl::Status gone = absl::UnavailableError("its worker is gone");
  Planner both{{{"1x4", 2}, {"2x2", 1}}, {}, {}};
  ASSERT_TRUE(Ask(both).ok());
  const std::string first = both.asked[0];
  const std::string second = both.asked[1];
  for (const std::string& failing : {first, second}) {
    Planner planner{{{"1x4", 2}, {"2x2", 1}}, {}, {{failing, gone}}};
    const auto plan = Ask(planner);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_THAT(planner.asked, ElementsAre(first, second));
    EXPECT_EQ(NameShape({plan->mesh().begin(), plan->mesh().end()}),
              failing == first ? second : first);
    EXPECT_THAT(plan->notes(), Contains(HasSubstr("its worker is gone")));
  }
  Planner none{
      {}, {}, {{first, gone}, {second, absl::InternalError("another")}}};
  EXPECT_EQ(Ask(none).status(), gone);
  EXPECT_THAT(none.asked, ElementsAre(first, second));
}

TEST(PlanMeshesTest, AMeshWhoseEstimateIsRefusedComesLast) {
  const auto loaded = LoadCluster(WriteCluster());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  v1::PlanRequest request = MakeRequest();
  v1::ArgumentRule& rule = *request.mutable_strategies()->add_arguments();
  rule.set_forbid(true);
  rule.set_sharding("[0,-]");  // a mesh 1x4 has one device along axis 0
  const auto order = OrderMeshes(request, loaded->cluster, {{1, 4}, {2, 2}});
  ASSERT_TRUE(order.ok()) << order.status();
  EXPECT_EQ(NameShape((*order)[0].shape), "2x2");
  EXPECT_TRUE((*order)[0].refusal.ok()) << (*order)[0].refusal;
  EXPECT_TRUE((*order)[0].estimate_seconds.has_value());
  EXPECT_THAT(std::string((*order)[1].refusal.message()),
              HasSubstr("no axis of the mesh"));
  Planner planner{{{"1x4", 2}, {"2x2", 1}}, {}, {}};
  const auto plan =
      PlanMeshes(request, loaded->cluster, {},
                 [&](const v1::PlanRequest& it) { return planner(it); });
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(planner.asked, ElementsAre("2x2"));
  EXPECT_THAT(plan->notes(), Contains(HasSubstr("1x4 not estimated")));
  rule.set_sharding("[9,-]");
  EXPECT_EQ(
      OrderMeshes(request, loaded->cluster, {{1, 4}, {2, 2}}).status().code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(PlanMeshesTest, OneMeshAlone) {
  Planner planner{{{"1x4", 2}}, {}};
  EXPECT_TRUE(Ask(planner, {.mesh = "1x4"}).ok());
  EXPECT_THAT(planner.asked, ElementsAre("1x4"));
  EXPECT_THAT(
      std::string(Ask(planner, {.mesh = "1x3"}).status().message()),
      HasSubstr("mesh 1x3 has 3 places, but the cluster has 4 devices"));
}

TEST(PlanMeshesTest, FromTheCommandLine) {
  const nlohmann::json plan =
      CommandJson({"plan", kModel, "--symbolic", "--cluster", WriteCluster()});
  EXPECT_EQ(plan["mesh"].size(), 2u);
  EXPECT_THAT(plan["notes"].dump(), HasSubstr("chosen among 2 of the cluster"));
  EXPECT_THAT(plan["notes"].dump(), HasSubstr("the links given"));
  ExpectRefused({"plan", kModel, "--symbolic"}, "--mesh is required");
  ExpectRefused({"plan", kModel, "--cluster", "/nowhere"}, "/nowhere");
  ExpectRefused({"plan", kModel, "--meshes", "2"}, "--cluster");
  ExpectRefused({"plan", kModel, "--cluster", WriteCluster(), "--stages"},
                "--stages");
}

}  // namespace
}  // namespace meshwright::cli
