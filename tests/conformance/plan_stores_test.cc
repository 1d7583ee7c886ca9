// The contract of every PlanStore, held against each that this build has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "profiledb/postgres/postgres_profile_store.h"
#include "profiledb/postgres/testing/postgres_server.h"
#include "profiledb/sqlite/sqlite_profile_store.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/text.h"

namespace meshwright::conformance {
namespace {

using store::PlanId;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

std::string StoreFile() {
  return absl::StrCat(testing::TempDir(), "/plan_stores_", getpid(), ".db");
}

std::unique_ptr<store::PlanStore> OpenSqlite() {
  auto store = sqlite::OpenSqlitePlanStore(StoreFile());
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

std::unique_ptr<store::PlanStore> MakeSqlite() {
  for (const char* end : {"", "-wal", "-shm"}) {
    std::filesystem::remove(StoreFile() + end);
  }
  return OpenSqlite();
}

std::unique_ptr<store::PlanStore> MakeMemory() {
  return std::make_unique<store::MemoryPlanStore>();
}

// One server for all tests; each store has a schema of its own.
std::unique_ptr<store::PlanStore> MakePostgres() {
  static const auto server = postgres::PostgresServer::Start({});
  if (absl::IsNotFound(server.status())) {
    [] { GTEST_SKIP() << "PostgreSQL's server is not installed"; }();
    return nullptr;
  }
  EXPECT_TRUE(server.ok()) << server.status();
  if (!server.ok()) return nullptr;
  auto store = postgres::OpenPostgresPlanStore((*server)->NewStoreUrl());
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

v1::PlanRecord MakeRecord(const std::string& owner,
                          const std::string& request_id = "") {
  v1::PlanRecord record;
  record.set_namespace_("vision");
  record.set_owner(owner);
  record.set_request_id(request_id);
  record.mutable_request()->set_model_name("llama");
  record.set_module_sha256("ab");
  record.set_submitted_unix_ns(7);
  return record;
}

v1::PlanUpdate MakeUpdate(v1::PlanState state, const std::string& reason = "") {
  v1::PlanUpdate update;
  update.set_unix_ns(8);
  update.set_state(state);
  update.set_reason(reason);
  return update;
}

class PlanStoreConformance
    : public testing::TestWithParam<
          std::function<std::unique_ptr<store::PlanStore>()>> {
 protected:
  void SetUp() override {
    store_ = GetParam()();
    if (IsSkipped()) return;
    ASSERT_NE(store_, nullptr);
    const auto epoch = store_->BeginEpoch("a");
    ASSERT_TRUE(epoch.ok()) << epoch.status();
    epoch_ = *epoch;
  }

  PlanId Add(const v1::PlanRecord& record) {
    const auto added = store_->Add(record);
    EXPECT_TRUE(added.ok()) << added.status();
    return added.ok() ? store::ParsePlanId(added->id()).value_or(PlanId())
                      : PlanId();
  }

  std::vector<std::string> ListIds(const store::PlanFilter& filter) {
    std::vector<std::string> ids;
    const auto listed = store_->List(filter);
    EXPECT_TRUE(listed.ok()) << listed.status();
    if (!listed.ok()) return ids;
    for (const v1::PlanRecord& record : *listed) ids.push_back(record.id());
    return ids;
  }

  std::unique_ptr<store::PlanStore> store_;
  store::Epoch epoch_;
};

TEST_P(PlanStoreConformance, APlanBeginsQueued) {
  const auto added = store_->Add(MakeRecord("ann"));
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_EQ(added->id(), "plan-1");
  EXPECT_EQ(added->state(), v1::QUEUED);
  EXPECT_EQ(added->sequence(), 1);
  const auto got = store_->Get(PlanId{1});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->SerializeAsString(), added->SerializeAsString());
  EXPECT_EQ(got->request().model_name(), "llama");
  EXPECT_EQ(got->submitted_unix_ns(), 7);
}

TEST_P(PlanStoreConformance, TheSameSubmissionIsOnePlan) {
  const PlanId first = Add(MakeRecord("ann", "step 5"));
  ASSERT_TRUE(store_->Append(epoch_, first, MakeUpdate(v1::ANALYSING)).ok());
  const auto again = store_->Add(MakeRecord("ann", "step 5"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->id(), store::FormatPlanId(first));
  EXPECT_EQ(again->state(), v1::ANALYSING);
  EXPECT_NE(Add(MakeRecord("bob", "step 5")), first);
  EXPECT_NE(Add(MakeRecord("ann", "step 6")), first);
  EXPECT_NE(Add(MakeRecord("ann")), Add(MakeRecord("ann")));
}

TEST_P(PlanStoreConformance, ARecordIsTheSumOfItsUpdates) {
  const PlanId id = Add(MakeRecord("ann"));
  ASSERT_TRUE(store_->Append(epoch_, id, MakeUpdate(v1::ANALYSING)).ok());
  v1::PlanUpdate pinned;
  pinned.mutable_device()->set_platform("cpu");
  ASSERT_TRUE(store_->Append(epoch_, id, pinned).ok());
  v1::PlanUpdate progress = MakeUpdate(v1::MEASURING);
  progress.mutable_progress()->set_done(3);
  ASSERT_TRUE(store_->Append(epoch_, id, progress).ok());
  ASSERT_TRUE(
      store_->Append(epoch_, id, MakeUpdate(v1::WAITING, "no worker")).ok());
  v1::PlanUpdate done = MakeUpdate(v1::DONE);
  done.mutable_plan()->set_gap(0.25);
  const auto record = store_->Append(epoch_, id, done);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_FALSE(record->has_plan());
  const auto got = store_->Get(id);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->state(), v1::DONE);
  EXPECT_EQ(got->reason(), "");
  EXPECT_EQ(got->device().platform(), "cpu");
  EXPECT_EQ(got->progress().done(), 3);
  EXPECT_EQ(got->plan().gap(), 0.25);
  EXPECT_EQ(got->sequence(), 6);
}

TEST_P(PlanStoreConformance, AWatcherGoesOnWhereItStopped) {
  const PlanId id = Add(MakeRecord("ann"));
  for (const auto state : {v1::ANALYSING, v1::MEASURING, v1::SEARCHING}) {
    ASSERT_TRUE(store_->Append(epoch_, id, MakeUpdate(state)).ok());
  }
  v1::PlanUpdate done = MakeUpdate(v1::DONE);
  done.mutable_plan()->set_gap(0.25);
  ASSERT_TRUE(store_->Append(epoch_, id, done).ok());
  std::vector<int64_t> sequences;
  int64_t after = 0;
  while (true) {
    const auto updates = store_->ReadUpdates(id, after, 2);
    ASSERT_TRUE(updates.ok()) << updates.status();
    if (updates->empty()) break;
    for (const v1::PlanUpdate& update : *updates) {
      sequences.push_back(update.sequence());
      EXPECT_EQ(update.has_plan(), update.state() == v1::DONE);
      EXPECT_EQ(update.plan().gap(), update.has_plan() ? 0.25 : 0);
    }
    after = sequences.back();
  }
  EXPECT_THAT(sequences, ElementsAre(1, 2, 3, 4, 5));
}

TEST_P(PlanStoreConformance, CountsPlansByState) {
  EXPECT_TRUE(store_->CountByState()->empty());
  const PlanId first = Add(MakeRecord("ann"));
  Add(MakeRecord("bob"));
  Add(MakeRecord("eve"));
  ASSERT_TRUE(store_->Append(epoch_, first, MakeUpdate(v1::FAILED)).ok());
  const auto counts = store_->CountByState();
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_THAT(*counts, ElementsAre(Pair(v1::QUEUED, 2), Pair(v1::FAILED, 1)));
}

TEST_P(PlanStoreConformance, AnEndedPlanTakesNoMoreUpdates) {
  for (const auto state : {v1::DONE, v1::FAILED, v1::CANCELLED}) {
    const PlanId id = Add(MakeRecord("ann"));
    ASSERT_TRUE(store_->Append(epoch_, id, MakeUpdate(state, "why")).ok());
    const auto late = store_->Append(epoch_, id, MakeUpdate(v1::MEASURING));
    EXPECT_TRUE(absl::IsFailedPrecondition(late.status())) << late.status();
    EXPECT_EQ(store_->Get(id)->state(), state);
    EXPECT_THAT(*store_->ReadUpdates(id, 0, 100), SizeIs(2));
  }
}

TEST_P(PlanStoreConformance, OnlyEndedPlansAreRemovedAndTheirIdsStayTheirs) {
  const PlanId running = Add(MakeRecord("ann"));
  ASSERT_TRUE(store_->Append(epoch_, running, MakeUpdate(v1::MEASURING)).ok());
  const PlanId ended = Add(MakeRecord("ann", "nightly"));
  ASSERT_TRUE(store_->Append(epoch_, ended, MakeUpdate(v1::FAILED, "no")).ok());
  const auto removed = store_->Remove({running, ended, PlanId{77}});
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_EQ(*removed, 1);
  EXPECT_TRUE(absl::IsNotFound(store_->Get(ended).status()));
  EXPECT_TRUE(absl::IsNotFound(store_->ReadUpdates(ended, 0, 9).status()));
  EXPECT_TRUE(store_->Get(running).ok());
  // Asked for again it is another plan.
  EXPECT_GT(Add(MakeRecord("ann", "nightly")), ended);
}

TEST_P(PlanStoreConformance, AnOlderEpochChangesNothing) {
  const PlanId id = Add(MakeRecord("ann"));
  const auto newer = store_->BeginEpoch("b");
  ASSERT_TRUE(newer.ok());
  EXPECT_LT(epoch_, *newer);
  const auto late = store_->Append(epoch_, id, MakeUpdate(v1::DONE));
  EXPECT_TRUE(absl::IsAborted(late.status())) << late.status();
  EXPECT_EQ(store_->Get(id)->state(), v1::QUEUED);
  EXPECT_TRUE(store_->Append(*newer, id, MakeUpdate(v1::DONE)).ok());
  // Whoever was replaced drains and resumes no worker.
  v1::WorkerOrder order;
  order.set_worker("a");
  order.set_kind(v1::WorkerOrder::DRAIN);
  EXPECT_TRUE(absl::IsAborted(store_->SetOrder(epoch_, order)));
  EXPECT_THAT(*store_->ListOrders(), IsEmpty());
  EXPECT_TRUE(store_->SetOrder(*newer, order).ok());
  order.set_kind(v1::WorkerOrder::RESUME);
  EXPECT_TRUE(absl::IsAborted(store_->SetOrder(epoch_, order)));
  EXPECT_THAT(*store_->ListOrders(), SizeIs(1));
  EXPECT_TRUE(store_->SetOrder(std::nullopt, order).ok());
  EXPECT_THAT(*store_->ListOrders(), IsEmpty());
}

TEST_P(PlanStoreConformance, OneOfSeveralCoordinatorsLeads) {
  const absl::Duration long_term = absl::Hours(1);
  const auto a = store_->Lead("a", {}, long_term);
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_TRUE(a->is_mine);
  EXPECT_LT(epoch_, a->epoch);
  const auto b = store_->Lead("b", {}, long_term);
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_FALSE(b->is_mine);
  EXPECT_EQ(b->holder, "a");
  EXPECT_EQ(b->epoch, a->epoch);
  // The same address is not the same process.
  EXPECT_FALSE(store_->Lead("a", epoch_, long_term)->is_mine);
  const PlanId id = Add(MakeRecord("ann"));
  EXPECT_TRUE(store_->Append(a->epoch, id, MakeUpdate(v1::ANALYSING)).ok());

  const auto prolonged = store_->Lead("a", a->epoch, absl::ZeroDuration());
  EXPECT_TRUE(prolonged->is_mine);
  EXPECT_EQ(prolonged->epoch, a->epoch);
  // Nobody took it, though the term is over.
  EXPECT_EQ(store_->Lead("a", a->epoch, absl::ZeroDuration())->epoch, a->epoch);
  const auto next = store_->Lead("b", {}, long_term);
  EXPECT_TRUE(next->is_mine);
  EXPECT_LT(a->epoch, next->epoch);
  EXPECT_FALSE(store_->Lead("a", a->epoch, long_term)->is_mine);
  const auto late = store_->Append(a->epoch, id, MakeUpdate(v1::DONE));
  EXPECT_TRUE(absl::IsAborted(late.status())) << late.status();
  EXPECT_TRUE(store_->Append(next->epoch, id, MakeUpdate(v1::DONE)).ok());

  ASSERT_TRUE(store_->StepDown(a->epoch).ok());  // not its own any more
  EXPECT_FALSE(store_->Lead("a", {}, long_term)->is_mine);
  ASSERT_TRUE(store_->StepDown(next->epoch).ok());
  EXPECT_TRUE(store_->Lead("a", {}, long_term)->is_mine);
}

// As one that began before the database's clock was stepped back.
TEST_P(PlanStoreConformance, ATermThatEndsAfterMoreThanATermIsOver) {
  const auto a = store_->Lead("a", {}, absl::Hours(1));
  ASSERT_TRUE(a.ok()) << a.status();
  const auto b = store_->Lead("b", {}, absl::Minutes(1));
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_TRUE(b->is_mine);
  EXPECT_LT(a->epoch, b->epoch);
  EXPECT_FALSE(store_->Lead("a", a->epoch, absl::Minutes(1))->is_mine);
}

TEST_P(PlanStoreConformance, UnknownPlansAreSaidToBe) {
  const absl::Status status = store_->Get(PlanId{5}).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("plan-5"));
  EXPECT_TRUE(absl::IsNotFound(
      store_->Append(epoch_, PlanId{5}, MakeUpdate(v1::DONE)).status()));
  EXPECT_TRUE(absl::IsNotFound(store_->ReadUpdates(PlanId{5}, 0, 1).status()));
}

TEST_P(PlanStoreConformance, ListsAreFilteredAndPaged) {
  const PlanId ann = Add(MakeRecord("ann"));
  Add(MakeRecord("bob"));
  v1::PlanRecord other = MakeRecord("ann");
  other.set_namespace_("language");
  Add(other);
  v1::PlanUpdate done = MakeUpdate(v1::DONE);
  done.mutable_plan()->set_gap(0.25);
  ASSERT_TRUE(store_->Append(epoch_, ann, done).ok());
  EXPECT_THAT(ListIds({}), ElementsAre("plan-3", "plan-2", "plan-1"));
  EXPECT_THAT(ListIds({.limit = 2}), ElementsAre("plan-3", "plan-2"));
  EXPECT_THAT(ListIds({.before = PlanId{2}}), ElementsAre("plan-1"));
  EXPECT_THAT(ListIds({.owner = "ann"}), ElementsAre("plan-3", "plan-1"));
  EXPECT_THAT(ListIds({.teams = {"vision"}}), ElementsAre("plan-2", "plan-1"));
  EXPECT_THAT(ListIds({.teams = {"language", "vision"}, .limit = 2}),
              ElementsAre("plan-3", "plan-2"));
  EXPECT_THAT(ListIds({.teams = {"speech"}}), IsEmpty());
  EXPECT_THAT(ListIds({.teams = {"language", "speech"}, .owner = "ann"}),
              ElementsAre("plan-3"));
  EXPECT_THAT(ListIds({.states = {v1::DONE, v1::FAILED}}),
              ElementsAre("plan-1"));
  const std::vector<v1::PlanRecord> all = *store_->List({});
  for (const v1::PlanRecord& record : all) {
    EXPECT_FALSE(record.has_plan());
  }
}

TEST_P(PlanStoreConformance, APlanOfAnotherStoreKeepsItsId) {
  store::MemoryPlanStore other;
  const store::Epoch epoch = *other.BeginEpoch("other");
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(other.Add(MakeRecord("ann", absl::StrCat("step ", i))).ok());
  }
  const PlanId six{6};
  const auto restore = [&] {
    const v1::PlanRecord record = *other.Get(six);
    return store_->Restore(record,
                           *other.ReadUpdates(six, 0, record.sequence()));
  };
  ASSERT_TRUE(other.Append(epoch, six, MakeUpdate(v1::MEASURING)).ok());
  ASSERT_TRUE(restore().ok()) << restore();
  EXPECT_EQ(store_->Get(six)->SerializeAsString(),
            other.Get(six)->SerializeAsString());
  EXPECT_EQ(Add(MakeRecord("bob")), PlanId{7});
  EXPECT_EQ(Add(MakeRecord("ann", "step 5")), six);

