#include "profiledb/upkeep/copy_store.h"

#include <gtest/gtest.h>

#include <functional>

#include "absl/strings/str_cat.h"
#include "profiledb/open.h"
#include "profiledb/postgres/testing/postgres_server.h"
#include "profiledb/sqlite/testing/store_file.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

// Everything, with all origins and days.
std::string Dump(ProfileStore& store) {
  std::string text;
  const auto add_row = [&](const WholeRow& row) -> absl::Status {
    absl::StrAppend(&text, row.team, " ", row.key, " ", row.last_used_day);
    for (const KeptRow& kept : row.kept) {
      absl::StrAppend(&text, " ", kept.origin.host, " ", kept.origin.machine,
                      " ", kept.origin.recorded.time_since_epoch().count(), " ",
                      kept.result.SerializeAsString());
    }
    absl::StrAppend(&text, "\n");
    return {};
  };
  const auto add_program = [&](const std::string& key,
                               std::string_view hlo) -> absl::Status {
    absl::StrAppend(&text, key, " ", std::string(hlo), "\n");
    return {};
  };
  const auto add_crash = [&](const QuarantineEntry& entry) -> absl::Status {
    absl::StrAppend(&text, entry.key, " ", static_cast<int>(entry.state), " ",
                    entry.crashes, " ", entry.reason, " ", entry.log, "\n");
    return {};
  };
  EXPECT_TRUE(store
                  .ForEachWhole({.row = add_row,
                                 .program = add_program,
                                 .quarantined = add_crash})
                  .ok());
  return text;
}

