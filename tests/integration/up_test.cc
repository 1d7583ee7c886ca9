// `meshwright up` as a real process: killed, restarted, asked and stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "coordinator/client/planning_client.h"
#include "coordinator/metrics/testing/read_metrics.h"
#include "tests/integration/comes_true.h"
#include "tests/integration/process.h"

namespace meshwright::integration {
namespace {

using client::PlanningClient;
using testing::HasSubstr;
using testing::StartsWith;

class UpTest : public testing::Test {
 protected:
  static std::vector<std::string> Up(const std::string& address) {
    return UpOn(Store(), address);
  }
  static std::vector<std::string> UpOn(const std::string& store,
                                       const std::string& address) {
    return {"meshwright", "up", "--json",  "--listen", address,
            "--devices",  "2",  "--store", store};
  }
  static std::string Store() { return testing::TempDir() + "/up_test.db"; }
  static std::string ReadAddress(Process& up) {
    const auto said = nlohmann::json::parse(up.ReadLine(), nullptr, false);
    EXPECT_TRUE(said.is_object());
    return said.is_object() ? said.value("address", "") : "";
  }
};

TEST_F(UpTest, KilledAndStartedAgainOnItsPort) {
  std::string address;
  {
    Process up(Up("127.0.0.1:0"));
    address = ReadAddress(up);
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
  ASSERT_EQ(ReadAddress(again), address) << again.Errors();
  const auto client = PlanningClient::Connect(address);
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE((*client)->ListJobs().ok());
  again.Signal(SIGTERM);
  EXPECT_EQ(again.Wait(), 0) << again.Errors();
}

TEST_F(UpTest, TheAdministratorsVerbsReachIt) {
  Process up(Up("127.0.0.1:0"));
  const std::string address = ReadAddress(up);
  Process jobs(
      {"meshwright", "jobs", "list", "--json", "--coordinator", address});
  EXPECT_EQ(jobs.Wait(), 0) << jobs.Errors();
  Process workers({"meshwright", "workers", "list", "--coordinator", address});
  EXPECT_EQ(workers.Wait(), 0) << workers.Errors();
  EXPECT_THAT(workers.ReadLine(), StartsWith("worker"));
  up.Signal(SIGINT);
  EXPECT_EQ(up.Wait(), 0) << up.Errors();
}

// Made, used from a file and from the environment, revoked.
TEST_F(UpTest, TokensDecideWhoMayAsk) {
  const std::string tokens = testing::TempDir() + "/up_test_tokens.toml";
  const std::string secret = testing::TempDir() + "/up_test_token";
  unlink(tokens.c_str());
  const auto create = [&](const std::string& role) {
    Process made({"meshwright", "tokens", "create", "--json", "--tokens",
                  tokens, "--name", "a test", "--role", role});
    std::string text;
    for (std::string line; !(line = made.ReadLine()).empty();) text += line;
    EXPECT_EQ(made.Wait(), 0) << made.Errors();
    return nlohmann::json::parse(text, nullptr, false);
  };
  const auto token = create("read");
  ASSERT_TRUE(token.is_object());
  std::ofstream(secret) << token["token"].get<std::string>() << "\n";
  ASSERT_EQ(chmod(secret.c_str(), 0600), 0);

  std::vector<std::string> arguments = Up("127.0.0.1:0");
  arguments.insert(arguments.end(), {"--tokens", tokens});
  Process up(arguments);
  const std::string address = ReadAddress(up);
  const auto list = [&](const std::string& file) {
    std::vector<std::string> words = {"meshwright", "workers", "list",
                                      "--coordinator", address};
    if (!file.empty()) words.insert(words.end(), {"--token-file", file});
    Process jobs(words);
    const int status = jobs.Wait();
    return std::to_string(status) + " " + jobs.Errors();
  };
  EXPECT_EQ(list(secret), "0 ");
  EXPECT_THAT(list(""), HasSubstr("--token-file"));
  setenv("MESHWRIGHT_TOKEN", token["token"].get<std::string>().c_str(), 1);
  EXPECT_EQ(list(""), "0 ");
  unsetenv("MESHWRIGHT_TOKEN");

  Process revoke({"meshwright", "tokens", "revoke", "--tokens", tokens,
                  token["id"].get<std::string>()});
  EXPECT_EQ(revoke.Wait(), 0) << revoke.Errors();
  up.Signal(SIGHUP);
  ASSERT_TRUE(ComesTrue([&] { return list(secret) != "0 "; }));
  EXPECT_THAT(list(secret), HasSubstr("none of this coordinator's"));
  up.Signal(SIGTERM);
  EXPECT_EQ(up.Wait(), 0) << up.Errors();
  EXPECT_THAT(up.Errors(),
              testing::Not(HasSubstr(token["token"].get<std::string>())));
}

TEST_F(UpTest, BeyondThisMachineOnlyWithTls) {
  Process up(Up("0.0.0.0:0"));
  EXPECT_EQ(up.Wait(), 2);
  EXPECT_THAT(up.Errors(), HasSubstr("--tls-cert"));
}

TEST_F(UpTest, ReshardingsAreSolvedOnceForAllCallers) {
  Process up(Up("127.0.0.1:0"));
  const std::string address = ReadAddress(up);
  const auto ask = [&](const std::string& text, std::string* heard) {
    const std::string path = testing::TempDir() + "/up_test_tasks.json";
    std::ofstream(path) << text;
    Process reshard({"meshwright", "reshard", "--json", "--tasks", path,
                     "--coordinator", address});
    const std::string line = reshard.ReadLine();
    EXPECT_EQ(reshard.Wait(), 0) << reshard.Errors();
    *heard = reshard.Errors();
    return nlohmann::json::parse(line, nullptr, false);
  };
  std::string heard;
  const auto first = ask(R"({"bandwidth_bytes_per_s": 100, "tasks": [
      {"id": "a", "size_bytes": 300, "sender_hosts": ["x", "y"],
       "receiver_hosts": ["z"]},
      {"id": 7, "size_bytes": 200, "sender_hosts": ["x"],
       "receiver_hosts": ["w", 3]}]})",
                         &heard);
  EXPECT_THAT(heard, HasSubstr("searched"));
  EXPECT_EQ(first["makespan_s"], 3.0);
  EXPECT_EQ(first["optimal"], true);
  EXPECT_EQ(first["senders"], nlohmann::json({{"a", "y"}, {"7", "x"}}));
  // Other ids and hosts, in the same order.
  const auto second = ask(R"({"bandwidth_bytes_per_s": 100, "tasks": [
      {"id": "p", "size_bytes": 300, "sender_hosts": [5, "t"],
       "receiver_hosts": ["u"]},
      {"id": "q", "size_bytes": 200, "sender_hosts": [5],
       "receiver_hosts": ["r", "s"]}]})",
                          &heard);
  EXPECT_THAT(heard, HasSubstr("knew"));
  EXPECT_EQ(second["makespan_s"], 3.0);
  EXPECT_EQ(second["senders"], nlohmann::json({{"p", "t"}, {"q", 5}}));
  up.Signal(SIGINT);
  EXPECT_EQ(up.Wait(), 0) << up.Errors();
}