  v1::PlanUpdate done = MakeUpdate(v1::DONE);
  done.mutable_plan()->set_gap(0.25);
  ASSERT_TRUE(other.Append(epoch, six, done).ok());
  ASSERT_TRUE(restore().ok());
  ASSERT_TRUE(restore().ok());  // changes nothing
  EXPECT_EQ(store_->Get(six)->SerializeAsString(),
            other.Get(six)->SerializeAsString());
  const auto updates = store_->ReadUpdates(six, 0, 100);
  ASSERT_TRUE(updates.ok()) << updates.status();
  ASSERT_THAT(*updates, SizeIs(3));
  EXPECT_EQ(updates->back().plan().gap(), 0.25);
}

TEST_P(PlanStoreConformance, AnOldPlanOfAnotherStoreGivesNoIdTwice) {
  store::MemoryPlanStore other;
  std::vector<PlanId> ids;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(other.Add(MakeRecord("ann")).ok());
    ids.push_back(Add(MakeRecord("ann")));
    ASSERT_TRUE(
        store_->Append(epoch_, ids.back(), MakeUpdate(v1::FAILED)).ok());
  }
  ASSERT_EQ(*store_->Remove(ids), 3);
  const v1::PlanRecord record = *other.Get(ids[1]);
  const absl::Status restored =
      store_->Restore(record, *other.ReadUpdates(ids[1], 0, record.sequence()));
  ASSERT_TRUE(restored.ok()) << restored;
  EXPECT_GT(Add(MakeRecord("ann")), ids[2]);
}

