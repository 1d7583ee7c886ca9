#include "coordinator/validation/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/jobs/device_digest.h"
#include "coordinator/planning/plan_pipeline.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::validation {
namespace {

v1::ProfileResult Took(const std::string& name, int64_t nanoseconds) {
  v1::ProfileResult row = store::MakeMeasured(name, nanoseconds);
  row.set_worker("node7/0");
  return row;
}

TEST(EvidenceTest, ATimeMeasuredAgainIsAMeasurementOfItsKey) {
  const std::string layer = store::MakeKey("layer");
  const std::string step = store::MakeKey("step");
  std::vector<Probe> probes(2);
  probes[0].program.set_key(layer);
  probes[1].program.set_key(store::MakeKey("failed"));
  store::FakeProfileStore store;
  ASSERT_TRUE(store.Record(Took("layer", 1625), {}).ok());
  const std::map<std::string, v1::ProfileResult> results = {
      {layer, Took("layer", 947)}, {step, Took("step", 5000)}};
  ASSERT_TRUE(RecordEvidence(probes, results, "machine", &store).ok());
  const auto kept = store.LookupKept(layer, store::kSharedPool);
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_EQ(kept->size(), 2u);
  EXPECT_EQ(kept->front().result.measurement().minimum_ns(), 947);
  EXPECT_EQ(kept->front().origin.machine, "machine");
  EXPECT_EQ(kept->front().origin.worker, "node7/0");
  // A whole step is no program of any plan.
  const auto rows = store.Lookup({step});
  ASSERT_TRUE(rows.ok());
  EXPECT_TRUE(rows->empty());
}

// 100 samples of 10 ms and as much to warm up: 13 of them take 250 ms.
v1::ProfileResult TookLong(const std::string& name) {
  v1::ProfileResult row = Took(name, 9'000'000);
  v1::Measurement& it = *row.mutable_measurement();
  for (int i = 0; i < 100; ++i) it.add_samples_ns(10'000'000 + 1000 * (i % 5));
  it.set_samples_ns(40, 9'000'000);
  it.set_median_ns(10'002'000);
  it.set_communication_ns(4'000'000);
  it.set_compute_ns(5'000'000);
  it.set_executions_per_sample(1);
  it.set_passes(104);
  it.set_dropped_samples(4);
  return row;
}

// More samples have a smaller minimum, which the rivals of a plan had no
// chance to meet.
TEST(EvidenceTest, ARowHasTheSamplesThatAPlanTakes) {
  std::vector<Probe> probes(1);
  probes[0].program.set_key(store::MakeKey("layer"));
  store::FakeProfileStore store;
  ASSERT_TRUE(RecordEvidence(probes,
                             {{store::MakeKey("layer"), TookLong("layer")}},
                             "machine", &store)
                  .ok());
  const auto kept =
      store.LookupKept(store::MakeKey("layer"), store::kSharedPool);
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_EQ(kept->size(), 1u);
  const v1::Measurement& it = kept->front().result.measurement();
  EXPECT_EQ(it.samples_ns_size(), 13);
  EXPECT_EQ(it.passes(), 13);
  EXPECT_EQ(it.minimum_ns(), 10'000'000);
  EXPECT_EQ(it.median_ns(), 10'002'000);
  EXPECT_EQ(it.mad_ns(), 1000);
  EXPECT_EQ(it.communication_ns(), 4'000'000);
  EXPECT_EQ(it.compute_ns(), 6'000'000);
}

TEST(EvidenceTest, SamplesAreKeptUntilTheMinimumIsMetTwice) {
  const v1::MeasureOptions options = planning::MakeMeasureOptions();
  v1::Measurement unsure = TookLong("layer").measurement();
  unsure.set_samples_ns(3, 9'080'000);  // and 9'000'000 is number 41
  CutToProtocol(options, unsure);
  EXPECT_EQ(unsure.samples_ns_size(), 41);
  v1::Measurement never = TookLong("layer").measurement();
  never.set_samples_ns(3, 8'000'000);
  CutToProtocol(options, never);
  EXPECT_EQ(never.samples_ns_size(), options.maximum_samples());
  v1::Measurement short_runs = TookLong("layer").measurement();
  for (auto& sample : *short_runs.mutable_samples_ns()) sample /= 1000;
  short_runs.set_executions_per_sample(99);  // and one to warm up: 1 ms
  v1::Measurement all = short_runs;
  CutToProtocol(options, short_runs);
  EXPECT_EQ(short_runs.SerializeAsString(), all.SerializeAsString())
      << "100 ms are less than a plan takes";
}

TEST(EvidenceTest, OfStagesOnlyThePlansDevicesCount) {
  const std::string layer = store::MakeKey("layer");
  std::vector<Probe> probes(1);
  probes[0].program.set_key(layer);
  const std::map<std::string, v1::ProfileResult> results = {
      {layer, Took("layer", 947)}};
  v1::Plan plan;
  plan.mutable_device_fingerprint()->set_processor("Fast CPU 9");
  v1::DeviceFingerprint here;
  here.set_processor("Slow CPU 1");
  store::FakeProfileStore store;
  ASSERT_TRUE(RecordStagedEvidence(plan, probes, results, here, &store).ok());
  EXPECT_TRUE(store.LookupKept(layer, store::kSharedPool)->empty());
  here.set_processor("Fast CPU 9");
  ASSERT_TRUE(RecordStagedEvidence(plan, probes, results, here, &store).ok());
  const auto kept = store.LookupKept(layer, store::kSharedPool);
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_EQ(kept->size(), 1u);
  EXPECT_EQ(kept->front().origin.machine, jobs::DigestFingerprint(here));
}

}  // namespace
}  // namespace meshwright::validation