void Fill(ProfileStore& store) {
  for (int i = 0; i < 1200; ++i) {
    Origin origin = MakeWorkersOrigin(i);
    origin.team = i % 3 == 0 ? "red" : kSharedPool;
    const Entry entry{.result = MakeWorkersRow(absl::StrCat(i % 700), i),
                      .origin = origin,
                      .last_used_day = 19'000 + i % 7};
    ASSERT_TRUE(store.Record({&entry, 1}).ok());
  }
  ASSERT_TRUE(store.RecordProgram(MakeKey("1"), "module").ok());
  ASSERT_TRUE(
      store.RecordProgram(MakeKey("model"), std::string(100'000, 'm')).ok());
  ASSERT_TRUE(store.Quarantine(MakeKey("crash"), 3, "why", "\xff log").ok());
}

TEST(CopyStoreTest, ACopyHasEverythingAndASecondOneChangesNothing) {
  FakeProfileStore from;
  Fill(from);
  from.Plant(MakeRow("pruned", v1::PRUNED), {});
  FakeProfileStore to;
  const auto report = CopyStore(from, to);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->measurements(), 1200);
  EXPECT_EQ(report->programs(), 2);
  EXPECT_EQ(report->quarantined(), 1);
  EXPECT_EQ(report->left(), 1);
  EXPECT_EQ(report->left_rows(0).key(), MakeKey("pruned"));
  const std::string dump = Dump(to);
  ASSERT_TRUE(CopyStore(from, to).ok());
  EXPECT_EQ(Dump(to), dump);
}

v1::PlanRecord MakePlanRecord(const std::string& owner) {
  v1::PlanRecord record;
  record.set_namespace_(kSharedPool);
  record.set_owner(owner);
  record.set_module_sha256(MakeKey("model"));
  record.set_submitted_unix_ns(1);
  return record;
}

// One that is done, one that runs, and the devices of both.
void FillPlans(PlanStore& plans) {
  const Epoch epoch = *plans.BeginEpoch("a");
  for (const char* const owner : {"ann", "bob"}) {
    ASSERT_TRUE(plans.Add(MakePlanRecord(owner)).ok());
  }
  v1::PlanUpdate update;
  update.set_state(v1::MEASURING);
  for (const int64_t id : {1, 2}) {
    ASSERT_TRUE(plans.Append(epoch, PlanId{id}, update).ok());
  }
  update.set_state(v1::DONE);
  update.mutable_plan()->set_gap(0.25);
  ASSERT_TRUE(plans.Append(epoch, PlanId{1}, update).ok());
  v1::DeviceRecord device;
  device.set_platform("cpu");
  ASSERT_TRUE(plans.RememberDevice(device).ok());
  v1::WorkerOrder order;
  order.set_worker("gpu-7");
  order.set_kind(v1::WorkerOrder::DRAIN);
  ASSERT_TRUE(plans.SetOrder(std::nullopt, order).ok());
  std::vector<AuditRow> rows(2500);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].when = absl::FromUnixNanos(static_cast<int64_t>(i));
  }
  ASSERT_TRUE(plans.RecordAudit(rows).ok());
}

std::string DumpPlans(PlanStore& plans) {
  std::string text;
  const std::vector<v1::PlanRecord> records = *plans.List({});
  for (const v1::PlanRecord& listed : records) {
    const PlanId id = *ParsePlanId(listed.id());
    absl::StrAppend(&text, plans.Get(id)->SerializeAsString(), "\n");
    const std::vector<v1::PlanUpdate> updates = *plans.ReadUpdates(id, 0, 100);
    for (const v1::PlanUpdate& update : updates) {
      absl::StrAppend(&text, update.SerializeAsString(), "\n");
    }
  }
  const std::vector<v1::DeviceRecord> devices = *plans.ListDevices();
  for (const v1::DeviceRecord& device : devices) {
    absl::StrAppend(&text, device.SerializeAsString(), "\n");
  }
  const std::vector<v1::WorkerOrder> orders = *plans.ListOrders();
  for (const v1::WorkerOrder& order : orders) {
    absl::StrAppend(&text, order.SerializeAsString(), "\n");
  }
  const std::vector<AuditRow> rows = *plans.ReadAudit(0, 10'000);
  for (const AuditRow& row : rows) {
    absl::StrAppend(&text, DigestAudit(row), "\n");
  }
  return text;
}

TEST(CopyStoreTest, PlansComeWithTheirUpdatesAndModules) {
  FakeProfileStore from, to;
  MemoryPlanStore from_plans, to_plans;
  Fill(from);
  FillPlans(from_plans);
  const auto copy = [&] {
    return CopyWholeStore({&from, &from_plans}, {&to, &to_plans});
  };
  const auto report = copy();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->plans(), 2);
  EXPECT_EQ(report->left(), 0);
  EXPECT_EQ(DumpPlans(to_plans), DumpPlans(from_plans));
  const auto plan = to_plans.Get(PlanId{1});
  EXPECT_EQ(plan->plan().gap(), 0.25);
  EXPECT_EQ(*to.FindProgramBytes(plan->module_sha256()), 100'000);
  EXPECT_EQ(copy()->plans(), 2);
  EXPECT_EQ(DumpPlans(to_plans), DumpPlans(from_plans));
}

TEST(CopyStoreTest, APlanThatHasAnothersIdIsLeftAndNamed) {
  FakeProfileStore from, to;
  MemoryPlanStore from_plans, to_plans;
  FillPlans(from_plans);
  ASSERT_TRUE(to_plans.Add(MakePlanRecord("eve")).ok());
  const auto report = CopyWholeStore({&from, &from_plans}, {&to, &to_plans});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->plans(), 1);
  ASSERT_EQ(report->left(), 1);
  EXPECT_EQ(report->left_rows(0).key(), "plan-1");
  EXPECT_EQ(report->left_rows(0).reason(),
            "the other store has another plan-1");
  EXPECT_EQ(to_plans.Get(PlanId{1})->owner(), "eve");
  EXPECT_EQ(to_plans.Get(PlanId{2})->state(), v1::MEASURING);
}

// Of three plans the second is gone when it is read, and the third damaged.
class HoledPlans : public MemoryPlanStore {
 public:
  absl::StatusOr<v1::PlanRecord> Get(PlanId id) override {
    if (id == PlanId{2}) return absl::NotFoundError("there is no plan-2");
    return MemoryPlanStore::Get(id);
  }
  absl::StatusOr<std::vector<v1::PlanUpdate>> ReadUpdates(PlanId id,
                                                          int64_t after,
                                                          int limit) override {
    if (id == PlanId{3}) return absl::DataLossError("plan-3 is damaged");
    if (id == PlanId{4}) return std::vector<v1::PlanUpdate>();
    return MemoryPlanStore::ReadUpdates(id, after, limit);
  }
};

TEST(CopyStoreTest, APlanThatIsGoneOrDamagedEndsNoCopy) {
  FakeProfileStore from, to;
  HoledPlans from_plans;
  MemoryPlanStore to_plans;
  Fill(from);
  for (const char* const owner : {"ann", "bob", "cid", "dan", "eve"}) {
    ASSERT_TRUE(from_plans.Add(MakePlanRecord(owner)).ok());
  }
  const auto report = CopyWholeStore({&from, &from_plans}, {&to, &to_plans});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->plans(), 2);
  EXPECT_EQ(report->measurements(), 1200);
  ASSERT_EQ(report->left(), 2);
  EXPECT_EQ(report->left_rows(0).key(), "plan-3");
  EXPECT_EQ(report->left_rows(0).reason(), "plan-3 is damaged");
  EXPECT_EQ(report->left_rows(1).key(), "plan-4");
  const std::vector<v1::PlanRecord> copied = *to_plans.List({});
  ASSERT_EQ(copied.size(), 2);
  EXPECT_EQ(copied[0].owner(), "eve");
  EXPECT_EQ(copied[1].owner(), "ann");
}