TEST_F(UpTest, AWorkerProcessJoinsAndDrains) {
  Process up(Up("127.0.0.1:0"));
  const std::string address = ReadAddress(up);
  Process worker({"meshwright-worker", "--coordinator", address, "--name",
                  "second", "--devices", "1"});
  const auto client = PlanningClient::Connect(address);
  ASSERT_TRUE(client.ok()) << client.status();
  const auto attached = [&] {
    const auto workers = (*client)->ListWorkers();
    int count = 0;
    if (!workers.ok()) return -1;
    for (const v1::WorkerSummary& it : workers->workers()) {
      if (it.state() != v1::WorkerSummary::AWAY) ++count;
    }
    return count;
  };
  ASSERT_TRUE(ComesTrue([&] { return attached() == 2; }));
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Wait(), 0) << worker.Errors();
  EXPECT_EQ(attached(), 1);
}

TEST_F(UpTest, ACoordinatorAloneTakesWorkersThatCome) {
  const std::string socket = "unix:" + testing::TempDir() + "/up_test.socket";
  const std::string store = testing::TempDir() + "/up_test_alone.db";
  for (const char* end : {"", "-wal", "-shm"}) {
    std::filesystem::remove(store + end);
  }
  Process coordinator({"meshwright-coordinator", "--json", "--listen", socket,
                       "--store", store});
  ASSERT_EQ(ReadAddress(coordinator), socket) << coordinator.Errors();
  const auto client = PlanningClient::Connect(socket);
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_EQ((*client)->ListWorkers()->workers_size(), 0);
  Process worker(
      {"meshwright-worker", "--coordinator", socket, "--devices", "2"});
  ASSERT_TRUE(
      ComesTrue([&] { return (*client)->ListWorkers()->workers_size() > 0; }));
  coordinator.Signal(SIGTERM);
  EXPECT_EQ(coordinator.Wait(), 0) << coordinator.Errors();
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Wait(), 0) << worker.Errors();
  Process wrong({"meshwright-coordinator", "--stroe", "x"});
  EXPECT_EQ(wrong.Wait(), 2);
  EXPECT_THAT(wrong.Errors(), HasSubstr("meshwright-coordinator --help"));
}

