#include "coordinator/dashboard/dashboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "coordinator/dashboard/views.h"
#include "coordinator/http/testing/ask_http.h"
#include "coordinator/jobs/testing/fake_worker.h"
#include "coordinator/security/token_file.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::dashboard {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Answers when the test says so.
class SilentPlans : public store::MemoryPlanStore {
 public:
  absl::StatusOr<std::vector<v1::PlanRecord>> List(
      const store::PlanFilter& filter) override {
    answers_.WaitForNotification();
    return MemoryPlanStore::List(filter);
  }
  void Answer() { answers_.Notify(); }

 private:
  absl::Notification answers_;
};

class DashboardTest : public testing::Test {
 protected:
  void SetUp() override { TearDown(); }
  void TearDown() override {
    dashboard_.reset();
    unlink(tokens_.c_str());
    unlink((tokens_ + ".lock").c_str());
  }

  void Start(const std::string& token_file = "",
             store::PlanStore* plans = nullptr,
             absl::Duration patience = absl::InfiniteDuration()) {
    auto guard = security::Guard::Open({&clock_, token_file, nullptr});
    ASSERT_TRUE(guard.ok()) << guard.status();
    guard_ = *std::move(guard);
    auto started =
        Dashboard::Start("127.0.0.1:0", security::Listening(),
                         {.clock = &clock_,
                          .guard = guard_.get(),
                          .queue = &queue_,
                          .workers = [this] { return queue_.Workers(); },
                          .plans = plans == nullptr ? &plans_ : plans,
                          .profiles = &profiles_,
                          .predictions = &predictions_,
                          .address = "here:7433",
                          .store_patience = patience});
    ASSERT_TRUE(started.ok()) << started.status();
    dashboard_ = *std::move(started);
  }
  // The text of a token of these roles, which the file knows.
  std::string AddToken(std::vector<security::Role> roles,
                       const std::string& name_space) {
    security::NewToken made = *security::MakeToken();
    made.token.name = "a person";
    made.token.roles = std::move(roles);
    made.token.name_space = name_space;
    made.token.created = clock_.Now();
    EXPECT_TRUE(
        security::ChangeTokenFile(tokens_,
                                  [&](std::vector<security::Token>& tokens) {
                                    tokens.push_back(made.token);
                                    return absl::OkStatus();
                                  })
            .ok());
    return made.text;
  }
  std::string AddPlan(const std::string& name_space, const std::string& model) {
    v1::PlanRecord record;
    record.set_namespace_(name_space);
    record.set_owner("token:ada");
    record.mutable_request()->set_model_name(model);
    record.mutable_request()->mutable_mesh()->add_shape(1);
    record.mutable_request()->mutable_mesh()->add_shape(8);
    const auto added = plans_.Add(record);
    EXPECT_TRUE(added.ok()) << added.status();
    return added->id();
  }
  void Append(const std::string& id, const v1::PlanUpdate& update) {
    const auto epoch = plans_.BeginEpoch("here");
    ASSERT_TRUE(epoch.ok()) << epoch.status();
    const auto appended =
        plans_.Append(*epoch, *store::ParsePlanId(id), update);
    ASSERT_TRUE(appended.ok()) << appended.status();
  }

  std::string Ask(const std::string& path, const std::string& headers = "",
                  const std::string& host = "localhost:80") {
    return http::AskHttp(
        dashboard_->address(),
        absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: ", host,
                     "\r\nConnection: close\r\n", headers, "\r\n"));
  }
  static std::string With(const std::string& token) {
    return absl::StrCat("Authorization: Bearer ", token, "\r\n");
  }
  json Read(const std::string& path, const std::string& headers = "") {
    const std::string answer = Ask(path, headers);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n")) << path;
    return json::parse(answer.substr(answer.find("\r\n\r\n")), nullptr, false);
  }

  const std::string tokens_ = testing::TempDir() + "/dashboard_test.toml";
  base::FakeClock clock_;
  jobs::JobQueue queue_{&clock_, {}};
  store::MemoryPlanStore plans_;
  store::FakeProfileStore profiles_;
  PredictionLog predictions_{&clock_, nullptr};
  std::unique_ptr<security::Guard> guard_;
  std::unique_ptr<Dashboard> dashboard_;
};

TEST_F(DashboardTest, ThePageMayReadNothingButThisServer) {
  Start();
  const std::string page = Ask("/");
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(page, HasSubstr("Content-Type: text/html; charset=utf-8\r\n"));
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy: default-src 'none'; "
                              "script-src 'self'; style-src 'self';"));
  EXPECT_THAT(page, EndsWith("</html>\n"));
  for (const char* unsafe : {"unsafe-inline", "style=\"", "<style", "onclick",
                             "javascript:", "https://"}) {
    EXPECT_THAT(page, Not(HasSubstr(unsafe)));
  }
  // Each file that the page names is there.
  for (size_t at = page.find("=\"/"); at != std::string::npos;
       at = page.find("=\"/", at + 1)) {
    const std::string path =
        page.substr(at + 2, page.find('"', at + 2) - at - 2);
    EXPECT_THAT(Ask(path), StartsWith("HTTP/1.1 200 OK\r\n")) << path;
  }
}

