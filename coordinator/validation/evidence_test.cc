#include "coordinator/validation/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/jobs/device_digest.h"
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

// Beside the good rows of a key it would count as one of those it keeps.
TEST(EvidenceTest, ATimeOfFewSamplesIsNone) {
  const std::string layer = store::MakeKey("layer");
  std::vector<Probe> probes(1);
  probes[0].program.set_key(layer);
  v1::ProfileResult guess = Took("layer", 947);
  guess.mutable_measurement()->set_quality(v1::NOISY);
  guess.mutable_measurement()->add_noise(v1::FEW_SAMPLES);
  store::FakeProfileStore store;
  ASSERT_TRUE(RecordEvidence(probes, {{layer, guess}}, "machine", &store).ok());
  EXPECT_TRUE(store.LookupKept(layer, store::kSharedPool)->empty());
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