TEST_P(PlanStoreConformance, APlanOfAnotherStoreReplacesNone) {
  store::MemoryPlanStore other;
  const store::Epoch epoch = *other.BeginEpoch("other");
  const auto restore = [&](PlanId id) {
    const v1::PlanRecord record = *other.Get(id);
    return store_->Restore(record,
                           *other.ReadUpdates(id, 0, record.sequence()));
  };
  const auto expect_taken = [](const absl::Status& status, const char* why) {
    EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  };
  Add(MakeRecord("ann", "step 1"));
  ASSERT_TRUE(other.Add(MakeRecord("bob")).ok());
  ASSERT_TRUE(other.Add(MakeRecord("ann", "step 1")).ok());
  ASSERT_TRUE(other.Add(MakeRecord("eve")).ok());
  expect_taken(restore(PlanId{1}), "another plan-1");
  expect_taken(restore(PlanId{2}), "request id of plan-2, step 1");
  ASSERT_TRUE(restore(PlanId{3}).ok());
  ASSERT_TRUE(
      store_->Append(epoch_, PlanId{3}, MakeUpdate(v1::ANALYSING)).ok());
  ASSERT_TRUE(restore(PlanId{3}).ok());  // an earlier state of the same
  for (const auto state : {v1::MEASURING, v1::SEARCHING}) {
    ASSERT_TRUE(other.Append(epoch, PlanId{3}, MakeUpdate(state)).ok());
  }
  expect_taken(restore(PlanId{3}), "went on by itself");
  EXPECT_EQ(store_->Get(PlanId{3})->state(), v1::ANALYSING);
  EXPECT_TRUE(
      absl::IsInvalidArgument(store_->Restore(*other.Get(PlanId{3}), {})));
  EXPECT_THAT(ListIds({}), ElementsAre("plan-3", "plan-1"));
}

