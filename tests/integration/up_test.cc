// `meshwright up` as a real process: killed, restarted, asked and stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "coordinator/service/planning_client.h"
#include "tests/integration/process.h"

namespace meshwright::integration {
namespace {

using service::PlanningClient;
using testing::HasSubstr;
using testing::StartsWith;

class UpTest : public testing::Test {
 protected:
  static std::vector<std::string> Up(const std::string& address) {
    return {"meshwright", "up", "--json",  "--listen", address,
            "--devices",  "2",  "--store", Store()};
  }
  static std::string Store() { return testing::TempDir() + "/up_test.db"; }
  static std::string AddressOf(Process& up) {
    const auto said = nlohmann::json::parse(up.ReadLine(), nullptr, false);
    EXPECT_TRUE(said.is_object());
    return said.is_object() ? said.value("address", "") : "";
  }
};

TEST_F(UpTest, KilledAndStartedAgainOnItsPort) {
  std::string address;
  {
    Process up(Up("127.0.0.1:0"));
    address = AddressOf(up);
    ASSERT_THAT(address, StartsWith("127.0.0.1:"));
    const auto client = PlanningClient::Connect(address);
    ASSERT_TRUE(client.ok()) << client.status();
    up.Signal(SIGKILL);
    EXPECT_EQ(up.Wait(), -SIGKILL);
    const auto jobs = (*client)->ListJobs();
    EXPECT_EQ(jobs.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(jobs.status().message()), HasSubstr(address));
  }
  Process again(Up(address));
  ASSERT_EQ(AddressOf(again), address) << again.Errors();
  const auto client = PlanningClient::Connect(address);
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE((*client)->ListJobs().ok());
  again.Signal(SIGTERM);
  EXPECT_EQ(again.Wait(), 0) << again.Errors();
}

TEST_F(UpTest, TheAdministratorsVerbsReachIt) {
  Process up(Up("127.0.0.1:0"));
  const std::string address = AddressOf(up);
  Process jobs(
      {"meshwright", "jobs", "list", "--json", "--coordinator", address});
  EXPECT_EQ(jobs.Wait(), 0) << jobs.Errors();
  Process workers({"meshwright", "workers", "list", "--coordinator", address});
  EXPECT_EQ(workers.Wait(), 0) << workers.Errors();
  EXPECT_THAT(workers.ReadLine(), StartsWith("worker"));
  up.Signal(SIGINT);
  EXPECT_EQ(up.Wait(), 0) << up.Errors();
}

TEST_F(UpTest, AWorkerProcessJoinsAndDrains) {
  Process up(Up("127.0.0.1:0"));
  const std::string address = AddressOf(up);
  Process worker({"meshwright-worker", "--coordinator", address, "--name",
                  "second", "--devices", "1"});
  const auto client = PlanningClient::Connect(address);
  ASSERT_TRUE(client.ok()) << client.status();
  const auto attached = [&] {
    const auto workers = (*client)->ListWorkers();
    return workers.ok() ? workers->workers_size() : -1;
  };
  while (attached() != 2) std::this_thread::yield();
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Wait(), 0) << worker.Errors();
  EXPECT_EQ(attached(), 1);
}

TEST_F(UpTest, ABusyPortIsBadInput) {
  Process up(Up("127.0.0.1:0"));
  const std::string address = AddressOf(up);
  Process second(Up(address));
  EXPECT_EQ(second.Wait(), 2);
  EXPECT_THAT(second.Errors(), HasSubstr("in use"));
}

TEST_F(UpTest, NoCoordinatorIsAFailureOfTheWork) {
  Process jobs({"meshwright", "jobs", "list", "--coordinator",
                "unix:/nonexistent/socket"});
  EXPECT_EQ(jobs.Wait(), 1);
  EXPECT_THAT(jobs.Errors(), HasSubstr("/nonexistent/socket"));
}

}  // namespace
}  // namespace meshwright::integration