TEST_F(UpTest, PrometheusReadsWhereItIsAskedTo) {
  const auto start = [](const std::string& metrics) {
    return std::vector<std::string>{"meshwright-coordinator",
                                    "--json",
                                    "--listen",
                                    "127.0.0.1:0",
                                    "--store",
                                    testing::TempDir() + "/up_test_metrics.db",
                                    "--metrics",
                                    metrics};
  };
  Process coordinator(start("0"));
  const auto said =
      nlohmann::json::parse(coordinator.ReadLine(), nullptr, false);
  ASSERT_TRUE(said.is_object()) << coordinator.Errors();
  const std::string address = said.value("metrics", "");
  EXPECT_THAT(address, StartsWith("127.0.0.1:"));
  EXPECT_THAT(metrics::ReadMetrics(address), HasSubstr("meshwright_plans"));
  coordinator.Signal(SIGTERM);
  EXPECT_EQ(coordinator.Wait(), 0) << coordinator.Errors();
  Process wrong(start("nowhere"));
  EXPECT_EQ(wrong.Wait(), 2);
  EXPECT_THAT(wrong.Errors(), HasSubstr("HOST:PORT"));
}

TEST_F(UpTest, ABusyPortIsBadInput) {
  Process up(Up("127.0.0.1:0"));
  const std::string address = ReadAddress(up);
  Process second(UpOn(testing::TempDir() + "/up_test_2.db", address));
  EXPECT_EQ(second.Wait(), 2);
  EXPECT_THAT(second.Errors(), HasSubstr("in use"));
}

// Its service manager starts it again after status 1, and not after 2.
TEST_F(UpTest, APortOrStoreThatADaemonDoesNotGetMayPass) {
  Process up(Up("127.0.0.1:0"));
  const std::string address = ReadAddress(up);
  Process port({"meshwright-coordinator", "--listen", address, "--store",
                testing::TempDir() + "/up_test_2.db"});
  EXPECT_EQ(port.Wait(), 1);
  EXPECT_THAT(port.Errors(), HasSubstr("in use"));
  Process store({"meshwright-coordinator", "--listen", "127.0.0.1:0", "--store",
                 Store()});
  EXPECT_EQ(store.Wait(), 1);
  EXPECT_THAT(store.Errors(), HasSubstr("another coordinator"));
}

TEST_F(UpTest, AStoreHasOneCoordinator) {
  Process up(Up("127.0.0.1:0"));
  ASSERT_THAT(ReadAddress(up), StartsWith("127.0.0.1:"));
  Process second(Up("127.0.0.1:0"));
  EXPECT_EQ(second.Wait(), 2);
  EXPECT_THAT(second.Errors(), HasSubstr("another coordinator"));
  EXPECT_THAT(second.Errors(), HasSubstr(Store()));
}

// A plan that nobody can measure outlives the coordinator that took it.
TEST_F(UpTest, PlansOutliveTheCoordinator) {
  const std::string store = testing::TempDir() + "/up_test_plans.db";
  for (const char* end : {"", "-wal", "-shm"}) {
    std::filesystem::remove(store + end);
  }
  v1::SubmitPlanRequest request;
  request.mutable_request()->set_hlo_module("no module");
  request.mutable_request()->mutable_mesh()->add_shape(2);
  request.set_owner("ann");
  request.set_request_id("step 5");
  std::string id;
  {
    Process up(UpOn(store, "127.0.0.1:0"));
    const auto client = PlanningClient::Connect(ReadAddress(up));
    ASSERT_TRUE(client.ok()) << client.status();
    const auto submitted = (*client)->SubmitPlan(request);
    ASSERT_TRUE(submitted.ok()) << submitted.status();
    id = submitted->id();
    up.Signal(SIGKILL);
    EXPECT_EQ(up.Wait(), -SIGKILL);
  }
  Process again(UpOn(store, "127.0.0.1:0"));
  const auto client = PlanningClient::Connect(ReadAddress(again));
  ASSERT_TRUE(client.ok()) << client.status();
  v1::WatchPlanRequest watch;
  watch.set_id(id);
  v1::PlanUpdate last;
  ASSERT_TRUE(
      (*client)
          ->WatchPlan(watch, [&](const v1::PlanUpdate& it) { last = it; }, {})
          .ok());
  EXPECT_EQ(last.state(), v1::FAILED);
  EXPECT_EQ(last.error_code(),
            static_cast<int>(absl::StatusCode::kInvalidArgument));
  // The same submission, from a client that never heard of the first answer.
  EXPECT_EQ((*client)->SubmitPlan(request)->id(), id);
}

TEST_F(UpTest, NoCoordinatorIsAFailureOfTheWork) {
  Process jobs({"meshwright", "jobs", "list", "--coordinator",
                "unix:/nonexistent/socket"});
  EXPECT_EQ(jobs.Wait(), 1);
  EXPECT_THAT(jobs.Errors(), HasSubstr("/nonexistent/socket"));
}

}  // namespace
}  // namespace meshwright::integration
