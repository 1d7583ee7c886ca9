#include "worker/comm/executor/rank.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "worker/comm/testing/fault_injection_proxy.h"
#include "worker/comm/testing/group.h"

namespace meshwright::worker::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void ExpectDone(Group& group, const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.makespan_seconds, outcomes[0].makespan_seconds);
    for (const TaskReport& report : outcome.tasks) {
      EXPECT_EQ(report.verdict, Verdict::kMatch);
      EXPECT_LE(report.end_seconds, *outcome.makespan_seconds + 1e-9);
    }
  }
  for (size_t i = 0; i < group.plan().tasks.size(); ++i) {
    const int task = static_cast<int>(i);
    for (const int receiver : group.plan().tasks[i].receivers) {
      EXPECT_EQ(group.destination(receiver, task), group.source(task))
          << group.plan().tasks[i].id << " at h" << receiver;
    }
  }
}

void ExpectAllFail(const Group& group, const std::vector<Outcome>& outcomes,
                   absl::StatusCode code, const std::string& text,
                   std::set<int> but = {}) {
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (but.contains(static_cast<int>(i))) continue;
    EXPECT_EQ(outcomes[i].status.code(), code)
        << "h" << i << ": " << outcomes[i].status;
    EXPECT_THAT(std::string(outcomes[i].status.message()), HasSubstr(text));
    EXPECT_FALSE(outcomes[i].makespan_seconds.has_value());
  }
  EXPECT_TRUE(group.Untouched());
}

// The process of this rank dies at the frame of a kind after `count` others.
class DyingTransport : public Transport, public Transport::Events {
 public:
  DyingTransport(std::unique_ptr<Transport> inner, FrameType type, int count)
      : inner_(std::move(inner)), type_(type), left_(count) {}

  void Run(Transport::Events& events) override {
    events_ = &events;
    inner_->Run(*this);
  }
  void Send(int peer, const Frame& frame, std::span<const std::byte> payload,
            std::function<void()> sent) override {
    inner_->Send(peer, frame, payload, std::move(sent));
  }
  void Close(const Frame& last, const std::string& text) override {
    inner_->Close(last, text);
  }
  void Drop() override { inner_->Drop(); }

 private:
  void Connected() override { events_->Connected(); }
  absl::StatusOr<std::span<std::byte>> Place(int peer,
                                             const Frame& frame) override {
    return events_->Place(peer, frame);
  }
  void Arrived(int peer, const Frame& frame) override {
    if (frame.type == type_ && left_-- == 0) return Drop();
    events_->Arrived(peer, frame);
  }
  void Lost(int peer, const absl::Status& why) override {
    events_->Lost(peer, why);
  }
  void Tick() override { events_->Tick(); }

  std::unique_ptr<Transport> inner_;
  Transport::Events* events_ = nullptr;
  const FrameType type_;
  int left_;
};