TEST_P(PlanStoreConformance, ANamespaceHasSoManyPlansAtOnce) {
  const store::PlanLimits two{.plans = 2};
  v1::PlanRecord large = MakeRecord("ann", "step 1");
  large.set_module_bytes(100);
  ASSERT_TRUE(store_->Add(large, two).ok());
  v1::PlanRecord other = MakeRecord("ann");
  other.set_namespace_("language");
  ASSERT_TRUE(store_->Add(other, two).ok());
  const PlanId ended = Add(MakeRecord("bob"));
  const absl::Status third = store_->Add(MakeRecord("eve"), two).status();
  EXPECT_TRUE(absl::IsResourceExhausted(third)) << third;
  EXPECT_TRUE(store_->Add(large, two).ok());  // the same submission again
  EXPECT_THAT(*store_->List({}), SizeIs(3));
  ASSERT_TRUE(store_->Append(epoch_, ended, MakeUpdate(v1::FAILED)).ok());
  EXPECT_TRUE(store_->Add(MakeRecord("eve"), two).ok());
  const store::PlanLimits bytes{.module_bytes = 150};
  v1::PlanRecord small = MakeRecord("ann");
  small.set_module_bytes(50);
  EXPECT_TRUE(store_->Add(small, bytes).ok());
  const absl::Status beyond = store_->Add(small, bytes).status();
  EXPECT_TRUE(absl::IsResourceExhausted(beyond)) << beyond;
}