// Calls a function before its rows are read.
class AwaitedRows : public FakeProfileStore {
 public:
  absl::Status ForEachWhole(const Scan& scan) override {
    if (meanwhile) meanwhile();
    return FakeProfileStore::ForEachWhole(scan);
  }
  std::function<void()> meanwhile;
};

// The copy of a plan that is done would lack the rows of its last minutes.
TEST(CopyStoreTest, APlanThatEndsMeanwhileIsCopiedAsItWas) {
  AwaitedRows from;
  FakeProfileStore to;
  MemoryPlanStore from_plans, to_plans;
  const Epoch epoch = *from_plans.BeginEpoch("a");
  ASSERT_TRUE(from_plans.Add(MakePlanRecord("ann")).ok());
  from.meanwhile = [&] {
    v1::PlanUpdate done;
    done.set_state(v1::DONE);
    done.mutable_plan()->set_gap(0.25);
    EXPECT_TRUE(from_plans.Append(epoch, PlanId{1}, done).ok());
    EXPECT_TRUE(from.Record(MakeWorkersRow("late", 1), {}).ok());
  };
  const auto report = CopyWholeStore({&from, &from_plans}, {&to, &to_plans});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(to_plans.Get(PlanId{1})->state(), v1::QUEUED);
  EXPECT_EQ(report->rows(), 1);
}

TEST(CopyStoreTest, ThroughSqliteAndPostgresAndBack) {
  const auto server = postgres::PostgresServer::Start({});
  if (absl::IsNotFound(server.status())) {
    GTEST_SKIP() << "PostgreSQL's server is not installed";
  }
  ASSERT_TRUE(server.ok()) << server.status();
  const sqlite::StoreFile one("copy_one");
  const sqlite::StoreFile other("copy_other");
  const auto from = OpenProfileStore(one.path());
  ASSERT_TRUE(from.ok()) << from.status();
  Fill(**from);
  const std::string url = (*server)->NewStoreUrl();
  const auto postgres = OpenProfileStore(url);
  ASSERT_TRUE(postgres.ok()) << postgres.status();
  const auto back = OpenProfileStore(other.path());
  ASSERT_TRUE(back.ok()) << back.status();
  const auto from_plans = OpenPlanStore(one.path());
  ASSERT_TRUE(from_plans.ok()) << from_plans.status();
  FillPlans(**from_plans);
  const auto postgres_plans = OpenPlanStore(url);
  ASSERT_TRUE(postgres_plans.ok()) << postgres_plans.status();
  const auto back_plans = OpenPlanStore(other.path());
  ASSERT_TRUE(back_plans.ok()) << back_plans.status();
  const StoreHalves source{from->get(), from_plans->get()};
  const StoreHalves middle{postgres->get(), postgres_plans->get()};
  const StoreHalves target{back->get(), back_plans->get()};
  const auto there = CopyWholeStore(source, middle);
  ASSERT_TRUE(there.ok()) << there.status();
  const auto home = CopyWholeStore(middle, target);
  ASSERT_TRUE(home.ok()) << home.status();
  const std::string plans = DumpPlans(**from_plans);
  EXPECT_TRUE(DumpPlans(**postgres_plans) == plans);
  EXPECT_TRUE(DumpPlans(**back_plans) == plans);
  const std::string dump = Dump(**from);
  EXPECT_GT(dump.size(), 100'000);
  EXPECT_TRUE(Dump(**postgres) == dump);
  EXPECT_TRUE(Dump(**back) == dump);
}

}  // namespace
}  // namespace meshwright::store