TEST(RankTest, BroadcastReachesAnyNumberOfReceivers) {
  for (const int receivers : {1, 2, 3, 7}) {
    Group group(receivers + 1);
    std::vector<int> all;
    for (int i = 1; i <= receivers; ++i) all.push_back(i);
    group.Add("slice", 300'001, 0, all, Strategy::kBroadcast, 13);
    ExpectDone(group, group.Run());
  }
}

TEST(RankTest, EveryStrategyGivesEveryReceiverTheSlice) {
  for (const Strategy strategy : kStrategies) {
    SCOPED_TRACE(NameStrategy(strategy));
    Group group(6);
    group.AddAllSizes(strategy);
    ExpectDone(group, group.Run());
  }
}

TEST(RankTest, RandomPlansOfAllStrategiesEnd) {
  std::mt19937 random(20);
  for (int round = 0; round < 12; ++round) {
    Group group(2 + static_cast<int>(random() % 5));
    group.AddRandom(10, random);
    ExpectDone(group, group.Run());
  }
}

TEST(RankTest, TasksThatShareAPortDoNotOverlapThere) {
  Group group(4);
  group.Add("first", 400'000, 0, {2, 3}, Strategy::kBroadcast);
  group.Add("second", 400'000, 1, {2}, Strategy::kBroadcast);
  group.Add("third", 400'000, 0, {2}, Strategy::kBroadcast);
  const std::vector<Outcome> outcomes = group.Run();
  ExpectDone(group, outcomes);
  const auto& of_receiver = outcomes[2].tasks;
  ASSERT_EQ(of_receiver.size(), 3u);
  EXPECT_LE(of_receiver[0].start_seconds, of_receiver[1].start_seconds);
  EXPECT_LE(of_receiver[1].start_seconds, of_receiver[2].start_seconds);
  EXPECT_LE(outcomes[0].tasks[0].end_seconds,
            outcomes[0].tasks[1].start_seconds);
}

TEST(RankTest, AHostWithoutTasksTakesPart) {
  Group group(3);
  group.Add("slice", 10, 1, {2}, Strategy::kBroadcast);
  ExpectDone(group, group.Run());
}

TEST(RankTest, OneHostAndNoTasksIsDoneAtOnce) {
  Group group(1);
  ExpectDone(group, group.Run());
}

TEST(RankTest, AStrangerAtThePortDoesNoHarm) {
  Group group(2);
  group.Add("slice", 100'000, 0, {1}, Strategy::kBroadcast);
  SayTo(group.port(0), "GET / HTTP/1.1\r\nHost: h0\r\nAccept: */*\r\n\r\n");
  SayTo(group.port(0), "?");
  ExpectDone(group, group.Run());
}

// HELLO with its fingerprint, START and a CHUNK's header come before.
constexpr int64_t kIntoPayload = 32 + 64 + 32 + 32 + 5'000;

TEST(RankTest, ABitFlippedOnTheChannelFailsTheChecksumEverywhere) {
  for (const Strategy strategy : kStrategies) {
    SCOPED_TRACE(NameStrategy(strategy));
    Group group(4);
    group.Add("before", 1'000, 3, {2}, strategy, 1);
    group.Add("slice", 200'000, 0, {1, 2, 3}, strategy, 1);
    const FaultInjectionProxy proxy(group.port(0), Trouble::kFlip,
                                    kIntoPayload);
    group.Redirect(0, proxy.port());
    const auto outcomes = group.Run();
    ExpectAllFail(group, outcomes, absl::StatusCode::kDataLoss,
                  "differs from the slice of host h0");
    EXPECT_THAT(std::string(outcomes[1].status.message()),
                HasSubstr("task slice"));
  }
}

TEST(RankTest, ABitFlippedAtARelayIsFoundBehindIt) {
  Group group(3);
  group.Add("slice", 200'000, 0, {1, 2}, Strategy::kBroadcast, 1);
  // On h1's way to h2; h1 says no START.
  const FaultInjectionProxy proxy(group.port(1), Trouble::kFlip,
                                  kIntoPayload - 32);
  group.Redirect(1, proxy.port());
  const auto outcomes = group.Run();
  ExpectAllFail(group, outcomes, absl::StatusCode::kDataLoss,
                "the slice that host h2 received");
}

TEST(RankTest, APeerThatDiesIsAnErrorOnEveryOther) {
  for (const Strategy strategy : kStrategies) {
    for (int victim = 1; victim < 4; ++victim) {
      SCOPED_TRACE(NameStrategy(strategy) + std::to_string(victim));
      Group group(5);
      // Done before the death, and still not to be seen.
      group.Add("before", 2'000, 4, {0, 1, 2, 3}, strategy, 1);
      group.Add("slice", 400'000, 0, {1, 2, 3, 4}, strategy, 64);
      group.WrapWith([&](int rank, std::unique_ptr<Transport> transport) {
        if (rank != victim) return transport;
        return std::unique_ptr<Transport>(std::make_unique<DyingTransport>(
            std::move(transport), FrameType::kChunk, 12));
      });
      const auto outcomes = group.Run();
      ExpectAllFail(group, outcomes, absl::StatusCode::kUnavailable,
                    "host h" + std::to_string(victim) + " was lost", {victim});
      EXPECT_FALSE(outcomes[victim].status.ok());
    }
  }
}

TEST(RankTest, TheLeadersDeathIsAnErrorOnEveryOther) {
  Group group(4);
  group.Add("slice", 400'000, 1, {0, 2, 3}, Strategy::kBroadcast, 64);
  group.WrapWith([&](int rank, std::unique_ptr<Transport> transport) {
    if (rank != 0) return transport;
    return std::unique_ptr<Transport>(std::make_unique<DyingTransport>(
        std::move(transport), FrameType::kChunk, 30));
  });
  ExpectAllFail(group, group.Run(), absl::StatusCode::kUnavailable,
                "host h0 was lost", {0});
}

TEST(RankTest, ADeathAfterTheLastWordChangesNothingForTheOthers) {
  for (int round = 0; round < 20; ++round) {
    Group group(5);
    group.Add("slice", 20'000, 0, {1, 2, 3, 4}, Strategy::kBroadcast, 4);
    group.WrapWith([&](int rank, std::unique_ptr<Transport> transport) {
      if (rank != 2) return transport;
      return std::unique_ptr<Transport>(std::make_unique<DyingTransport>(
          std::move(transport), FrameType::kCommit, 0));
    });
    const auto outcomes = group.Run();
    for (const int rank : {0, 1, 3, 4}) {
      EXPECT_TRUE(outcomes[rank].status.ok()) << outcomes[rank].status;
      if (rank == 0) continue;
      EXPECT_EQ(group.destination(rank, 0), group.source(0));
    }
    EXPECT_FALSE(outcomes[2].status.ok());
  }
}

// The process of the leader dies when it has said COMMIT to one rank.
class DyingAtCommit : public Transport {
 public:
  DyingAtCommit(std::unique_ptr<Transport> inner, int heard_by)
      : inner_(std::move(inner)), heard_by_(heard_by) {}

  void Run(Transport::Events& events) override { inner_->Run(events); }
  void Send(int peer, const Frame& frame, std::span<const std::byte> payload,
            std::function<void()> sent) override {
    inner_->Send(peer, frame, payload, std::move(sent));
  }
  void Close(const Frame& last, const std::string& text) override {
    if (last.type != FrameType::kCommit) return inner_->Close(last, text);
    inner_->Send(heard_by_, last, {}, [this] { inner_->Drop(); });
  }
  void Drop() override { inner_->Drop(); }

 private:
  std::unique_ptr<Transport> inner_;
  const int heard_by_;
};

// h1 shares no task with h2 and h3, who cannot hear of it.
TEST(RankTest, ALeaderThatDiesAtCommitLeavesTheOthersUnsureAndSayingSo) {
  Group group(4);
  group.Add("heard", 20'000, 0, {1}, Strategy::kBroadcast);
  group.Add("unheard", 20'000, 2, {3}, Strategy::kBroadcast);
  group.WrapWith([](int rank, std::unique_ptr<Transport> transport) {
    if (rank != 0) return transport;
    return std::unique_ptr<Transport>(
        std::make_unique<DyingAtCommit>(std::move(transport), 1));
  });
  const auto outcomes = group.Run();
  EXPECT_TRUE(outcomes[1].status.ok()) << outcomes[1].status;
  EXPECT_EQ(group.destination(1, 0), group.source(0));
  for (const int rank : {2, 3}) {
    EXPECT_EQ(outcomes[rank].status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(outcomes[rank].status.message()),
                AllOf(HasSubstr("host h0 was lost"),
                      HasSubstr("published nothing, the others may have: run "
                                "the plan again")));
    EXPECT_FALSE(outcomes[rank].makespan_seconds.has_value());
  }
  EXPECT_NE(group.destination(3, 1), group.source(1));
}

// Who shares a task with h1 may hear of the COMMIT before it misses the leader,
// or not; whatever it hears, what it says is what it did.
TEST(RankTest, ALeaderThatDiesAtCommitLeavesNobodyHalfPublished) {
  for (int round = 0; round < 20; ++round) {
    Group group(5);
    group.Add("first", 20'000, 0, {1, 2, 3, 4}, Strategy::kBroadcast, 4);
    group.Add("second", 20'000, 1, {2, 3, 4}, Strategy::kBroadcast, 4);
    group.WrapWith([](int rank, std::unique_ptr<Transport> transport) {
      if (rank != 0) return transport;
      return std::unique_ptr<Transport>(
          std::make_unique<DyingAtCommit>(std::move(transport), 1));
    });
    const auto outcomes = group.Run();
    EXPECT_TRUE(outcomes[1].status.ok()) << outcomes[1].status;
    for (const int rank : {2, 3, 4}) {
      for (const int task : {0, 1}) {
        EXPECT_EQ(group.destination(rank, task) == group.source(task),
                  outcomes[rank].status.ok())
            << outcomes[rank].status;
      }
    }
  }
}

TEST(RankTest, APeerThatFallsSilentIsLostToo) {
  Group group(3);
  group.plan().deadline_seconds = 1;
  group.Add("slice", 4'000'000, 0, {1, 2}, Strategy::kBroadcast);
  const FaultInjectionProxy proxy(group.port(0), Trouble::kSilence, 100'000);
  group.Redirect(0, proxy.port());
  const auto outcomes = group.Run();
  // Its beats stop, or a chunk on its way does; whichever is seen first.
  for (const Outcome& outcome : outcomes) {
    EXPECT_FALSE(outcome.status.ok());
    EXPECT_THAT(std::string(outcome.status.message()), HasSubstr(" for 0.5 s"));
  }
  EXPECT_TRUE(group.Untouched());
}

TEST(RankTest, AConnectionThatBreaksIsAnErrorOnEveryRank) {
  Group group(4);
  group.Add("slice", 4'000'000, 0, {1, 2, 3}, Strategy::kBroadcast);
  const FaultInjectionProxy proxy(group.port(0), Trouble::kClose, 100'000);
  group.Redirect(0, proxy.port());
  ExpectAllFail(group, group.Run(), absl::StatusCode::kUnavailable,
                "was lost: ");
}

TEST(RankTest, AHostThatDoesNotComeIsNamed) {
  for (const int absent : {0, 1}) {
    Group group(2);
    group.plan().connect_seconds = 0.3;
    group.plan().deadline_seconds = 1;
    group.Add("slice", 100, 0, {1}, Strategy::kBroadcast);
    group.Leave(absent);
    const auto outcomes = group.Run();
    ExpectAllFail(
        group, outcomes, absl::StatusCode::kDeadlineExceeded,
        "host h" + std::to_string(absent) + " at 127.0.0.1:", {absent});
  }
}

TEST(RankTest, NobodyWaitsLongerForAHostThatDoesNotCome) {
  Group group(4);
  group.plan().connect_seconds = 0.3;
  group.plan().deadline_seconds = 1;
  group.Add("slice", 100, 0, {1, 2, 3}, Strategy::kBroadcast);
  group.Leave(2);
  ExpectAllFail(group, group.Run(), absl::StatusCode::kDeadlineExceeded,
                " within 0.3 s", {2});
}

TEST(RankTest, AnotherPlanIsRefused) {
  Group group(2);
  group.Add("slice", 100, 0, {1}, Strategy::kBroadcast);
  Plan other = group.plan();
  other.tasks[0].chunks = 2;
  group.Disagree(1, std::move(other));
  ExpectAllFail(group, group.Run(), absl::StatusCode::kFailedPrecondition,
                "it runs another plan; give every host the same");
}

TEST(RankTest, ASourceOfAnotherSizeIsRefused) {
  Group group(1);
  Plan plan = group.plan();
  plan.hosts.push_back({"h1", "127.0.0.1:1", "h1"});
  plan.tasks.push_back({"slice", 8, 0, {1}});
  TcpTransport transport(plan, 0, *TcpListener::Listen("127.0.0.1:0"));
  const Bytes five(5);
  const std::vector<std::span<const std::byte>> sources = {five};
  std::vector<Bytes> destinations(1);
  const Outcome outcome = RunRank(plan, 0, sources, destinations, transport);
  EXPECT_EQ(outcome.status.message(),
            "task slice has 8 bytes, but its source has 5");
}

TEST(RankTest, SlicesThatDoNotFitInMemoryAreRefused) {
  Group group(1);
  Plan plan = group.plan();
  plan.hosts.push_back({"h1", "127.0.0.1:1", "h1"});
  plan.tasks.push_back({"slice", int64_t{1} << 53, 1, {0}});
  TcpTransport transport(plan, 0, *TcpListener::Listen("127.0.0.1:0"));
  const std::vector<std::span<const std::byte>> sources(1);
  std::vector<Bytes> destinations(1);
  const Outcome outcome = RunRank(plan, 0, sources, destinations, transport);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(outcome.status.message()),
              AllOf(HasSubstr("task slice: this host would receive "
                              "9007199254740992 bytes"),
                    HasSubstr("reshard in several plans")));
}

TEST(TcpListenerTest, APortInUseIsOneSentence) {
  const auto first = TcpListener::Listen("127.0.0.1:0");
  ASSERT_TRUE(first.ok());
  const auto second =
      TcpListener::Listen("127.0.0.1:" + std::to_string(first->port()));
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("Address already in use"));
}

TEST(TcpListenerTest, AHostWhoseOwnNameIsLoopbackListensEverywhere) {
  EXPECT_EQ(ChooseListenAddress("node1", "127.0.1.1"), "0.0.0.0");
  EXPECT_EQ(ChooseListenAddress("node1", "10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(ChooseListenAddress("127.0.1.1", "127.0.1.1"), "127.0.1.1");
  EXPECT_EQ(ChooseListenAddress("localhost", "127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(ChooseListenAddress("localhost", "::1"), "::1");
}

// "127.0.0.1:7000" of a port of the kernel's choice. Nobody accepts there, so
// that it answers one caller, and no second one.
class SilentPort {
 public:
  SilentPort() {
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(at);
    auto* const name = reinterpret_cast<sockaddr*>(&at);
    EXPECT_EQ(bind(listener_, name, size), 0);
    EXPECT_EQ(listen(listener_, 0), 0);
    EXPECT_EQ(getsockname(listener_, name, &size), 0);
    EXPECT_EQ(connect(caller_, name, size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  }
  ~SilentPort() {
    close(caller_);
    close(listener_);
  }
  const std::string& address() const { return address_; }

 private:
  const int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int caller_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string address_;
};

// The port of a listener that is gone again.
std::string ClosedAddress() {
  const auto listener = TcpListener::Listen("127.0.0.1:0");
  EXPECT_TRUE(listener.ok()) << listener.status();
  return "127.0.0.1:" + std::to_string(listener->port());
}

absl::Status ConnectToFirst(TcpListener& loop,
                            const std::vector<std::string>& addresses) {
  TcpSocket socket(loop);
  std::optional<absl::Status> came;
  socket.ConnectToFirst(addresses, std::chrono::milliseconds(100),
                        [&](const absl::Status& status) { came = status; });
  loop.Run();
  return came.value_or(absl::InternalError("nothing came"));
}

TEST(TcpSocketTest, EveryAddressOfANameIsTried) {
  auto listener = TcpListener::Listen("127.0.0.1:0");
  ASSERT_TRUE(listener.ok()) << listener.status();
  const std::string open = "127.0.0.1:" + std::to_string(listener->port());
  const SilentPort silent;
  const absl::Status came = ConnectToFirst(
      *listener, {ClosedAddress(), silent.address(), open, ClosedAddress()});
  EXPECT_TRUE(came.ok()) << came;
}

TEST(TcpSocketTest, NoAddressOfANameAnswers) {
  auto listener = TcpListener::Listen("127.0.0.1:0");
  ASSERT_TRUE(listener.ok()) << listener.status();
  const SilentPort silent;
  const absl::Status came =
      ConnectToFirst(*listener, {ClosedAddress(), silent.address()});
  EXPECT_EQ(came.code(), absl::StatusCode::kUnavailable) << came;
  EXPECT_THAT(std::string(came.message()), HasSubstr("timed out"));
}

}  // namespace
}  // namespace meshwright::worker::comm