TEST_P(PlanStoreConformance, ANamespaceKeepsSoManyBytesOfModules) {
  const store::PlanLimits limits{.stored_bytes = 150};
  const auto make = [](const std::string& module, int64_t bytes) {
    v1::PlanRecord record = MakeRecord("ann");
    record.clear_request();
    record.set_module_sha256(module);
    record.set_module_bytes(bytes);
    return record;
  };
  const PlanId ended = Add(make("a", 100));
  ASSERT_TRUE(store_->Append(epoch_, ended, MakeUpdate(v1::FAILED)).ok());
  v1::PlanRecord elsewhere = make("c", 100);
  elsewhere.set_namespace_("language");
  ASSERT_TRUE(store_->Add(elsewhere, limits).ok());
  const absl::Status beyond = store_->Add(make("b", 51), limits).status();
  EXPECT_TRUE(absl::IsResourceExhausted(beyond)) << beyond;
  EXPECT_TRUE(store_->Add(make("a", 100), limits).ok());
  EXPECT_TRUE(store_->Add(make("b", 50), limits).ok());
}

TEST_P(PlanStoreConformance, DevicesAreKnownOnce) {
  v1::DeviceRecord device;
  device.set_platform("cpu");
  device.set_device_count(2);
  ASSERT_TRUE(store_->RememberDevice(device).ok());
  ASSERT_TRUE(store_->RememberDevice(device).ok());
  device.set_platform("cuda");
  ASSERT_TRUE(store_->RememberDevice(device).ok());
  const auto devices = store_->ListDevices();
  ASSERT_TRUE(devices.ok()) << devices.status();
  EXPECT_THAT(*devices, SizeIs(2));
}

