// The life of the daemons as real processes: what their service manager hears,
// what SIGHUP reads again, what SIGTERM leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/mutex.h"
#include "coordinator/client/planning_client.h"
#include "tests/integration/certificates.h"
#include "tests/integration/comes_true.h"
#include "tests/integration/process.h"
#include "worker/service/worker.h"

namespace meshwright::integration {
namespace {

using client::PlanningClient;
using testing::HasSubstr;
using testing::StartsWith;

std::string Path(const std::string& name) {
  return absl::StrCat(testing::TempDir(), "/life_test.", name);
}

void RemoveStore(const std::string& store) {
  for (const char* end : {"", "-wal", "-shm"}) {
    std::filesystem::remove(store + end);
  }
}

std::string ReadAddress(Process& coordinator) {
  const auto said =
      nlohmann::json::parse(coordinator.ReadLine(), nullptr, false);
  EXPECT_TRUE(said.is_object());
  return said.is_object() ? said.value("address", "") : "";
}

// The service manager's socket, handed to the processes that start while it is
// there.
class Manager {
 public:
  Manager() : path_(Path("notify")) {
    unlink(path_.c_str());
    socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    EXPECT_EQ(
        bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
        0);
    setenv("NOTIFY_SOCKET", path_.c_str(), 1);
    setenv("WATCHDOG_USEC", "60000000", 1);
  }
  ~Manager() {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    close(socket_);
    unlink(path_.c_str());
  }
  // Waits for a message that begins so; what comes before is dropped.
  std::string Await(const std::string& begin) const {
    while (true) {
      char text[4096];
      const ssize_t size = recv(socket_, text, sizeof(text), 0);
      if (size < 0) return "";
      std::string message(text, static_cast<size_t>(size));
      if (message.starts_with(begin)) return message;
    }
  }

 private:
  const std::string path_;
  int socket_ = -1;
};

TEST(LifeTest, TheManagerHearsACoordinatorsLife) {
  RemoveStore(Path("db"));
  const Manager manager;
  Process coordinator({"meshwright-coordinator", "--json", "--listen",
                       "127.0.0.1:0", "--store", Path("db")});
  const std::string address = ReadAddress(coordinator);
  EXPECT_EQ(manager.Await("READY=1"),
            absl::StrCat("READY=1\nSTATUS=listening on ", address));
  EXPECT_EQ(manager.Await("WATCHDOG=1"), "WATCHDOG=1");
  coordinator.Signal(SIGHUP);  // not its end, though it has no tokens
  EXPECT_THAT(manager.Await("RELOADING=1"), HasSubstr("\nMONOTONIC_USEC="));
  EXPECT_EQ(manager.Await("READY=1"), "READY=1\nSTATUS=serving");
  coordinator.Signal(SIGTERM);
  EXPECT_EQ(manager.Await("STOPPING=1"), "STOPPING=1\nSTATUS=draining");
  EXPECT_EQ(coordinator.Wait(), 0) << coordinator.Errors();
}

TEST(LifeTest, TheManagerHearsAWorkersLife) {
  const Manager manager;
  Process worker({"meshwright-worker", "--coordinator",
                  "unix:" + Path("nowhere"), "--devices", "1"});
  EXPECT_EQ(manager.Await("READY=1"), "READY=1\nSTATUS=running");
  EXPECT_EQ(manager.Await("WATCHDOG=1"), "WATCHDOG=1");
  worker.Signal(SIGHUP);
  EXPECT_THAT(manager.Await("RELOADING=1"), HasSubstr("\nMONOTONIC_USEC="));
  EXPECT_EQ(manager.Await("READY=1"), "READY=1\nSTATUS=running");
  worker.Signal(SIGTERM);
  EXPECT_EQ(manager.Await("STOPPING=1"), "STOPPING=1\nSTATUS=draining");
  EXPECT_EQ(worker.Wait(), 0) << worker.Errors();
}

// New connections see the new certificate; a wrong one is said and leaves the
// tokens in force.
TEST(LifeTest, SighupTakesUpNewCertificates) {
  RemoveStore(Path("db"));
  const Manager manager;
  const Certificates files(Path("tls"));
  files.MakeAuthority("ca");
  files.MakeAuthority("next");
  files.MakeCertificate("ca", "server");
  Process coordinator({"meshwright-coordinator", "--json", "--listen",
                       "localhost:0", "--store", Path("db"), "--tls-cert",
                       files.File("server.pem"), "--tls-key",
                       files.File("server.key")});
  const std::string address = ReadAddress(coordinator);
  const auto ask = [&](const std::string& authority) {
    const auto client = PlanningClient::Connect(
        address, {.ca_file = files.File(authority + ".pem")});
    return client.ok() && (*client)->ListJobs().ok();
  };
  EXPECT_TRUE(ask("ca"));
  EXPECT_FALSE(ask("next"));
  manager.Await("READY=1");

  files.MakeCertificate("next", "server");
  coordinator.Signal(SIGHUP);
  EXPECT_EQ(manager.Await("READY=1"), "READY=1\nSTATUS=serving");
  ASSERT_TRUE(ComesTrue([&] { return ask("next"); }));
  EXPECT_FALSE(ask("ca"));

  std::filesystem::remove(files.File("server.pem"));
  coordinator.Signal(SIGHUP);
  EXPECT_THAT(
      manager.Await("READY=1"),
      HasSubstr("the reload failed: cannot open " + files.File("server.pem")));
  coordinator.Signal(SIGTERM);
  EXPECT_EQ(coordinator.Wait(), 0) << coordinator.Errors();
  EXPECT_THAT(coordinator.Errors(), HasSubstr(files.File("server.pem")));
}

// A worker in this process, whose batches last until they are stopped.
class EndlessBatches {
 public:
  worker::BatchFunction function() {
    return [this](const v1::RunnerRequest& request,
                  const worker::OnRunnerEvent& on_event,
                  const std::stop_token& stop) {
      if (request.programs().empty()) {
        v1::RunnerEvent ready;
        ready.mutable_ready()->set_platform_name("cpu");
        ready.mutable_ready()->set_platform_version("endless");
        ready.mutable_ready()->set_device_kind("endless");
        ready.mutable_ready()->set_device_count(2);
        on_event(ready);
        return absl::OkStatus();
      }
      const std::stop_callback wake(stop, [this] {
        base::MutexLock lock(&mutex_);
        ++stopped_;
      });
      base::MutexLock lock(&mutex_);
      ++begun_;
      mutex_.Await(absl::Condition(this, &EndlessBatches::AreStopped));
      return absl::CancelledError("the batch was stopped");
    };
  }
  void AwaitBegun() {
    base::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &EndlessBatches::HaveBegun));
  }
  void AwaitStopped() {
    base::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &EndlessBatches::HaveBeenStopped));
  }
  int stopped() {
    base::MutexLock lock(&mutex_);
    return stopped_;
  }

 private:
  bool AreStopped() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopped_ == begun_;
  }
  bool HaveBegun() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return begun_ > 0;
  }
  bool HaveBeenStopped() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopped_ > 0;
  }

  base::Mutex mutex_;
  int begun_ ABSL_GUARDED_BY(mutex_) = 0;
  int stopped_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A batch that never ends does not hold the coordinator: the worker keeps its
