#include "coordinator/estimation/cross_mesh_estimate.h"

#include <gtest/gtest.h>

#include <optional>

#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::estimation {
namespace {

// 1 ms, a fifth of it one collective.
v1::Measurement Row(const std::string& kind, int64_t bytes, int64_t group) {
  v1::Measurement row;
  row.set_minimum_ns(1'000'000);
  row.set_communication_ns(200'000);
  row.mutable_memory()->set_temporary_bytes(4096);
  v1::Collective& it = *row.add_collectives();
  it.set_kind(kind);
  it.set_bytes(bytes);
  it.set_group_size(group);
  it.set_count(1);
  return row;
}

constexpr Work kWhole = {.operations = 1000, .bytes = 100};
constexpr Work kHalf = {.operations = 500, .bytes = 50};

TEST(EstimateAcrossMeshesTest,
     ComputeGoesWithTheWorkAndCommunicationWithTheBytes) {
  // All-reduce of 2 and 4 devices: 2 * 1 / 2 against 2 * 3 / 4 of the bytes.
  const v1::Measurement scaled = EstimateAcrossMeshes(
      Row("all-reduce", 1 << 20, 2), kWhole, kHalf, {{1, 2}, {1, 4}, {}});
  EXPECT_EQ(scaled.communication_ns(), 300'000);
  EXPECT_EQ(scaled.compute_ns(), 400'000);
  EXPECT_EQ(scaled.minimum_ns(), 700'000);
  EXPECT_EQ(scaled.memory().temporary_bytes(), 2048);
  // A quarter of what changed: 400,000 and 100,000.
  EXPECT_EQ(scaled.estimate_error_ns(), 125'000);
}

TEST(EstimateAcrossMeshesTest, EveryKindHasItsBytesOnTheOtherMesh) {
  const auto seconds = [](const char* kind) {
    return static_cast<double>(
        EstimateAcrossMeshes(Row(kind, 800, 2), kWhole, kWhole,
                             {{2}, {4}, base::Links{{0, 1e-9}}})
            .communication_ns());
  };
  EXPECT_DOUBLE_EQ(seconds("all-gather"), 3 * 200);      // result stays
  EXPECT_DOUBLE_EQ(seconds("all-reduce"), 6 * 200);      // so does this one
  EXPECT_DOUBLE_EQ(seconds("reduce-scatter"), 3 * 400);  // of 1600 before
  EXPECT_DOUBLE_EQ(seconds("all-to-all"), 3 * 100);      // a device's share
  EXPECT_DOUBLE_EQ(seconds("collective-permute"), 400);
}

TEST(AddLinkTimesTest, CommunicationIsThatOfTheLinks) {
  v1::ProfileResult row;
  row.set_outcome(v1::MEASURED);
  *row.mutable_measurement() = Row("all-reduce", 1'000'000, 8);
  v1::Measurement& it = *row.mutable_measurement();
  it.set_minimum_ns(800'000);
  it.set_communication_ns(0);
  it.set_compute_ns(800'000);
  it.set_median_ns(810'000);
  it.add_samples_ns(800'000);
  // 2 * 7 * (1e-5 + 125'000 * 1e-9) s.
  AddLinkTimes({1, 8}, base::Links{{9, 9}, {1e-5, 1e-9}}, row);
  constexpr int64_t kMoving = 14 * (10'000 + 125'000);
  EXPECT_EQ(it.communication_ns(), kMoving);
  EXPECT_EQ(it.compute_ns(), 800'000);
  EXPECT_EQ(it.minimum_ns(), 800'000 + kMoving);
  EXPECT_EQ(it.median_ns(), 810'000 + kMoving);
  EXPECT_EQ(it.samples_ns(0), 800'000 + kMoving);
  EXPECT_EQ(it.estimate_error_ns(), kMoving / 4);

  v1::ProfileResult failed;
  failed.set_outcome(v1::COMPILE_FAILED);
  AddLinkTimes({1, 8}, base::Links{{9, 9}, {1e-5, 1e-9}}, failed);
  EXPECT_FALSE(failed.has_measurement());
}

// As many and as large as a row may have.
TEST(AddLinkTimesTest, TooMuchCommunicationIsLongNotNegative) {
  constexpr int64_t kPetabyte = int64_t{1} << 50;
  v1::ProfileResult row;
  row.set_outcome(v1::MEASURED);
  *row.mutable_measurement() = Row("all-reduce", kPetabyte, 2);
  v1::Measurement& it = *row.mutable_measurement();
  it.mutable_collectives(0)->set_count(1'000'000'000'000);
  const base::Links links = {{9, 9}, {1e-5, 1e-9}};
  const v1::Measurement scaled =
      EstimateAcrossMeshes(it, {}, {}, {{1, 2}, {1, 2}, links});
  EXPECT_GT(scaled.minimum_ns(), 1e14);
  EXPECT_GT(scaled.estimate_error_ns(), 1);
  AddLinkTimes({1, 2}, links, row);
  EXPECT_GT(it.minimum_ns(), 1e14);
  EXPECT_GT(it.communication_ns(), 1e14);
}

TEST(EstimateAcrossMeshesTest, OtherLinksLeaveComputeAlone) {
  const v1::Measurement scaled =
      EstimateAcrossMeshes(Row("all-reduce", 1'000'000, 2), {}, {},
                           {{1, 2}, {1, 2}, base::Links{{9, 9}, {1e-5, 1e-9}}});
  EXPECT_EQ(scaled.compute_ns(), 800'000);
  EXPECT_EQ(scaled.communication_ns(), 2 * (10'000 + 500'000));
  EXPECT_EQ(scaled.memory().temporary_bytes(), 4096);
  EXPECT_GT(scaled.estimate_error_ns(), 0);
}

TEST(EstimateAcrossMeshesTest, OnOneDeviceNothingCommunicates) {
  const v1::Measurement scaled = EstimateAcrossMeshes(
      Row("all-reduce", 1 << 20, 2), kHalf, kWhole, {{1, 2}, {1, 1}, {}});
  EXPECT_EQ(scaled.communication_ns(), 0);
  EXPECT_EQ(scaled.compute_ns(), 1'600'000);
}

// Groups of two may be along either axis of 2x2, groups of four along both.
TEST(EstimateAcrossMeshesTest, OfSeveralAxesTheMostExpensiveCounts) {
  const base::Links links = {{0, 1e-9}, {0, 5e-9}};
  const auto ns = [&](int64_t group) {
    return EstimateAcrossMeshes(Row("all-gather", 400, group), kWhole, kWhole,
                                {{2, 2}, {2, 2}, links})
        .communication_ns();
  };
  EXPECT_EQ(ns(2), 1 * 200 * 5);
  EXPECT_EQ(ns(4), 3 * 100 * 5);
}

// Two of eight devices, and four of the sixteen that these become.
TEST(EstimateAcrossMeshesTest, AGroupMayBePartOfAnAxis) {
  const auto ns = [](int64_t group, int64_t devices,
                     const std::optional<base::Links>& links) {
    return EstimateAcrossMeshes(Row("all-gather", 400, group), kWhole, kWhole,
                                {{8}, {devices}, links})
        .communication_ns();
  };
  const base::Links link = {{0, 1e-9}};
  EXPECT_EQ(ns(2, 8, link), 1 * 200);
  EXPECT_EQ(ns(2, 16, link), 3 * 100);
  EXPECT_EQ(ns(2, 16, std::nullopt), 300'000);
  EXPECT_EQ(ns(2, 1, link), 0);
  EXPECT_EQ(ns(1, 16, link), 0);
}

// Groups of two lie in rows or in columns of four.
TEST(AddLinkTimesTest, APartOfTheSlowerAxisCounts) {
  v1::ProfileResult row;
  row.set_outcome(v1::MEASURED);
  *row.mutable_measurement() = Row("all-gather", 400, 2);
  AddLinkTimes({4, 4}, base::Links{{0, 1e-9}, {0, 5e-9}}, row);
  EXPECT_EQ(row.measurement().communication_ns(), 1 * 200 * 5);
}

TEST(EstimateAcrossMeshesTest, TheSpreadOfWhatWasMeasuredIsKept) {
  v1::Measurement row = Row("all-reduce", 1 << 20, 2);
  for (int i = 0; i < 16; ++i) row.add_samples_ns(1'000'000);
  row.set_mad_ns(40'000);
  EXPECT_EQ(EstimateAcrossMeshes(row, kWhole, kWhole, {{2}, {2}, {}})
                .estimate_error_ns(),
            std::llround(1.645 * 1.414 * 1.858 * 10'000));
}

// Four devices do half of what two do each, where everything is divided.
TEST(ProgramWorkTest, IsReadOffTheShardings) {
  const std::string model = segmenter::ReadSample("llama_tiny");
  std::vector<Work> works;
  for (int64_t devices : {1, 2, 4}) {
    const auto analysis =
        segmenter::Analyze(*ir::LoadModule(model), {1, devices});
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    space::KeyContext context;
    context.mesh = {1, devices};
    const space::ProfileSpace space = BuildProfileSpace(*analysis, context);
    for (const auto& type : space.types) {
      const space::Configuration& it = type.configurations[0];
      if (it.strategies.size() < 4) continue;
      const auto work = CountWork(space.programs[*it.program]);
      ASSERT_TRUE(work.ok()) << work.status();
      works.push_back(*work);
      break;
    }
  }
  ASSERT_EQ(works.size(), 3u);
  // Data parallel: every contraction is divided, the update of state is not.
  EXPECT_DOUBLE_EQ(works[1].operations, works[0].operations / 2);
  EXPECT_DOUBLE_EQ(works[2].operations, works[0].operations / 4);
  EXPECT_GT(works[2].bytes, works[0].bytes / 4);
  EXPECT_LT(works[2].bytes, works[1].bytes);
}

TEST(ProgramWorkTest, WhatIsNoModuleIsRefused) {
  v1::Program program;
  program.set_hlo_module("\xff\xff");
  EXPECT_EQ(CountWork(program).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace meshwright::estimation
