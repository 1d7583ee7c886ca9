// PlanResharding over real gRPC, in one process.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/daemon/coordinator.h"
#include "coordinator/resharding/answer_message.h"
#include "coordinator/resharding/request_json.h"
#include "coordinator/service/resharding_call.h"
#include "planner/reshard/testing/random_reshard.h"
#include "proto/v1/services.grpc.pb.h"

namespace meshwright::daemon {
namespace {

using nlohmann::json;
using reshard::ReshardProblem;

class ReshardingServiceTest : public testing::Test {
 protected:
  void Start(resharding::AnswerCache::Options reshardings = {}) {
    Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.listen_address = "127.0.0.1:0";
    dependencies.reshardings = std::move(reshardings);
    coordinator_ = std::make_unique<Coordinator>(std::move(dependencies));
    ASSERT_TRUE(coordinator_->Start().ok());
    auto client = client::PlanningClient::Connect(coordinator_->address());
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }
  absl::StatusOr<v1::ReshardingAnswer> Ask(
      const v1::ReshardingRequest& request) {
    return client_->PlanResharding(request, {});
  }

  base::SystemClock clock_;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<client::PlanningClient> client_;
};

json TwoTasks() {
  return json::parse(R"({"bandwidth_bytes_per_s": 100, "tasks": [
      {"id": "a", "size_bytes": 300, "sender_hosts": ["x", "y"],
       "receiver_hosts": ["z"]},
      {"id": "7", "size_bytes": 200, "sender_hosts": ["x"],
       "receiver_hosts": ["w", "3"]}]})");
}

json Tensor() {
  return json::parse(R"({"bandwidth_bytes_per_s": 1.25e9, "resharding": {
      "shape": [1024, 1024, 512], "elem_bytes": 4, "src_mesh": [2, 4],
      "src_spec": "RS0R", "dst_mesh": [3, 4], "dst_spec": "S0RR"}})");
}

v1::ReshardingRequest ParseRequest(const json& document) {
  const auto request = resharding::RequestFromJson(document.dump());
  EXPECT_TRUE(request.ok()) << request.status();
  return request.ok() ? request->message : v1::ReshardingRequest();
}

// The command line's output for a message.
json Printed(const json& document, const v1::ReshardingAnswer& message) {
  const auto request = resharding::RequestFromJson(document.dump());
  const auto answer = resharding::AnswerFromMessage(request->request, message);
  EXPECT_TRUE(answer.ok()) << answer.status();
  return json::parse(resharding::AnswerToJson(*request, message));
}

TEST_F(ReshardingServiceTest, AnswersWhatTheCommandLineAnswers) {
  Start();
  json split = TwoTasks();
  split["split"] = true;
  json fast = TwoTasks();
  fast["hosts"]["z"]["in_bytes_per_s"] = 50;
  fast["hosts"]["x"]["out_links"] = 2;
  fast["routes"] =
      json::parse(R"([{"from": "y", "to": "z", "bytes_per_s": 0}])");
  json named = Tensor();
  named["resharding"]["src_hosts"] = {"p", "q"};
  named["resharding"]["dst_hosts"] = {"q", "r", "s"};
  for (const json& document : {TwoTasks(), Tensor(), split, fast, named}) {
    const auto said = Ask(ParseRequest(document));
    ASSERT_TRUE(said.ok()) << said.status();
    const json here =
        json::parse(*resharding::AnswerReshardJson(document.dump()));
    const json there = Printed(document, *said);
    for (const char* field : {"makespan_s", "lower_bound_s", "optimal"}) {
      EXPECT_EQ(there[field], here[field]) << field;
    }
    for (const char* list : {"order", "senders", "parts"}) {
      EXPECT_EQ(there.value(list, json()).size(),
                here.value(list, json()).size())
          << list;
    }
    EXPECT_EQ(there.value("tasks", json()), here.value("tasks", json()));
    EXPECT_EQ(said->tasks_size(),
              here.contains("tasks") ? here["tasks"].size() : 0);
  }
}

