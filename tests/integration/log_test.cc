// The log as JSON: one trace from a client's call to the worker, over real
// gRPC; and of real processes, that no secret is in it.
#include "base/log/log.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/trace_context.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/daemon/coordinator.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "proto/v1/plans.grpc.pb.h"
#include "proto/v1/services.grpc.pb.h"
#include "tests/integration/fake_batches.h"
#include "tests/integration/process.h"
#include "worker/service/worker.h"

namespace meshwright::integration {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";

std::vector<json> ParseLines(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(json::parse(line, nullptr, false));
    EXPECT_TRUE(lines.back().is_object()) << line;
    if (!lines.back().is_object()) lines.pop_back();
  }
  return lines;
}

v1::DeviceSpec Two() {
  v1::DeviceSpec device;
  device.set_platform("cpu");
  device.set_device_count(2);
  return device;
}

// Measures one program.
absl::StatusOr<v1::Plan> PlanOne(const v1::PlanRequest&,
                                 jobs::Measurer* measurer,
                                 const jobs::ProgressFunction&) {
  v1::RunnerRequest request;
  *request.mutable_device() = Two();
  request.add_programs()->set_key("p");
  const absl::Status measured = measurer->Measure(request, nullptr, nullptr);
  if (!measured.ok()) return measured;
  return v1::Plan();
}

class TraceTest : public testing::Test {
 protected:
  void SetUp() override {
    base::SetLogFormat(base::LogFormat::kJson);
    base::SetLogLevel(base::LogLevel::kInfo);
    testing::internal::CaptureStderr();
    daemon::Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.listen_address = "127.0.0.1:0";
    dependencies.profiles = &profiles_;
    dependencies.plan = PlanOne;
    coordinator_ = std::make_unique<daemon::Coordinator>(dependencies);
    ASSERT_TRUE(coordinator_->Start().ok());
    worker::Worker::Dependencies worker;
    worker.coordinator_address = coordinator_->address();
    worker.name = "w1";
    worker.host = "here";
    worker.devices = Two();
    worker.run_batch = batches_.function();
    worker_ = std::make_unique<worker::Worker>(std::move(worker));
    ASSERT_TRUE(worker_->Start().ok());
    ASSERT_TRUE(coordinator_->queue().FindWorker(Two(), {}).ok());
  }
  void TearDown() override {
    if (coordinator_ != nullptr) ReadLog();
    base::SetLogFormat(base::LogFormat::kText);
    base::SetLogLevel(base::LogLevel::kWarning);
  }

  // Ends the daemons.
  std::vector<json> ReadLog() {
    if (worker_ != nullptr) worker_->Stop();
    coordinator_.reset();
    return ParseLines(testing::internal::GetCapturedStderr());
  }

  base::SystemClock clock_;
  store::FakeProfileStore profiles_;
  FakeBatches batches_;
  std::unique_ptr<daemon::Coordinator> coordinator_;
  std::unique_ptr<worker::Worker> worker_;
};

TEST(WorkerLogTest, AnAddressWhereNobodyAnswersIsNamed) {
  testing::internal::CaptureStderr();
  FakeBatches batches;
  worker::Worker::Dependencies dependencies;
  dependencies.coordinator_address = "unix:nobody";
  dependencies.name = "w1";
  dependencies.devices = Two();
  dependencies.run_batch = batches.function();
  dependencies.longest_backoff = absl::Milliseconds(100);
  worker::Worker worker(std::move(dependencies));
  ASSERT_TRUE(worker.Start().ok());
  EXPECT_FALSE(worker.WaitFor(absl::Seconds(3)));
  worker.Stop();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("no coordinator answers at unix:nobody"));
}

TEST_F(TraceTest, OneIdFollowsAPlanFromTheClientToTheWorker) {
  setenv("TRACEPARENT",
         absl::StrCat("00-", kTrace, "-00f067aa0ba902b7-01").c_str(), 1);
  auto client = client::PlanningClient::Connect(coordinator_->address());
  unsetenv("TRACEPARENT");
  ASSERT_TRUE(client.ok()) << client.status();
  v1::PlanRequest request;
  request.set_hlo_module("a module");
  const auto plan = (*client)->MakePlan(request, nullptr, {});
  ASSERT_TRUE(plan.ok()) << plan.status();

  int of_plan = 0;
  bool is_leased = false;
  bool is_run = false;
  for (const json& line : ReadLog()) {
    if (line.value("plan", "") != "plan-1") continue;
    ++of_plan;
    EXPECT_EQ(line.value("trace_id", ""), kTrace) << line;
    if (line.value("lease", "") == "") continue;
    EXPECT_EQ(line["worker"], "w1");
    // Only the coordinator knows of jobs.
    (line.contains("job") ? is_leased : is_run) = true;
  }
  EXPECT_TRUE(is_leased);
  EXPECT_TRUE(is_run);
  EXPECT_GE(of_plan, 6);
}