TEST_P(PlanStoreConformance, OrdersHoldUntilTheyAreTakenBack) {
  v1::WorkerOrder a, b;
  a.set_worker("a");
  a.set_kind(v1::WorkerOrder::DRAIN);
  b.set_worker("b");
  b.set_kind(v1::WorkerOrder::QUARANTINE);
  b.set_reason("its fan");
  ASSERT_TRUE(store_->SetOrder(epoch_, b).ok());
  ASSERT_TRUE(store_->SetOrder(epoch_, a).ok());
  a.set_kind(v1::WorkerOrder::QUARANTINE);
  ASSERT_TRUE(store_->SetOrder(epoch_, a).ok());
  auto orders = store_->ListOrders();
  ASSERT_TRUE(orders.ok()) << orders.status();
  ASSERT_THAT(*orders, SizeIs(2));
  EXPECT_EQ((*orders)[0].SerializeAsString(), a.SerializeAsString());
  EXPECT_EQ((*orders)[1].SerializeAsString(), b.SerializeAsString());
  a.set_kind(v1::WorkerOrder::RESUME);
  ASSERT_TRUE(store_->SetOrder(epoch_, a).ok());
  ASSERT_TRUE(store_->SetOrder(epoch_, a).ok());
  orders = store_->ListOrders();
  ASSERT_TRUE(orders.ok()) << orders.status();
  ASSERT_THAT(*orders, SizeIs(1));
  EXPECT_EQ((*orders)[0].worker(), "b");
}

// A watcher reads while the plan is committed: the two are one commit.
store::AuditRow MakeAuditRow(int number) {
  return {.when = absl::FromUnixNanos(1000 + number),
          .coordinator = "a:1",
          .who = "token:1a",
          .peer = "ipv4:1.2.3.4:5",
          .what = "/meshwright.v1.Plans/Cancel",
          .outcome = "NOT_FOUND",
          .reason = absl::StrCat("there is no plan-", number),
          .left_out = number};
}

TEST_P(PlanStoreConformance, AuditRowsAreReadInTheirOrder) {
  EXPECT_THAT(*store_->ReadAudit(0, 9), IsEmpty());
  std::vector<store::AuditRow> given;
  for (int i = 0; i < 5; ++i) given.push_back(MakeAuditRow(i));
  ASSERT_TRUE(store_->RecordAudit(given).ok());
  const auto first = store_->ReadAudit(0, 3);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_THAT(*first, SizeIs(3));
  const auto rest = store_->ReadAudit(first->back().number, 9);
  ASSERT_TRUE(rest.ok()) << rest.status();
  ASSERT_THAT(*rest, SizeIs(2));
  EXPECT_LT(first->back().number, rest->front().number);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(store::DigestAudit((*first)[i]), store::DigestAudit(given[i]));
  }
  EXPECT_EQ(rest->back().reason, "there is no plan-4");
  EXPECT_EQ(rest->back().left_out, 4);
  const auto newest = store_->ReadNewestAudit(2);
  ASSERT_TRUE(newest.ok()) << newest.status();
  ASSERT_THAT(*newest, SizeIs(2));
  EXPECT_EQ(newest->front().number, rest->front().number);
  EXPECT_EQ(newest->back().number, rest->back().number);
  EXPECT_THAT(*store_->ReadNewestAudit(99), SizeIs(5));
  EXPECT_THAT(*store_->ReadAudit(rest->back().number, 9), IsEmpty());
}

TEST_P(PlanStoreConformance, AnAuditRowIsThereOnceWhateverItsTextsAre) {
  store::AuditRow row = MakeAuditRow(1);
  row.peer = std::string("a\0z\xff", 4);
  row.reason = std::string(5000, 'x');
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(store_->RecordAudit({row, row}).ok());
  const auto rows = store_->ReadAudit(0, 9);
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_THAT(*rows, SizeIs(1));
  EXPECT_EQ(rows->front().peer, "a\\x00z\\xff");
  EXPECT_THAT(rows->front().reason, SizeIs(store::kMaximumTextBytes));
}

TEST_P(PlanStoreConformance, OldAuditRowsAreRemoved) {
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(store_->RecordAudit({MakeAuditRow(i)}).ok());
  }
  EXPECT_EQ(*store_->RemoveAudit(absl::FromUnixNanos(1002)), 2);
  EXPECT_EQ(*store_->RemoveAudit(absl::FromUnixNanos(1002)), 0);
  EXPECT_THAT(*store_->ReadAudit(0, 9), SizeIs(2));
  EXPECT_EQ(store_->ReadAudit(0, 9)->front().when, absl::FromUnixNanos(1002));
}

