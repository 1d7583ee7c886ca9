// Programs' keys and plans of real training steps, one line each.
//
// Concept: the keys follow from the analysis, the space and the canonical
// programs, the plan from all that comes after, on a made-up machine. A change
// of either is a change of what users store or get.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/fingerprint.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "tests/golden/golden.h"

namespace meshwright {
namespace {

struct Case {
  std::string model;
  std::vector<int64_t> mesh;
  std::vector<std::string> open;

  std::string Name() const {
    return absl::StrCat(model, " ", absl::StrJoin(mesh, "x"),
                        open.empty() ? "" : " ", absl::StrJoin(open, ","));
  }
  v1::PlanRequest Request() const {
    v1::PlanRequest request;
    request.set_hlo_module(segmenter::ReadSample(model));
    for (int64_t size : mesh) request.mutable_mesh()->add_shape(size);
    for (const std::string& name : open) {
      request.mutable_strategies()->add_open(name);
    }
    return request;
  }
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const char* model :
       {"accumulate_scan_tiny", "accumulate_tiny", "albert_tiny", "bert_tiny",
        "clip_tiny", "convnet_tiny", "gpt2_tiny", "llama_tiny", "moe_tiny",
        "scan_tiny", "t5_tiny", "unet_tiny", "vit_tiny", "whisper_tiny"}) {
    cases.push_back({model, {1, 2}, {}});
  }
  for (const char* model : {"gpt2_tiny", "llama_tiny", "moe_tiny", "t5_tiny"}) {
    cases.push_back({model, {1, 4}, {}});
    cases.push_back({model, {2, 2}, {}});
    cases.push_back(
        {model, {1, 2}, {"fully-sharded", "sequence", "recompute"}});
  }
  return cases;
}

// Of all the space's keys, in any order.
std::string DigestKeys(const space::ProfileSpace& space) {
  std::vector<std::string> keys;
  for (const v1::Program& program : space.programs) {
    keys.push_back(program.key());
  }
  std::sort(keys.begin(), keys.end());
  base::Fingerprinter digest;
  for (const std::string& key : keys) digest.Add(key);
  return digest.Hex().substr(0, 16);
}

TEST(PlansGoldenTest, KeysAndPlansAreTheExpectedOnes) {
  std::string table = "model mesh opened: keys; seconds, bytes, segments\n";
  for (const Case& it : Cases()) {
    const v1::PlanRequest request = it.Request();
    store::FakeProfileStore store;
    jobs::FakeMeasurer measurer;
    measurer.machine = 7;
    const auto step = planning::OpenStep(request, &measurer);
    ASSERT_TRUE(step.ok()) << it.Name() << ": " << step.status();
    const auto plan = planning::MakePlan(request, {&store, &measurer},
                                         [](const v1::PlanProgress&) {});
    ASSERT_TRUE(plan.ok()) << it.Name() << ": " << plan.status();
    absl::StrAppendFormat(&table, "%s: %d %s; %.6e %d", it.Name(),
                          step->space.programs.size(), DigestKeys(step->space),
                          plan->predicted().step_seconds(),
                          plan->predicted().peak_bytes());
    for (const v1::PlanSegment& segment : plan->segments()) {
      absl::StrAppend(&table, " ", segment.type(), ".", segment.config());
    }
    absl::StrAppend(&table, "\n");
  }
  ExpectGolden("tests/golden/plans.txt", table);
}

}  // namespace
}  // namespace meshwright