// lease, the store the plan, and the next coordinator takes over both.
TEST(LifeTest, SigtermLeavesPlansAndLeasesToTheNextStart) {
  RemoveStore(Path("db"));
  const std::string socket = "unix:" + Path("socket");
  const std::vector<std::string> start = {"meshwright-coordinator",
                                          "--json",
                                          "--listen",
                                          socket,
                                          "--store",
                                          Path("db"),
                                          "--drain-seconds",
                                          "0"};
  EndlessBatches batches;
  worker::Worker::Dependencies dependencies;
  dependencies.coordinator_address = socket;
  dependencies.name = "endless";
  dependencies.host = "here";
  dependencies.devices.set_platform("cpu");
  dependencies.devices.set_device_count(2);
  dependencies.run_batch = batches.function();
  dependencies.longest_backoff = absl::Milliseconds(200);
  worker::Worker worker(std::move(dependencies));
  std::string id;
  {
    Process coordinator(start);
    ASSERT_EQ(ReadAddress(coordinator), socket) << coordinator.Errors();
    ASSERT_TRUE(worker.Start().ok());
    const auto client = PlanningClient::Connect(socket);
    ASSERT_TRUE(client.ok()) << client.status();
    v1::SubmitPlanRequest request;
    request.mutable_request()->set_hlo_module(
        *base::ReadFile("tests/testdata/llama_tiny.hlo.pb"));
    request.mutable_request()->mutable_mesh()->add_shape(1);
    request.mutable_request()->mutable_mesh()->add_shape(2);
    const auto submitted = (*client)->SubmitPlan(request);
    ASSERT_TRUE(submitted.ok()) << submitted.status();
    id = submitted->id();
    batches.AwaitBegun();
    coordinator.Signal(SIGTERM);
    EXPECT_EQ(coordinator.Wait(), 0) << coordinator.Errors();
    EXPECT_THAT(coordinator.Errors(), HasSubstr("stay in the store"));
  }
  Process again(start);
  ASSERT_EQ(ReadAddress(again), socket) << again.Errors();
  const auto client = PlanningClient::Connect(socket);
  ASSERT_TRUE(client.ok()) << client.status();
  // The worker comes back by itself, with its lease.
  const auto is_resumed = [&] {
    const auto listed = (*client)->ListJobs();
    if (!listed.ok()) return false;
    return std::any_of(
        listed->jobs().begin(), listed->jobs().end(),
        [](const v1::JobSummary& job) { return job.worker_id() == "endless"; });
  };
  ASSERT_TRUE(ComesTrue(is_resumed));
  EXPECT_EQ(batches.stopped(), 0);
  EXPECT_EQ((*client)->GetPlan(id)->error_code(), 0);
  // It is the new coordinator's: this one can end it.
  ASSERT_TRUE((*client)->CancelPlan(id).ok());
  batches.AwaitStopped();
  again.Signal(SIGTERM);
  EXPECT_EQ(again.Wait(), 0) << again.Errors();
  worker.Stop();
}

}  // namespace
}  // namespace meshwright::integration