TEST_P(PlanStoreConformance, ADeedIsWrittenWithItsChangeAndOnlyWithIt) {
  const auto count = [&] { return store_->ReadAudit(0, 99)->size(); };
  PlanId id;
  {
    store::AuditScope deed(MakeAuditRow(1));
    EXPECT_TRUE(store_->ReadAudit(0, 9).ok());
    EXPECT_TRUE(store_->RememberDevice({}).ok());
    EXPECT_FALSE(deed.is_written());
    id = Add(MakeRecord("ann"));
    EXPECT_TRUE(deed.is_written());
    EXPECT_EQ(store_->ReadAudit(0, 9)->front().object, store::FormatPlanId(id));
    Add(MakeRecord("ann"));
    EXPECT_EQ(count(), 1u);
  }
  v1::WorkerOrder order;
  order.set_worker("w");
  order.set_kind(v1::WorkerOrder::DRAIN);
  {
    store::AuditScope deed(MakeAuditRow(2));
    const store::Epoch older{epoch_.value - 1};
    EXPECT_TRUE(absl::IsAborted(
        store_->Append(older, id, MakeUpdate(v1::CANCELLED)).status()));
    EXPECT_TRUE(absl::IsAborted(store_->SetOrder(older, order)));
    EXPECT_FALSE(
        store_->Append(epoch_, PlanId{99}, MakeUpdate(v1::ANALYSING)).ok());
    EXPECT_TRUE(absl::IsResourceExhausted(
        store_->Add(MakeRecord("ann"), {.plans = 1}).status()));
    EXPECT_FALSE(deed.is_written());
    EXPECT_EQ(count(), 1u);
    ASSERT_TRUE(store_->Append(epoch_, id, MakeUpdate(v1::CANCELLED)).ok());
    EXPECT_TRUE(deed.is_written());
    EXPECT_EQ(count(), 2u);
  }
  store::AuditScope deed(MakeAuditRow(3));
  ASSERT_TRUE(store_->SetOrder(epoch_, order).ok());
  EXPECT_TRUE(deed.is_written());
  EXPECT_EQ(store_->ReadAudit(0, 9)->back().object, "w");
}

TEST_P(PlanStoreConformance, WorkersAreThoseThatTheLeaderWroteLast) {
  store::WorkerRow a{.worker = "a",
                     .host = "here",
                     .platform = "cpu",
                     .device_kind = "cpu",
                     .device_count = 2,
                     .seen = absl::FromUnixNanos(7)};
  store::WorkerRow b = a;
  b.worker = "b";
  b.reason = "is drained by an administrator";
  ASSERT_TRUE(store_->SetWorkers(epoch_, {.written = {b, a}}).ok());
  EXPECT_THAT(*store_->ListWorkers(), ElementsAre(a, b));
  a.device_count = 4;
  a.seen += absl::Nanoseconds(1);
  ASSERT_TRUE(
      store_->SetWorkers(epoch_, {.written = {a}, .removed = {"b", "c"}}).ok());
  EXPECT_THAT(*store_->ListWorkers(), ElementsAre(a));
  const auto newer = store_->BeginEpoch("b");
  ASSERT_TRUE(newer.ok()) << newer.status();
  EXPECT_TRUE(absl::IsAborted(store_->SetWorkers(epoch_, {.removed = {"a"}})));
  EXPECT_THAT(*store_->ListWorkers(), ElementsAre(a));
}

TEST_P(PlanStoreConformance, AnEndIsNeverReadWithoutItsPlan) {
  constexpr int kPlans = 200;
  std::vector<PlanId> ids;
  ids.reserve(kPlans);
  for (int i = 0; i < kPlans; ++i) ids.push_back(Add(MakeRecord("ann")));
  std::jthread writer([&] {
    for (const PlanId id : ids) {
      v1::PlanUpdate done = MakeUpdate(v1::DONE);
      done.mutable_plan()->mutable_predicted()->set_step_seconds(1);
      EXPECT_TRUE(store_->Append(epoch_, id, done).ok());
    }
  });
  for (const PlanId id : ids) {
    bool is_done = false;
    while (!is_done && !HasFailure()) {
      const auto updates = store_->ReadUpdates(id, 1, 9);
      ASSERT_TRUE(updates.ok()) << updates.status();
      if (updates->empty()) continue;
      is_done = true;
      EXPECT_EQ(updates->back().plan().predicted().step_seconds(), 1)
          << store::FormatPlanId(id);
    }
  }
}