TEST_F(ReshardingServiceTest, ATensorsUnitsAreInTheMessage) {
  Start();
  const auto said = Ask(ParseRequest(Tensor()));
  ASSERT_TRUE(said.ok()) << said.status();
  const json units =
      json::parse(*resharding::AnswerReshardJson(Tensor().dump()))["tasks"];
  ASSERT_EQ(said->tasks_size(), units.size());
  for (size_t i = 0; i < units.size(); ++i) {
    const v1::ReshardingUnit& unit = said->tasks(static_cast<int>(i));
    const auto list = [](const auto& field) {
      return json(std::vector(field.begin(), field.end()));
    };
    EXPECT_EQ(unit.id(), absl::StrCat(i));
    EXPECT_EQ(list(unit.begin()), units[i]["begin"]);
    EXPECT_EQ(list(unit.end()), units[i]["end"]);
    EXPECT_EQ(unit.size_bytes(), units[i]["size_bytes"]);
    EXPECT_EQ(list(unit.sender_hosts()), units[i]["sender_hosts"]);
    EXPECT_EQ(list(unit.receiver_hosts()), units[i]["receiver_hosts"]);
    EXPECT_EQ(list(unit.src_devices()), units[i]["src_devices"]);
    EXPECT_EQ(list(unit.dst_devices()), units[i]["dst_devices"]);
  }
}

TEST_F(ReshardingServiceTest, TheSecondCallerIsAnsweredWithoutASearch) {
  Start();
  const auto first = Ask(ParseRequest(TwoTasks()));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(first->cached());
  json renamed = TwoTasks();
  renamed["tasks"][0]["id"] = "b";
  const auto second = Ask(ParseRequest(renamed));
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(second->cached());
  EXPECT_EQ(second->senders().at("b"), first->senders().at("a"));
  EXPECT_EQ(second->senders().at("7"), first->senders().at("7"));
}

// The same mistake, as JSON and as a message, gets the same error message.
TEST_F(ReshardingServiceTest, MistakesAreCalledTheSame) {
  Start();
  struct Mistake {
    json document;
    v1::ReshardingRequest message;
  };
  std::vector<Mistake> mistakes;
  const auto tasks = [&](auto break_json, auto break_message) {
    json document = TwoTasks();
    break_json(document);
    v1::ReshardingRequest message = ParseRequest(TwoTasks());
    break_message(message);
    mistakes.push_back({document, message});
  };
  const auto tensor = [&](auto break_json, auto break_message) {
    json document = Tensor();
    break_json(document["resharding"]);
    v1::ReshardingRequest message = ParseRequest(Tensor());
    break_message(*message.mutable_resharding());
    mistakes.push_back({document, message});
  };
  tasks([](json& d) { d.erase("tasks"); }, [](auto& m) { m.clear_tasks(); });
  tasks([](json& d) { d["resharding"] = Tensor()["resharding"]; },
        [](auto& m) {
          *m.mutable_resharding() = ParseRequest(Tensor()).resharding();
        });
  tasks([](json& d) { d.erase("bandwidth_bytes_per_s"); },
        [](auto& m) { m.clear_bandwidth_bytes_per_s(); });
  tasks([](json& d) { d["bandwidth_bytes_per_s"] = -1; },
        [](auto& m) { m.set_bandwidth_bytes_per_s(-1); });
  tasks([](json& d) { d["tasks"][1].erase("id"); },
        [](auto& m) { m.mutable_tasks(1)->clear_id(); });
  tasks([](json& d) { d["tasks"][1]["id"] = ""; },
        [](auto& m) { m.mutable_tasks(1)->set_id(""); });
  tasks([](json& d) { d["tasks"][1]["id"] = "a"; },
        [](auto& m) { m.mutable_tasks(1)->set_id("a"); });
  tasks([](json& d) { d["tasks"][0]["id"] = "a\nb"; },
        [](auto& m) { m.mutable_tasks(0)->set_id("a\nb"); });
  tasks([](json& d) { d["tasks"][1].erase("size_bytes"); },
        [](auto& m) { m.mutable_tasks(1)->clear_size_bytes(); });
  tasks([](json& d) { d["tasks"][1]["size_bytes"] = 0; },
        [](auto& m) { m.mutable_tasks(1)->set_size_bytes(0); });
  tasks([](json& d) { d["tasks"][1]["sender_hosts"] = json::array(); },
        [](auto& m) { m.mutable_tasks(1)->clear_sender_hosts(); });
  tasks(
      [](json& d) {
        d["tasks"][1]["receiver_hosts"] = {"w", "w"};
      },
      [](auto& m) { m.mutable_tasks(1)->set_receiver_hosts(1, "w"); });
  tasks([](json& d) { d["hosts"]["q"] = json::object(); },
        [](auto& m) { (*m.mutable_hosts())["q"]; });
  tasks([](json& d) { d["hosts"]["x"]["out_links"] = 65; },
        [](auto& m) { (*m.mutable_hosts())["x"].set_out_links(65); });
  tasks([](json& d) { d["hosts"]["w"]["in_bytes_per_s"] = 0; },
        [](auto& m) { (*m.mutable_hosts())["w"].set_in_bytes_per_s(0); });
  tasks(
      [](json& d) {
        d["routes"] = {{{"from", "x"}, {"to", "q"}, {"bytes_per_s", 1}}};
      },
      [](auto& m) {
        auto& route = *m.add_routes();
        route.set_from("x");
        route.set_to("q");
        route.set_bytes_per_s(1);
      });
  tasks(
      [](json& d) {
        d["routes"] = {{{"from", "x"}}};
      },
      [](auto& m) { m.add_routes()->set_from("x"); });
  tensor(
      [](json& d) {
        d["shape"] = {8, 8};
      },
      [](auto& m) { m.mutable_shape()->Truncate(2), m.set_shape(0, 8); });
  tensor([](json& d) { d.erase("elem_bytes"); },
         [](auto& m) { m.clear_elem_bytes(); });
  tensor([](json& d) { d["src_spec"] = "RS5R"; },
         [](auto& m) { m.set_src_spec("RS5R"); });
  tensor([](json& d) { d.erase("dst_spec"); },
         [](auto& m) { m.clear_dst_spec(); });
  tensor([](json& d) { d["dst_mesh"] = json::array(); },
         [](auto& m) { m.clear_dst_mesh(); });
  tensor([](json& d) { d["src_hosts"] = {"a"}; },
         [](auto& m) { m.add_src_hosts("a"); });
  for (const Mistake& mistake : mistakes) {
    const auto here = resharding::RequestFromJson(mistake.document.dump());
    ASSERT_FALSE(here.ok()) << mistake.document;
    const auto there = Ask(mistake.message);
    EXPECT_EQ(there.status(), here.status()) << mistake.document;
  }
}