TEST_F(TraceTest, WhatIsNoTraceIsNotTaken) {
  const auto channel = grpc::CreateChannel(coordinator_->address(),
                                           grpc::InsecureChannelCredentials());
  const auto plans = v1::Plans::NewStub(channel);
  grpc::ClientContext context;
  context.AddMetadata("traceparent", "00-{\"forged\":1}-00f067aa0ba902b7-01");
  v1::SubmitPlanRequest request;
  request.mutable_request()->set_hlo_module("a module");
  v1::PlanRecord record;
  const grpc::Status status = plans->Submit(&context, request, &record);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(base::ParseTraceparent(record.traceparent()), record.traceparent());
  for (const json& line : ReadLog()) {
    EXPECT_THAT(line.dump(), Not(HasSubstr("forged")));
  }
}

// A file that only this user may read.
std::string FileWith(const std::string& name, const std::string& content) {
  const std::string path = absl::StrCat(testing::TempDir(), "/log_test_", name);
  std::ofstream(path) << content << "\n";
  EXPECT_EQ(chmod(path.c_str(), 0600), 0);
  return path;
}

struct Said {
  int status = 0;
  std::string out;
  std::string errors;
};

Said RunToEnd(const std::vector<std::string>& words) {
  Process process(words);
  Said said;
  for (std::string line; !(line = process.ReadLine()).empty();) {
    said.out += line;
  }
  said.status = process.Wait();
  said.errors = process.Errors();
  return said;
}

TEST(LogTest, NoSecretIsInTheLog) {
  const std::string tokens = testing::TempDir() + "/log_test_tokens.toml";
  unlink(tokens.c_str());
  const Said created =
      RunToEnd({"meshwright", "tokens", "create", "--json", "--tokens", tokens,
                "--name", "a test", "--role", "work", "--role", "read"});
  const json made = json::parse(created.out, nullptr, false);
  ASSERT_TRUE(made.is_object()) << created.errors;
  const std::string token = made["token"];
  // Pasted text: a part of it known, the rest not.
  const std::string wrong = token.substr(0, token.size() - 8) + "00000000";
  const std::string right_file = FileWith("right", token);
  const std::string wrong_file = FileWith("wrong", wrong);

  Process coordinator({"meshwright-coordinator", "--json", "--listen",
                       "127.0.0.1:0", "--store",
                       testing::TempDir() + "/log_test.db", "--tokens", tokens,
                       "--log-format", "json"});
  const json said = json::parse(coordinator.ReadLine(), nullptr, false);
  ASSERT_TRUE(said.is_object());
  const std::string address = said["address"];
  for (const std::string& file : {right_file, wrong_file}) {
    const Said listed =
        RunToEnd({"meshwright", "plans", "list", "--coordinator", address,
                  "--token-file", file});
    EXPECT_EQ(listed.status == 0, file == right_file) << listed.errors;
  }
  for (const std::string& file : {right_file, wrong_file}) {
    // The wrong one is unknown; with the right one, the Hello lacks devices.
    const auto channel =
        grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
    const auto workers = v1::Workers::NewStub(channel);
    grpc::ClientContext context;
    context.AddMetadata("authorization",
                        "Bearer " + (file == right_file ? token : wrong));
    const auto stream = workers->Attach(&context);
    v1::WorkerMessage hello;
    hello.mutable_hello()->set_worker_id("w1");
    hello.mutable_hello()->set_session_secret("the session's secret");
    stream->Write(hello);
    EXPECT_FALSE(stream->Finish().ok());
  }
  coordinator.Signal(SIGTERM);
  EXPECT_EQ(coordinator.Wait(), 0);

  const std::string log = coordinator.Errors();
  EXPECT_THAT(ParseLines(log), Not(IsEmpty()));
  for (const std::string& secret :
       {token, wrong, token.substr(token.size() / 2),
        std::string("the session's secret")}) {
    EXPECT_THAT(log, Not(HasSubstr(secret)));
  }
}

}  // namespace
}  // namespace meshwright::integration