TEST_P(PlanStoreConformance, ManyWritersLeaveNoGap) {
  const PlanId id = Add(MakeRecord("ann"));
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 4; ++i) {
      writers.emplace_back([&] {
        for (int j = 0; j < 10; ++j) {
          const auto written =
              store_->Append(epoch_, id, MakeUpdate(v1::MEASURING));
          EXPECT_TRUE(written.ok()) << written.status();
        }
      });
    }
  }
  const auto updates = store_->ReadUpdates(id, 0, 100);
  ASSERT_TRUE(updates.ok()) << updates.status();
  ASSERT_THAT(*updates, SizeIs(41));
  for (int i = 0; i < 41; ++i) EXPECT_EQ((*updates)[i].sequence(), i + 1);
}

INSTANTIATE_TEST_SUITE_P(Memory, PlanStoreConformance,
                         testing::Values(MakeMemory));
INSTANTIATE_TEST_SUITE_P(Sqlite, PlanStoreConformance,
                         testing::Values(MakeSqlite));

INSTANTIATE_TEST_SUITE_P(Postgres, PlanStoreConformance,
                         testing::Values(MakePostgres));

TEST(SqlitePlanStoreTest, PlansOutliveTheProcessThatTookThem) {
  auto first = MakeSqlite();
  ASSERT_NE(first, nullptr);
  const auto epoch = first->BeginEpoch("a");
  ASSERT_TRUE(first->Add(MakeRecord("ann", "step 5")).ok());
  ASSERT_TRUE(first->Append(*epoch, PlanId{1}, MakeUpdate(v1::MEASURING)).ok());
  first.reset();
  const auto second = OpenSqlite();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->Get(PlanId{1})->state(), v1::MEASURING);
  EXPECT_LT(*epoch, *second->BeginEpoch("b"));
}

TEST(SqlitePlanStoreTest, SharesTheFileOfTheProfiles) {
  const auto plans = MakeSqlite();
  ASSERT_NE(plans, nullptr);
  const auto profiles = sqlite::SqliteProfileStore::Open(StoreFile());
  ASSERT_TRUE(profiles.ok()) << profiles.status();
  const std::string key(64, 'a');
  ASSERT_TRUE((*profiles)->RecordProgram(key, "hlo").ok());
  ASSERT_TRUE(plans->Add(MakeRecord("ann")).ok());
  EXPECT_EQ(*(*profiles)->LookupProgram(key), "hlo");
}

// The first read on each of the two connections finds it lost.
TEST(PostgresPlanStoreTest, AStoreGoesOnAfterItsServerWasRestarted) {
  const auto server = postgres::PostgresServer::Start({.is_durable = true});
  if (absl::IsNotFound(server.status())) {
    GTEST_SKIP() << "PostgreSQL's server is not installed";
  }
  ASSERT_TRUE(server.ok()) << server.status();
  const auto opened = postgres::OpenPostgresPlanStore((*server)->NewStoreUrl());
  ASSERT_TRUE(opened.ok()) << opened.status();
  store::PlanStore& store = **opened;
  ASSERT_TRUE(store.Add(MakeRecord("ann")).ok());
  const std::vector<std::function<absl::Status()>> reads = {
      [&] { return store.Get(PlanId{1}).status(); },
      [&] { return store.List({}).status(); },
      [&] { return store.CountByState().status(); },
      [&] { return store.ReadUpdates(PlanId{1}, 0, 9).status(); },
      [&] { return store.ListDevices().status(); },
      [&] { return store.ListOrders().status(); },
      [&] { return store.ListWorkers().status(); },
      [&] { return store.ReadAudit(0, 9).status(); },
  };
  for (const auto& read : reads) ASSERT_TRUE(read().ok()) << read();
  (*server)->Stop();
  for (const auto& read : reads) {
    const absl::Status status = read();
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("try again"));
  }
  ASSERT_TRUE((*server)->Restart().ok());
  for (const auto& read : reads) EXPECT_TRUE(read().ok()) << read();
  // Nobody called while it was down: nobody notices, whatever comes first.
  for (const auto& read : reads) {
    (*server)->Stop();
    ASSERT_TRUE((*server)->Restart().ok());
    EXPECT_TRUE(read().ok()) << read();
  }
  EXPECT_TRUE(store.Add(MakeRecord("bob")).ok());
}

TEST(PlanIdTest, IsItsTextAndBack) {
  EXPECT_EQ(store::FormatPlanId(PlanId{17}), "plan-17");
  EXPECT_EQ(*store::ParsePlanId("plan-17"), PlanId{17});
  for (const char* text : {"", "17", "plan-", "plan-0", "plan--1", "plan-1x",
                           "plan-99999999999999999999", "Plan-1", "plan- 1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(store::ParsePlanId(text).status()))
        << text;
  }
}

}  // namespace
}  // namespace meshwright::conformance
