// A coordinator whose store fails under it: a disk that fills, a file system
// that cannot be written, a database that goes away. What was kept stays, each
// caller reads one sentence, and it goes on when the store is back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/postgres/testing/postgres_server.h"
#include "tests/integration/fake_batches.h"
#include "tests/integration/process.h"
#include "worker/service/worker.h"

namespace meshwright::integration {
namespace {

using client::PlanningClient;
using testing::HasSubstr;

// Who asks without a pause takes the processors from those it waits for.
constexpr absl::Duration kBetweenLooks = absl::Milliseconds(20);

// A small file system of its own, which is gone with it.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder) : folder_(folder) {
    std::filesystem::create_directories(folder);
    is_there_ = mount("meshwright", folder.c_str(), "tmpfs", 0, "size=4m") == 0;
  }
  ~SmallDisk() {
    if (is_there_) umount2(folder_.c_str(), MNT_DETACH);
  }
  bool is_there() const { return is_there_; }
  void Fill() const {
    std::ofstream file(Filler(), std::ios::binary);
    const std::string block(1024, 'x');
    while (file.write(block.data(), 1024).flush()) {
    }
  }
  void Free() const { std::filesystem::remove(Filler()); }
  void MakeReadOnly() const {
    ASSERT_EQ(mount("meshwright", folder_.c_str(), "tmpfs",
                    MS_REMOUNT | MS_RDONLY, "size=4m"),
              0);
  }
  std::string Store() const { return folder_ + "/profiles.db"; }

 private:
  std::string Filler() const { return folder_ + "/filler"; }
  const std::string folder_;
  bool is_there_ = false;
};

class StoreTroubleTest : public testing::Test {
 protected:
  void TearDown() override {
    if (worker_ != nullptr) worker_->Stop();
  }

  void StartCoordinator(const std::string& store) {
    coordinator_ = std::make_unique<Process>(
        std::vector<std::string>{"meshwright-coordinator", "--json", "--listen",
                                 "127.0.0.1:0", "--store", store});
    const auto said =
        nlohmann::json::parse(coordinator_->ReadLine(), nullptr, false);
    ASSERT_TRUE(said.is_object()) << coordinator_->Errors();
    address_ = said.value("address", "");
    auto client = PlanningClient::Connect(address_);
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }
  void StartWorker() {
    worker::Worker::Dependencies dependencies;
    dependencies.coordinator_address = address_;
    dependencies.name = "words";
    dependencies.host = "here";
    dependencies.devices.set_platform("cpu");
    dependencies.devices.set_device_count(2);
    dependencies.run_batch = batches_.function();
    worker_ = std::make_unique<worker::Worker>(std::move(dependencies));
    ASSERT_TRUE(worker_->Start().ok());
  }
  absl::StatusOr<v1::PlanRecord> Submit() {
    v1::SubmitPlanRequest request;
    v1::PlanRequest& plan = *request.mutable_request();
    plan.set_hlo_module(segmenter::ReadSample("gpt2_tiny"));
    plan.set_model_name("gpt2_tiny");
    plan.mutable_mesh()->add_shape(1);
    plan.mutable_mesh()->add_shape(2);
    plan.set_platform("cpu");
    return client_->SubmitPlan(request);
  }
  // As it is once `is_so`, or after half a minute.
  template <typename Predicate>
  v1::PlanRecord Await(const std::string& id, const Predicate& is_so) {
    const absl::Time began = absl::Now();
    absl::StatusOr<v1::PlanRecord> plan;
    do {
      plan = client_->GetPlan(id);
      if (plan.ok() && is_so(*plan)) return *plan;
      absl::SleepFor(kBetweenLooks);
    } while (absl::Now() - began < absl::Seconds(30));
    ADD_FAILURE() << plan.status() << " "
                  << (plan.ok() ? plan->ShortDebugString() : "");
    return v1::PlanRecord();
  }
  static bool HasEnded(const v1::PlanRecord& plan) {
    return plan.state() == v1::DONE || plan.state() == v1::FAILED;
  }

  const std::string folder_ = testing::TempDir() + "/store_trouble_test";
  FakeBatches batches_{"fake 1", 3};
  std::string address_;
  std::unique_ptr<Process> coordinator_;
  std::unique_ptr<PlanningClient> client_;
  std::unique_ptr<worker::Worker> worker_;
};

TEST_F(StoreTroubleTest, AFullDisk) {
  const SmallDisk disk(folder_);
  if (!disk.is_there()) GTEST_SKIP() << "no file system can be mounted here";
  StartCoordinator(disk.Store());
  StartWorker();
  const auto plan = Submit();
  ASSERT_TRUE(plan.ok()) << plan.status();
  batches_.AwaitHeld();
  disk.Fill();
  batches_.Release();
  const absl::Status refused = Submit().status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the disk is full"));
  disk.Free();
  const v1::PlanRecord ended = Await(plan->id(), HasEnded);
  EXPECT_EQ(ended.state(), v1::DONE) << ended.reason();
  std::cerr << coordinator_->Errors();
  const auto again = Submit();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Await(again->id(), HasEnded).state(), v1::DONE);
}

TEST_F(StoreTroubleTest, AFileSystemThatCannotBeWritten) {
  const SmallDisk disk(folder_);
  if (!disk.is_there()) GTEST_SKIP() << "no file system can be mounted here";
  StartCoordinator(disk.Store());
  coordinator_->Signal(SIGTERM);
  ASSERT_EQ(coordinator_->Wait(), 0);
  disk.MakeReadOnly();
  Process late({"meshwright-coordinator", "--listen", "127.0.0.1:0", "--store",
                disk.Store()});
  EXPECT_EQ(late.Wait(), 2);
  EXPECT_THAT(late.Errors(), HasSubstr(disk.Store()));
  EXPECT_THAT(late.Errors(), HasSubstr("cannot be written"));
}

TEST_F(StoreTroubleTest, ADatabaseThatGoesAway) {
  auto server = postgres::PostgresServer::Start({});
  if (absl::IsNotFound(server.status())) {
    GTEST_SKIP() << "PostgreSQL's server is not installed";
  }
  ASSERT_TRUE(server.ok()) << server.status();
  StartCoordinator((*server)->NewStoreUrl());
  StartWorker();
  const auto plan = Submit();
  ASSERT_TRUE(plan.ok()) << plan.status();
  batches_.AwaitHeld();
  (*server)->Kill();
  batches_.Release();
  const absl::Status refused = Submit().status();
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("see that the server runs"));
  ASSERT_TRUE((*server)->Restart().ok());
  EXPECT_EQ(Await(plan->id(), HasEnded).state(), v1::DONE);
}

}  // namespace
}  // namespace meshwright::integration
