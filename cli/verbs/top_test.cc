// top, of a coordinator whose only plan waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stop_token>

#include "cli/testing/lone_coordinator.h"
#include "cli/testing/outcome.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TopTest, OneFrameForScripts) {
  store::FakeProfileStore store;
  const auto cluster = StartLoneCoordinator(&store);
  const std::string address = cluster->address();
  const auto client = client::PlanningClient::Connect(address);
  ASSERT_TRUE(client.ok()) << client.status();
  v1::SubmitPlanRequest request;
  request.mutable_request()->set_hlo_module(segmenter::ReadSample("gpt2_tiny"));
  request.mutable_request()->set_model_name("tiny");
  request.mutable_request()->mutable_mesh()->add_shape(2);
  const auto record = (*client)->SubmitPlan(request);
  ASSERT_TRUE(record.ok()) << record.status();
  v1::WatchPlanRequest watch;
  watch.set_id(record->id());
  std::stop_source waits;
  const absl::Status watched = (*client)->WatchPlan(
      watch,
      [&](const v1::PlanUpdate& update) {
        if (update.state() == v1::WAITING) waits.request_stop();
      },
      waits.get_token());
  EXPECT_EQ(watched.code(), absl::StatusCode::kCancelled);

  const Outcome shown = Command({"top", "--once", "--coordinator", address});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("coordinator " + address));
  EXPECT_THAT(shown.out, HasSubstr("workers: none\nplans: 1 waiting\n"));
  EXPECT_THAT(shown.out, testing::ContainsRegex("plan-1 .*tiny .*waiting"));
  EXPECT_THAT(shown.out, Not(HasSubstr("\x1b")));

  setenv("MESHWRIGHT_ADDRESS", address.c_str(), 1);
  EXPECT_THAT(Command({"top", "--once"}).out,
              HasSubstr("coordinator " + address));
  unsetenv("MESHWRIGHT_ADDRESS");

  const auto json = CommandJson({"top", "--once", "--coordinator", address});
  ASSERT_EQ(json["plans"].size(), 1);
  EXPECT_EQ(json["plans"][0]["state"], "waiting");
  EXPECT_THAT(json["plans"][0]["reason"].get<std::string>(),
              HasSubstr("worker"));
  EXPECT_TRUE(json["workers"].empty());
  EXPECT_TRUE(json["jobs"].empty());

  ASSERT_TRUE((*client)->CancelPlan(record->id()).ok());
  ASSERT_TRUE((*client)->WatchPlan(watch, nullptr, {}).ok());
  const Outcome after = Command({"top", "--once", "--coordinator", address});
  EXPECT_THAT(after.out, HasSubstr("plans: none\n"));
}

TEST(TopTest, BadInputIsOneSentence) {
  ExpectRefused({"top", "--interval", "0"}, "--interval");
  ExpectRefused({"top", "--plans", "0"}, "--plans");
}

}  // namespace
}  // namespace meshwright::cli
