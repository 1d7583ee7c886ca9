#include "coordinator/validation/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  Validation validation;
  validation.machine = "machine";
  validation.probes.emplace_back().program.set_key(layer);
  validation.probes.emplace_back().program.set_key(store::MakeKey("failed"));
  store::FakeProfileStore store;
  ASSERT_TRUE(store.Record(Took("layer", 1625), {}).ok());
  Results results = {{layer, Took("layer", 947)}, {step, Took("step", 5000)}};
  ASSERT_TRUE(RecordEvidence(validation, results, &store).ok());
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

}  // namespace
}  // namespace meshwright::validation
