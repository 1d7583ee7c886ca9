#include "worker/detect/tcp_timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "absl/strings/str_cat.h"
#include "worker/detect/tcp_item.h"

namespace meshwright::worker::detect {
namespace {

using cluster::Operation;
using testing::HasSubstr;

using Timings = absl::StatusOr<std::vector<cluster::GroupTiming>>;

std::string FindFreeAddress() {
  const auto listener = comm::TcpListener::Listen("127.0.0.1:0");
  return absl::StrCat("127.0.0.1:", listener->port());
}

std::vector<TcpHost> MakeHosts(int count) {
  std::vector<TcpHost> hosts;
  for (int i = 0; i < count; ++i) {
    hosts.push_back({absl::StrCat("h", i), FindFreeAddress()});
  }
  return hosts;
}

TcpTimingOptions MakeOptions() {
  TcpTimingOptions options;
  options.maximum_bytes = 16 << 10;
  return options;
}

std::vector<Timings> TimeTogether(const std::vector<TcpHost>& hosts,
                                  const TcpTimingOptions& options) {
  std::vector<Timings> results(hosts.size());
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < hosts.size(); ++i) {
    threads.emplace_back(
        [&, i] { results[i] = TimeHosts(hosts, hosts[i].name, options); });
  }
  threads.clear();
  return results;
}

TEST(TcpTimingTest, EveryPairAndEveryCollective) {
  const auto results = TimeTogether(MakeHosts(3), MakeOptions());
  for (const Timings& result : results)
    ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(results[1]->empty());
  std::map<std::pair<Operation, size_t>, int> counts;
  for (const cluster::GroupTiming& it : *results[0]) {
    EXPECT_GT(it.timing.seconds, 0);
    EXPECT_LT(it.timing.seconds, 1);
    ++counts[{it.timing.operation, it.devices.size()}];
  }
  EXPECT_EQ((counts[{Operation::kSendReceive, 2}]), 3 * 6);
  for (const Operation operation :
       {Operation::kAllReduce, Operation::kAllGather, Operation::kReduceScatter,
        Operation::kAllToAll, Operation::kBroadcast}) {
    EXPECT_EQ((counts[{operation, 2}]), 2);
    EXPECT_EQ((counts[{operation, 3}]), 2);
  }
  const auto found = cluster::Detect({"h0", "h1", "h2"}, *results[0], "tcp");
  EXPECT_TRUE(found.ok()) << found.status();
}

TEST(TcpTimingTest, AHostThatDoesNotComeIsNamed) {
  TcpTimingOptions options = MakeOptions();
  options.connect_patience = std::chrono::milliseconds(100);
  const std::vector<TcpHost> hosts = MakeHosts(2);
  const auto first = TimeHosts(hosts, "h0", options);
  EXPECT_EQ(first.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(first.status().message()),
              HasSubstr(absl::StrCat("host h1 at ", hosts[1].address,
                                     " has not called in time; start")));
  const auto second = TimeHosts(hosts, "h1", options);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(absl::StrCat("host h0 at ", hosts[0].address,
                                     " cannot be reached in time")));
}

// As a relay does whose target does not listen yet.
TEST(TcpTimingTest, AConnectionThatIsCutBeforeTheGreetingIsMadeAgain) {
  const std::vector<TcpHost> hosts = MakeHosts(2);
  Timings second;
  std::jthread other;
  {
    auto relay = comm::TcpListener::Listen(hosts[0].address);
    ASSERT_TRUE(relay.ok()) << relay.status();
    comm::TcpSocket caller(*relay);
    relay->Accept(caller, [&](const absl::Status& status) {
      EXPECT_TRUE(status.ok()) << status;
      caller.Close();
    });
    other =
        std::jthread([&] { second = TimeHosts(hosts, "h1", MakeOptions()); });
    relay->Run();
  }
  const Timings first = TimeHosts(hosts, "h0", MakeOptions());
  other.join();
  EXPECT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(second.ok()) << second.status();
}

TEST(TcpTimingTest, AnotherListIsRefused) {
  TcpTimingOptions options = MakeOptions();
  options.connect_patience = std::chrono::seconds(2);
  std::vector<TcpHost> hosts = MakeHosts(2);
  Timings first;
  std::jthread leader([&] { first = TimeHosts(hosts, "h0", options); });
  std::vector<TcpHost> others = hosts;
  others.push_back({"h2", "127.0.0.1:1"});
  const Timings second = TimeHosts(others, "h1", options);
  leader.join();
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("give every host the same list of hosts"));
  EXPECT_EQ(first.status().code(), absl::StatusCode::kUnavailable);
}

TEST(TcpTimingTest, ListsThatAreNone) {
  const TcpTimingOptions options = MakeOptions();
  const std::vector<TcpHost> hosts = MakeHosts(2);
  const auto fault = [&](const std::vector<TcpHost>& list,
                         const std::string& self) {
    return std::string(TimeHosts(list, self, options).status().message());
  };
  EXPECT_THAT(fault(hosts, "h7"), HasSubstr("\"h7\" is none of the hosts"));
  EXPECT_THAT(fault({hosts[0]}, "h0"), HasSubstr("one host has no link"));
  EXPECT_THAT(fault({hosts[0], hosts[0]}, "h0"), HasSubstr("stands twice"));
  // A port of another host, too, and one that others would cut to 16 bits.
  for (const char* const none : {"nowhere", "localhost:99999", "[::1]:0"}) {
    EXPECT_THAT(
        fault({hosts[0], {"a", none}}, "h0"),
        HasSubstr(absl::StrCat("\"", none, "\", which is not HOST:PORT")));
  }
  TcpTimingOptions large = options;
  large.maximum_bytes = int64_t{1} << 40;
  EXPECT_THAT(std::string(TimeHosts(hosts, "h0", large).status().message()),
              HasSubstr("give 4096 to"));
}

TEST(TcpItemTest, ThereAndBack) {
  const Item item{Operation::kAllToAll, 1 << 20, 17, {2, 0, 1}};
  const auto read = Decode(Encode(item), 3, 1 << 20);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->operation, item.operation);
  EXPECT_EQ(read->bytes, item.bytes);
  EXPECT_EQ(read->repetitions, item.repetitions);
  EXPECT_EQ(read->members, item.members);
  EXPECT_FALSE(Decode(Encode(Item()), 3, 1)->operation.has_value());
}

TEST(TcpItemTest, WhatIsNoItem) {
  const Item good{Operation::kAllToAll, 100, 17, {0, 1}};
  const auto refuse = [](const Item& item) {
    EXPECT_EQ(Decode(Encode(item), 3, 1000).status().code(),
              absl::StatusCode::kDataLoss);
  };
  Item bad = good;
  bad.bytes = 1001;
  refuse(bad);
  bad = good;
  bad.bytes = -5;
  refuse(bad);
  bad = good;
  bad.repetitions = 0;
  refuse(bad);
  bad = good;
  bad.members = {0, 3};
  refuse(bad);
  bad.members = {1, 1};
  refuse(bad);
  bad.members = {1};
  refuse(bad);
  EXPECT_FALSE(
      Decode(std::vector<std::byte>(kItemBytes, std::byte{0x7f}), 3, 1000)
          .ok());
  EXPECT_FALSE(Decode({}, 3, 1000).ok());
}

}  // namespace
}  // namespace meshwright::worker::detect