TEST_F(DashboardTest, WhatIsAsBeforeIsNotSentAgain) {
  Start();
  const std::string id = AddPlan("shared", "llama");
  for (const std::string path : {"/dashboard.js", "/api/plans"}) {
    const std::string first = Ask(path);
    const size_t at = first.find("ETag: ");
    ASSERT_NE(at, std::string::npos) << first;
    const std::string tag =
        first.substr(at + 6, first.find("\r\n", at) - at - 6);
    const std::string second =
        Ask(path, absl::StrCat("If-None-Match: ", tag, "\r\n"));
    EXPECT_THAT(second, StartsWith("HTTP/1.1 304")) << path;
    EXPECT_THAT(second, EndsWith("\r\n\r\n"));
    if (path == "/dashboard.js") continue;
    v1::PlanUpdate update;
    update.set_state(v1::ANALYSING);
    Append(id, update);
    EXPECT_THAT(Ask(path, absl::StrCat("If-None-Match: ", tag, "\r\n")),
                StartsWith("HTTP/1.1 200"));
  }
}

TEST_F(DashboardTest, HasNoOtherPaths) {
  Start();
  for (const char* path :
       {"/index.html", "/../etc/passwd", "/%2e%2e/etc/passwd",
        "/style.css/../../../etc/passwd", "//style.css", "/api", "/api/",
        "/api/nothing", "/api/plans/../workers", "/api/plans/plan-7",
        "/metrics"}) {
    const std::string answer = Ask(path);
    EXPECT_TRUE(absl::StartsWith(answer, "HTTP/1.1 404") ||
                absl::StartsWith(answer, "HTTP/1.1 400"))
        << path << ": " << answer;
    EXPECT_THAT(answer, Not(HasSubstr("root:")));
  }
  EXPECT_THAT(http::AskHttp(dashboard_->address(),
                            "DELETE /api/plans/plan-1 HTTP/1.1\r\n"
                            "Host: localhost\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 405"));
}

TEST_F(DashboardTest, AnswersToTheNamesOfThisMachineAlone) {
  Start();
  for (const char* host :
       {"localhost", "localhost:8080", "127.0.0.1:1", "[::1]", "[::1]:9"}) {
    EXPECT_THAT(Ask("/api/plans", "", host), StartsWith("HTTP/1.1 200"))
        << host;
  }
  for (const char* host : {"", "evil.example", "evil.example:80", "unix:80",
                           "localhost.evil.example", "127.0.0.1.evil:1"}) {
    EXPECT_THAT(Ask("/api/plans", "", host), StartsWith("HTTP/1.1 421"))
        << host;
  }
}

TEST_F(DashboardTest, PlansComeInPagesWithTheirProgress) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(AddPlan("shared", "llama"));
  v1::PlanUpdate update;
  update.set_state(v1::WAITING);
  update.set_reason("no worker has 8 devices");
  update.mutable_progress()->set_phase("measure");
  update.mutable_progress()->set_done(3);
  update.mutable_progress()->set_total(9);
  Append(ids[2], update);
  Start();
  const json first = Read("/api/plans?size=3");
  ASSERT_EQ(first["plans"].size(), 3);
  EXPECT_EQ(first["plans"][0]["id"], ids[4]);
  EXPECT_EQ(first["next"], ids[2]);
  EXPECT_EQ(first["counts"], json({{"queued", 4}, {"waiting", 1}}));
  const json& plan = first["plans"][2];
  EXPECT_EQ(plan["state"], "waiting");
  EXPECT_EQ(plan["reason"], "no worker has 8 devices");
  EXPECT_EQ(plan["mesh"], "1x8");
  EXPECT_EQ(plan["progress"]["done"], 3);
  EXPECT_EQ(plan["progress"]["total"], 9);
  EXPECT_EQ(plan["progress"]["best_seconds"], nullptr);
  const json second = Read(absl::StrCat("/api/plans?size=3&page=", ids[2]));
  EXPECT_EQ(second["plans"].size(), 2);
  EXPECT_EQ(second["next"], nullptr);
  EXPECT_EQ(Read("/api/plans?states=waiting,done")["plans"].size(), 1);
  for (const char* query :
       {"states=asleep", "size=0", "size=x", "page=7x", "owner=me", "=", "x"}) {
    EXPECT_THAT(Ask(absl::StrCat("/api/plans?", query)),
                StartsWith("HTTP/1.1 400"))
        << query;
  }
}

