// Plans that a disk or a person damaged: what goes on without them, and what is
// said of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "profiledb/sqlite/sqlite_profile_store.h"
#include "profiledb/sqlite/testing/store_file.h"
#include "profiledb/store/plan_pages.h"
#include "profiledb/store/plan_updates.h"

namespace meshwright::sqlite {
namespace {

using store::PlanId;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kModelNeedle[] = "a needle in the record's bytes";

class DamagedPlansTest : public testing::Test {
 protected:
  // plan-1, plan-2 and plan-3, of which the second one has the needle.
  void SetUp() override {
    const auto store = Open();
    for (const char* model : {"first", kModelNeedle, "third"}) {
      ASSERT_TRUE(store->Add(MakeRecord(model)).ok());
    }
  }

  static v1::PlanRecord MakeRecord(const std::string& model) {
    v1::PlanRecord record;
    record.set_namespace_("vision");
    record.set_owner("ann");
    record.set_request_id(model);
    record.mutable_request()->set_model_name(model);
    return record;
  }

  std::unique_ptr<store::PlanStore> Open() const {
    auto store = OpenSqlitePlanStore(file_.path());
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  // What a coordinator does at its start.
  static std::vector<int64_t> ListUnfinished(store::PlanStore& store) {
    std::vector<int64_t> ids;
    const absl::Status status =
        store::ForEachPlan(store, {.states = store::ListUnfinishedStates()},
                           [&](PlanId id, const v1::PlanRecord&) {
                             ids.push_back(id.value);
                             return absl::OkStatus();
                           });
    EXPECT_TRUE(status.ok()) << status;
    return ids;
  }

  // plan-2 is named once, and everything goes on without it.
  void ExpectSetAside(const std::string& damage) const {
    const auto store = Open();
    testing::internal::CaptureStderr();
    EXPECT_THAT(ListUnfinished(*store), ElementsAre(3, 1));
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                HasSubstr("plan-2 is damaged in the store: " + damage));
    testing::internal::CaptureStderr();
    EXPECT_THAT(ListUnfinished(*store), ElementsAre(3, 1));
    EXPECT_THAT(*store->List({}), SizeIs(2));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(store->CountByState()->at(v1::QUEUED), 2);
    const absl::Status asked = store->Get(PlanId{2}).status();
    EXPECT_TRUE(absl::IsDataLoss(asked)) << asked;
    EXPECT_THAT(std::string(asked.message()), HasSubstr("submit it again"));
    // The same submission is another plan.
    const auto again = store->Add(MakeRecord(kModelNeedle));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->id(), "plan-4");
  }