TEST_F(ReshardingServiceTest, SolversAndDeadlinesAreChecked) {
  Start();
  v1::ReshardingRequest request = ParseRequest(TwoTasks());
  request.set_solver("best");
  EXPECT_EQ(Ask(request).status(), reshard::ParseSolver("best").status());
  request.set_solver("naive");
  const auto naive = Ask(request);
  ASSERT_TRUE(naive.ok());
  EXPECT_EQ(naive->solver(), "naive");
  request.set_deadline_seconds(-1);
  EXPECT_THAT(std::string(Ask(request).status().message()),
              testing::HasSubstr("deadline_seconds is -1"));
}

TEST(ReshardingOptionsTest, TheCallsDeadlineIsTheBudget) {
  using Seconds = std::chrono::duration<double>;
  const auto budget = [](std::optional<double> asked,
                         std::optional<Seconds> left) -> double {
    v1::ReshardingRequest request;
    if (asked.has_value()) request.set_deadline_seconds(*asked);
    const auto begin = std::chrono::steady_clock::now();
    const auto options = service::ReadReshardingOptions(request, left);
    if (!options.ok() || !options->deadline.at.has_value()) return -1;
    return Seconds(*options->deadline.at - begin).count();
  };
  EXPECT_EQ(budget({}, {}), -1);
  EXPECT_NEAR(budget(500, {}), 500, 60);
  EXPECT_NEAR(budget({}, Seconds(500)), 494.75, 4);
  EXPECT_NEAR(budget(600, Seconds(500)), 494.75, 4);
  EXPECT_NEAR(budget(300, Seconds(500)), 300, 60);
  EXPECT_LT(budget({}, Seconds(-5)), 0);            // over before it began
  EXPECT_NEAR(budget({}, Seconds(1e12)), 600, 60);  // the longest search
  EXPECT_EQ(budget(601, {}), -1);
}

// A solver that shows what it was given, and waits for its callers to leave.
class Waiting {
 public:
  absl::StatusOr<reshard::Answer> operator()(const ReshardProblem& problem,
                                             const reshard::Options& options) {
    deadline = options.deadline.at;
    begun.count_down();
    std::latch left{1};
    const std::stop_callback leave(options.deadline.stop,
                                   [&] { left.count_down(); });
    left.wait();
    ended.count_down();
    return reshard::Solve(problem, {.solver = reshard::Solver::kNaive});
  }
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::latch begun{1}, ended{1};
};