TEST_F(DashboardTest, APlanThatIsDoneHasItsFigures) {
  const std::string id = AddPlan("shared", "llama");
  v1::PlanUpdate update;
  update.set_state(v1::DONE);
  update.mutable_plan()->set_feasible(true);
  update.mutable_plan()->set_quality(v1::NOISY);
  update.mutable_plan()->mutable_predicted()->set_step_seconds(0.25);
  update.mutable_plan()->add_notes("replicated");
  Append(id, update);
  Start();
  const json plan = Read(absl::StrCat("/api/plans/", id));
  EXPECT_EQ(plan["state"], "done");
  EXPECT_EQ(plan["plan"]["step_seconds"], 0.25);
  EXPECT_EQ(plan["plan"]["quality"], "noisy");
  EXPECT_THAT(plan["plan"]["notes"], ElementsAre("replicated"));
}

TEST_F(DashboardTest, TasksSayWhyTheyWait) {
  jobs::JobRequest request;
  request.request.mutable_device()->set_platform("cuda");
  request.request.add_programs()->set_key("a");
  request.request.add_programs()->set_key("b");
  request.origin.plan = "plan-1";
  request.origin.name_space = "shared";
  queue_.Submit(std::move(request));
  Start();
  const json view = Read("/api/tasks");
  EXPECT_EQ(view["total"], 1);
  EXPECT_EQ(view["programs_waiting"], 2);
  EXPECT_EQ(view["tasks"][0]["state"], "queued");
  EXPECT_EQ(view["tasks"][0]["plan"], "plan-1");
  EXPECT_EQ(view["tasks"][0]["programs"], 2);
  EXPECT_THAT(view["tasks"][0]["reason"].get<std::string>(),
              HasSubstr("worker"));
}

TEST_F(DashboardTest, WorkersAreListed) {
  Start();
  EXPECT_EQ(Read("/api/workers"), json({{"total", 0},
                                        {"busy", 0},
                                        {"unwell", 0},
                                        {"workers", json::array()}}));
  jobs::FakeWorker worker(&queue_, "gpu7");
  worker.Attach();
  clock_.Advance(absl::Seconds(12));
  const json view = Read("/api/workers");
  EXPECT_EQ(view["workers"][0]["id"], "gpu7");
  EXPECT_EQ(view["workers"][0]["state"], "idle");
  EXPECT_EQ(view["workers"][0]["seen_seconds_ago"], 10);
}

TEST(ViewsTest, WorkersThatAreNotListedAreCounted) {
  std::vector<v1::WorkerSummary> workers(kMaxWorkers + 700);
  for (v1::WorkerSummary& worker : workers) {
    worker.set_state(v1::WorkerSummary::BUSY);
  }
  for (size_t i = 0; i < kMaxWorkers + 100; ++i) {
    workers[i].set_state(v1::WorkerSummary::AWAY);
  }
  const Json view = ViewWorkers(workers);
  EXPECT_EQ(view["total"], kMaxWorkers + 700);
  EXPECT_EQ(view["busy"], 600);
  EXPECT_EQ(view["unwell"], kMaxWorkers + 100);
  EXPECT_EQ(view["workers"].size(), kMaxWorkers);
}

TEST_F(DashboardTest, TheStoreAndItsQualityAreCounted) {
  store::Origin origin;
  const auto day = [&origin](int number) -> const store::Origin& {
    origin.recorded = store::Nanoseconds(std::chrono::days(number));
    return origin;
  };
  ASSERT_TRUE(profiles_.Record(store::MakeMeasured("a"), day(100)).ok());
  ASSERT_TRUE(
      profiles_.Record(store::MakeMeasured("b", 1000, v1::NOISY), day(100))
          .ok());
  ASSERT_TRUE(profiles_.Record(store::MakeMeasured("c"), day(101)).ok());
  ASSERT_TRUE(
      profiles_.Record(store::MakeRow("d", v1::CRASHED), day(101)).ok());
  Start();
  EXPECT_EQ(Read("/api/store")["counted"], nullptr);
  dashboard_->AwaitCensus();
  const json store = Read("/api/store");
  EXPECT_EQ(store["outcomes"], json({{"measured", 3}, {"crashed", 1}}));
  EXPECT_EQ(store["qualities"], json({{"good", 2}, {"noisy", 1}}));
  const json quality = Read("/api/quality");
  EXPECT_EQ(quality["days"],
            json::array({{{"day", 100 * 86400}, {"good", 1}, {"noisy", 1}},
                         {{"day", 101 * 86400}, {"good", 1}}}));
  EXPECT_EQ(quality["predictions"], json::array());
}