  const StoreFile file_{"damaged_plans"};
};

TEST_F(DamagedPlansTest, AFlippedBitInARecord) {
  file_.Sql(
      "UPDATE plans SET record = CAST(REPLACE(CAST(record AS TEXT), 'needle', "
      "'nettle') AS BLOB) WHERE id = 2");
  ExpectSetAside("its checksum differs");
}

TEST_F(DamagedPlansTest, BytesThatAreNoRecordOfAnOlderVersion) {
  file_.Sql("UPDATE plans SET record = x'ff', checksum = NULL WHERE id = 2");
  ExpectSetAside("its record is none");
}

TEST_F(DamagedPlansTest, AStateThatIsNotTheRecords) {
  file_.Sql("UPDATE plans SET state = 4 WHERE id = 2");
  ExpectSetAside("its state differs");
}

TEST_F(DamagedPlansTest, ARecordOfAnotherPlan) {
  file_.Sql(
      "UPDATE plans SET checksum = NULL, record = (SELECT record FROM plans "
      "WHERE id = 1) WHERE id = 2");
  ExpectSetAside("its id differs");
}

TEST_F(DamagedPlansTest, RowsOfAnOlderVersionAreRead) {
  file_.Sql("UPDATE plans SET checksum = NULL");
  file_.Sql("UPDATE plan_updates SET checksum = NULL");
  const auto store = Open();
  EXPECT_THAT(ListUnfinished(*store), ElementsAre(3, 2, 1));
  EXPECT_THAT(*store->ReadUpdates(PlanId{2}, 0, 10), SizeIs(1));
  EXPECT_THAT(*store->Verify(), IsEmpty());
}

// Damaged ones take no places of sound ones on a page.
TEST_F(DamagedPlansTest, APageIsFullWithoutThem) {
  file_.Sql("UPDATE plans SET record = x'ff' WHERE id IN (2, 3)");
  const auto store = Open();
  const auto page = store->List({.limit = 1});
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_THAT(*page, SizeIs(1));
  EXPECT_EQ(page->front().id(), "plan-1");
}

TEST_F(DamagedPlansTest, AQuotaIsCountedWithoutThem) {
  file_.Sql("UPDATE plans SET record = x'ff' WHERE id = 2");
  const auto store = Open();
  EXPECT_TRUE(store->Add(MakeRecord("fourth"), {.plans = 3}).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(
      store->Add(MakeRecord("fifth"), {.plans = 3}).status()));
}

// A damaged plan takes no update, and undoes none of another's.
TEST_F(DamagedPlansTest, AnUpdateOfADamagedPlanIsRefused) {
  file_.Sql("UPDATE plans SET record = x'ff' WHERE id = 2");
  const auto store = Open();
  const store::Epoch epoch = *store->BeginEpoch("a");
  v1::PlanUpdate update;
  update.set_state(v1::MEASURING);
  EXPECT_TRUE(
      absl::IsDataLoss(store->Append(epoch, PlanId{2}, update).status()));
  EXPECT_TRUE(store->Append(epoch, PlanId{1}, update).ok());
}

TEST_F(DamagedPlansTest, AllThatIsDamagedIsFound) {
  {
    const auto store = Open();
    EXPECT_THAT(*store->Verify(), IsEmpty());
    const store::Epoch epoch = *store->BeginEpoch("a");
    v1::PlanUpdate done;
    done.set_state(v1::DONE);
    done.mutable_plan()->set_xla_flags("--xla_a=1");
    ASSERT_TRUE(store->Append(epoch, PlanId{1}, done).ok());
    for (const char* model : {"fourth", "fifth"}) {
      ASSERT_TRUE(store->Add(MakeRecord(model)).ok());
    }
  }
  file_.Sql("UPDATE plans SET plan = x'00' WHERE id = 1");
  file_.Sql("UPDATE plans SET record = x'ff' WHERE id = 2");
  file_.Sql("UPDATE plan_updates SET content = x'08' WHERE plan = 3");
  file_.Sql("DELETE FROM plan_updates WHERE plan = 4");
  const auto store = Open();
  for (int time = 0; time < 2; ++time) {
    testing::internal::CaptureStderr();
    const auto damaged = store->Verify();
    testing::internal::GetCapturedStderr();
    ASSERT_TRUE(damaged.ok()) << damaged.status();
    std::vector<std::string> said;
    for (const store::DamagedPlan& plan : *damaged) {
      EXPECT_EQ(plan.team, "vision");
      said.push_back(store::FormatPlanId(plan.id) + ": " + plan.damage);
    }
    EXPECT_THAT(said, testing::UnorderedElementsAre(
                          "plan-1: the checksum of what was planned differs",
                          "plan-2: its checksum differs",
                          "plan-3: its update 1 is not as it was written",
                          "plan-4: it has 0 updates, not 1"));
  }
  // Of the last two the record is whole: they go on.
  EXPECT_THAT(ListUnfinished(*store), ElementsAre(5, 4, 3));
  EXPECT_TRUE(absl::IsDataLoss(store->ReadUpdates(PlanId{3}, 0, 10).status()));
}

// A coordinator can do without what it knew of one worker or device.
TEST_F(DamagedPlansTest, DamagedDevicesAndOrdersAreLeftOut) {
  v1::WorkerOrder order;
  order.set_kind(v1::WorkerOrder::DRAIN);
  for (const char* worker : {"a", "b"}) {
    order.set_worker(worker);
    ASSERT_TRUE(Open()->SetOrder(std::nullopt, order).ok());
    v1::DeviceRecord device;
    device.set_device_kind(worker);
    ASSERT_TRUE(Open()->RememberDevice(device).ok());
  }
  file_.Sql("UPDATE worker_orders SET content = x'ff' WHERE worker = 'a'");
  file_.Sql("UPDATE devices SET content = x'ff' WHERE rowid = 1");
  testing::internal::CaptureStderr();
  const auto orders = Open()->ListOrders();
  const auto devices = Open()->ListDevices();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("left out a damaged order of a worker"));
  ASSERT_TRUE(orders.ok()) << orders.status();
  ASSERT_THAT(*orders, SizeIs(1));
  EXPECT_EQ(orders->front().worker(), "b");
  ASSERT_TRUE(devices.ok()) << devices.status();
  EXPECT_THAT(*devices, SizeIs(1));
}

}  // namespace
}  // namespace meshwright::sqlite
