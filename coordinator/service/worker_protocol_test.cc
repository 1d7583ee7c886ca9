#include "coordinator/service/worker_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace meshwright::service {
namespace {

using testing::AllOf;
using testing::HasSubstr;

v1::WorkerHello Hello(int oldest, int newest) {
  v1::WorkerHello hello;
  hello.set_worker_id("gpu7");
  hello.set_software_version("9.8.7");
  hello.mutable_protocols()->set_oldest(oldest);
  hello.mutable_protocols()->set_newest(newest);
  return hello;
}

TEST(WorkerProtocolTest, OneVersionOlderOrNewerIsAccepted) {
  constexpr ProtocolRange kOwn = {4, 5};
  EXPECT_TRUE(CheckProtocol(Hello(4, 5), kOwn).ok());
  EXPECT_TRUE(CheckProtocol(Hello(3, 4), kOwn).ok());
  EXPECT_TRUE(CheckProtocol(Hello(5, 6), kOwn).ok());
  EXPECT_TRUE(CheckProtocol(Hello(1, 9), kOwn).ok());
}

TEST(WorkerProtocolTest, TwoVersionsOlderIsRefusedInOneSentence) {
  const absl::Status refused = CheckProtocol(Hello(2, 3), {4, 5});
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("worker gpu7 speaks protocols 2 to 3 "
                              "(Meshwright 9.8.7) and this coordinator "
                              "protocols 4 to 5"),
                    HasSubstr("upgrade the worker")));
  EXPECT_THAT(std::string(CheckProtocol(Hello(6, 6), {4, 5}).message()),
              AllOf(HasSubstr("speaks protocol 6 "),
                    HasSubstr("upgrade the coordinator")));
}

// Workers that say nothing of it were built before there was a protocol 2.
TEST(WorkerProtocolTest, AWorkerThatSaysNoneIsOfTheFirst) {
  v1::WorkerHello hello;
  EXPECT_TRUE(CheckProtocol(hello, {1, 2}).ok());
  EXPECT_FALSE(CheckProtocol(hello, {2, 3}).ok());
  EXPECT_TRUE(CheckProtocol(hello).ok());
}

TEST(WorkerProtocolTest, AWorkerThatMeasuresOtherwiseIsRefused) {
  constexpr ProtocolRange kOwn = {.measuring = 14};
  v1::WorkerHello hello =
      Hello(base::kOldestWorkerProtocol, base::kWorkerProtocol);
  EXPECT_TRUE(CheckProtocol(hello, kOwn).ok()) << "it does not say how";
  EXPECT_FALSE(CheckProtocol(hello, {.measuring = 15}).ok());
  hello.set_measuring_protocol(14);
  EXPECT_TRUE(CheckProtocol(hello, kOwn).ok());
  hello.set_measuring_protocol(13);
  const absl::Status refused = CheckProtocol(hello, kOwn);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("worker gpu7 measures by protocol 13 (Meshwright "
                              "9.8.7) and this coordinator by 14 (Meshwright"),
                    HasSubstr("upgrade the worker")));
  hello.set_measuring_protocol(15);
  EXPECT_THAT(std::string(CheckProtocol(hello, kOwn).message()),
              HasSubstr("upgrade the coordinator"));
}

TEST(WorkerProtocolTest, ThisVersionSpeaksWithItselfAndTheOneBefore) {
  EXPECT_TRUE(
      CheckProtocol(Hello(base::kOldestWorkerProtocol, base::kWorkerProtocol))
          .ok());
  EXPECT_TRUE(
      CheckProtocol(Hello(base::kWorkerProtocol - 1, base::kWorkerProtocol - 1))
          .ok());
  EXPECT_FALSE(
      CheckProtocol(Hello(base::kWorkerProtocol - 2, base::kWorkerProtocol - 2))
          .ok());
}

}  // namespace
}  // namespace meshwright::service