TEST_F(DashboardTest, PredictionsAreKeptInTheirOrder) {
  Start();
  predictions_.AddPrediction("TPU v9", std::numeric_limits<double>::infinity(),
                             1);
  for (size_t i = 0; i < PredictionLog::kKept + 1; ++i) {
    predictions_.AddPrediction("TPU v9", i == 0 ? 9 : 1.1, 1.0);
  }
  const json view = Read("/api/quality");
  ASSERT_EQ(view["predictions"].size(), PredictionLog::kKept);
  const json& first = view["predictions"][0];
  EXPECT_EQ(first["device"], "TPU v9");
  EXPECT_NEAR(first["error"].get<double>(), 0.1, 1e-12);
}

TEST_F(DashboardTest, FiguresAreForTokensOfTheirRole) {
  const std::string reader = AddToken({security::Role::kRead}, "vision");
  const std::string worker = AddToken({security::Role::kWork}, "");
  Start(tokens_);
  // The page asks for the token.
  EXPECT_THAT(Ask("/"), StartsWith("HTTP/1.1 200"));
  for (const char* path :
       {"/api/service", "/api/plans", "/api/plans/plan-1", "/api/tasks",
        "/api/workers", "/api/store", "/api/quality"}) {
    const std::string none = Ask(path);
    EXPECT_THAT(none, StartsWith("HTTP/1.1 401")) << path;
    EXPECT_THAT(none, HasSubstr("WWW-Authenticate: Bearer\r\n"));
    EXPECT_THAT(none, HasSubstr("asks for a token"));
    EXPECT_THAT(Ask(path, With("mwt_wrong_token")), StartsWith("HTTP/1.1 401"))
        << path;
    const std::string refused = Ask(path, With(worker));
    EXPECT_THAT(refused, StartsWith("HTTP/1.1 403")) << path;
    EXPECT_THAT(refused, HasSubstr("needs the role read"));
    EXPECT_THAT(Ask(path, With(reader)),
                StartsWith(absl::EndsWith(path, "plan-1") ? "HTTP/1.1 404"
                                                          : "HTTP/1.1 200"))
        << path;
  }
}

TEST_F(DashboardTest, AnotherTeamsPlansAreNotShown) {
  const std::string reader = AddToken({security::Role::kRead}, "vision");
  const std::string admin = AddToken({security::Role::kAdmin}, "");
  const std::string secret = AddPlan("speech", "secret");
  const std::string own = AddPlan("vision", "own");
  jobs::JobRequest request;
  request.request.add_programs()->set_key("a");
  request.origin = {.owner = "token:x",
                    .model = "secret",
                    .plan = secret,
                    .name_space = "speech"};
  queue_.Submit(std::move(request));
  Start(tokens_);
  const json seen = Read("/api/plans", With(reader));
  ASSERT_EQ(seen["plans"].size(), 1);
  EXPECT_EQ(seen["plans"][0]["id"], own);
  EXPECT_EQ(seen["counts"], nullptr);
  EXPECT_THAT(Ask(absl::StrCat("/api/plans/", secret), With(reader)),
              StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask("/api/tasks", With(reader)), Not(HasSubstr("secret")));
  EXPECT_EQ(Read("/api/plans", With(admin))["plans"].size(), 2);
  EXPECT_THAT(Ask("/api/tasks", With(admin)), HasSubstr("secret"));
}

TEST_F(DashboardTest, AStoreThatSaysNothingHidesNoWorkers) {
  SilentPlans silent;
  Start("", &silent, absl::Milliseconds(1));
  for (int reading = 0; reading < 2; ++reading) {
    const std::string plans = Ask("/api/plans");
    EXPECT_THAT(plans, StartsWith("HTTP/1.1 503"));
    EXPECT_THAT(plans, HasSubstr("the store does not answer"));
    EXPECT_THAT(Ask("/api/workers"), StartsWith("HTTP/1.1 200"));
  }
  silent.Answer();
  dashboard_.reset();  // before the store
}

TEST_F(DashboardTest, NamesThatAreNoTextAreAnswered) {
  AddPlan("shared", "\xff</script><img src=x>");
  Start();
  const json view = Read("/api/plans");
  EXPECT_EQ(view["plans"][0]["model"], "\xef\xbf\xbd</script><img src=x>");
}

TEST_F(DashboardTest, BeyondThisMachineItNeedsTls) {
  Start();
  const Sources sources{.clock = &clock_, .guard = guard_.get()};
  const auto refused =
      Dashboard::Start("0.0.0.0:0", security::Listening(), sources);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(), HasSubstr("--tls-cert"));
  security::Listening insecure;
  insecure.insecure = true;
  const auto plain = Dashboard::Start("0.0.0.0:0", insecure, sources);
  EXPECT_TRUE(plain.ok()) << plain.status();
}

}  // namespace
}  // namespace meshwright::dashboard