TEST_F(ReshardingServiceTest, AClientThatLeavesEndsTheSearch) {
  Waiting waiting;
  Start({.solve = std::ref(waiting)});
  std::stop_source stop;
  absl::StatusOr<v1::ReshardingAnswer> answer;
  std::thread asking([&] {
    answer =
        client_->PlanResharding(ParseRequest(TwoTasks()), stop.get_token());
  });
  waiting.begun.wait();
  EXPECT_FALSE(waiting.deadline.has_value());
  stop.request_stop();
  waiting.ended.wait();
  asking.join();
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kCancelled);
}

TEST_F(ReshardingServiceTest, ACallsOwnDeadlineReachesTheSolver) {
  Waiting waiting;
  Start({.solve = std::ref(waiting)});
  const auto channel = grpc::CreateChannel(coordinator_->address(),
                                           grpc::InsecureChannelCredentials());
  const auto stub = v1::Planning::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::minutes(5));
  v1::ReshardingAnswer answer;
  grpc::Status status;
  std::thread asking([&] {
    status = stub->PlanResharding(&context, ParseRequest(TwoTasks()), &answer);
  });
  waiting.begun.wait();
  ASSERT_TRUE(waiting.deadline.has_value());
  const auto left = *waiting.deadline - std::chrono::steady_clock::now();
  EXPECT_GT(left, std::chrono::minutes(4));
  // However gRPC rounds the minutes.
  EXPECT_LT(left, std::chrono::minutes(5));
  context.TryCancel();
  waiting.ended.wait();
  asking.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
}

// Other answers are for other calls: they wait for no search.
TEST_F(ReshardingServiceTest, SearchesLeaveThreadsForTheOtherCalls) {
  constexpr int kSearches = 8;
  std::latch begun{kSearches}, left{1};
  std::atomic<int> count = 0;
  Start({.solve = [&](const ReshardProblem& problem, const reshard::Options&) {
    if (count++ < kSearches) {
      begun.count_down();
      left.wait();
    }
    return reshard::Solve(problem, {.solver = reshard::Solver::kNaive});
  }});
  const auto ask = [&](int size) {
    json document = TwoTasks();  // each of its own: none waits for another's
    document["tasks"][0]["size_bytes"] = size;
    return Ask(ParseRequest(document));
  };
  std::vector<std::jthread> asking;
  for (int i = 0; i < kSearches; ++i) {
    asking.emplace_back([&ask, i] { EXPECT_TRUE(ask(i + 1).ok()); });
  }
  begun.wait();
  const absl::Status refused = ask(kSearches + 1).status();
  left.count_down();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              testing::HasSubstr("holds 8 calls that compute"));
  asking.clear();
  EXPECT_TRUE(ask(kSearches + 1).ok());  // those that ended make room
}

TEST_F(ReshardingServiceTest, StoppingEndsSearches) {
  Waiting waiting;
  Start({.solve = std::ref(waiting)});
  absl::StatusOr<v1::ReshardingAnswer> answer;
  std::thread asking([&] { answer = Ask(ParseRequest(TwoTasks())); });
  waiting.begun.wait();
  coordinator_->Stop();
  asking.join();
  EXPECT_FALSE(answer.ok());
}

TEST_F(ReshardingServiceTest, ADrainingCoordinatorTakesNone) {
  Start();
  EXPECT_TRUE(coordinator_->Drain(absl::InfiniteDuration()));
  EXPECT_EQ(Ask(ParseRequest(TwoTasks())).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(ReshardingMessagesTest, AForeignAnswerIsRefused) {
  const auto request = resharding::RequestFromJson(TwoTasks().dump());
  const auto answer = reshard::Solve(request->request.problem);
  const v1::ReshardingAnswer right =
      resharding::AnswerToMessage(request->request, *answer);
  ASSERT_TRUE(resharding::AnswerFromMessage(request->request, right).ok());
  std::vector<v1::ReshardingAnswer> wrong(4, right);
  wrong[0].set_order(0, "c");
  wrong[1].set_order(0, wrong[1].order(1));
  wrong[2].set_makespan_s(right.makespan_s() / 2);
  wrong[3].mutable_senders()->clear();
  for (const v1::ReshardingAnswer& message : wrong) {
    EXPECT_EQ(resharding::AnswerFromMessage(request->request, message)
                  .status()
                  .code(),
              absl::StatusCode::kInternal)
        << message.DebugString();
  }
}

}  // namespace
}  // namespace meshwright::daemon
