// A coordinator as a real process, started with the soft limit of a shell:
// thousands of held connections neither silence it nor stay in its memory.
// Beyond its limit it refuses them, and where the kernel gives it none it
// rests.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/file.h"
#include "base/open_files.h"
#include "base/rpc/channel.h"
#include "proto/v1/plans.grpc.pb.h"
#include "tests/bench/figure.h"
#include "tests/integration/process.h"

namespace meshwright::integration {
namespace {

constexpr int kConnections = 2000;

// Half of them say nothing at all, half that they speak HTTP/2.
class HeldConnections {
 public:
  HeldConnections(const std::string& address, int count) {
    const size_t colon = address.rfind(':');
    int port = 0;
    EXPECT_TRUE(absl::SimpleAtoi(address.substr(colon + 1), &port));
    sockaddr_in there = {};
    there.sin_family = AF_INET;
    there.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, address.substr(0, colon).c_str(), &there.sin_addr);
    constexpr std::string_view kPreface(
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
    for (int i = 0; i < count; ++i) {
      sockets_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      EXPECT_EQ(connect(sockets_.back(), reinterpret_cast<sockaddr*>(&there),
                        sizeof(there)),
                0);
      if (i % 2 == 0) {
        EXPECT_EQ(send(sockets_.back(), kPreface.data(), kPreface.size(), 0),
                  static_cast<ssize_t>(kPreface.size()));
      }
    }
  }
  ~HeldConnections() {
    for (const int open : sockets_) close(open);
  }
  HeldConnections(const HeldConnections&) = delete;
  HeldConnections& operator=(const HeldConnections&) = delete;

 private:
  std::vector<int> sockets_;
};

class ConnectionsTest : public testing::Test {
 protected:
  ConnectionsTest() {
    const std::string store = testing::TempDir() + "/connections_test.db";
    for (const char* end : {"", "-wal", "-shm"}) {
      std::filesystem::remove(store + end);
    }
    rlimit files = {};
    getrlimit(RLIMIT_NOFILE, &files);
    hard_ = files.rlim_max;
    files.rlim_cur = 1024;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
    coordinator_ = std::make_unique<Process>(
        std::vector<std::string>{"meshwright-coordinator", "--json", "--listen",
                                 "127.0.0.1:0", "--store", store});
    base::RaiseOpenFiles(static_cast<int64_t>(hard_));
    const auto said =
        nlohmann::json::parse(coordinator_->ReadLine(), nullptr, false);
    EXPECT_TRUE(said.is_object());
    if (said.is_object()) address_ = said.value("address", "");
  }

  std::string Proc(const std::string& name) const {
    return absl::StrCat("/proc/", coordinator_->pid(), "/", name);
  }
  int64_t CountFiles() const {
    const std::filesystem::directory_iterator files(Proc("fd"));
    return std::distance(begin(files), end(files));
  }
  // Resident, and in no file.
  int64_t ReadOwnBytes() const {
    std::istringstream status(*base::ReadFile(Proc("status")));
    std::string word;
    while (status >> word && word != "RssAnon:") {
    }
    int64_t kib = 0;
    status >> kib;
    return kib * 1024;
  }
  // In user and kernel mode, of all its threads.
  absl::Duration ReadCpuTime() const {
    clockid_t clock = {};
    timespec time = {};
    EXPECT_EQ(clock_getcpuclockid(coordinator_->pid(), &clock), 0);
    EXPECT_EQ(clock_gettime(clock, &time), 0);
    return absl::DurationFromTimespec(time);
  }
  // Over a connection of its own, as a client that has just come.
  grpc::Status Ask(int patience_seconds = 10) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto plans = v1::Plans::NewStub(grpc::CreateCustomChannel(
        address_, grpc::InsecureChannelCredentials(), arguments));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(patience_seconds));
    v1::ListPlansResponse response;
    return plans->List(&context, v1::ListPlansRequest(), &response);
  }
  // Until the coordinator has at least, or at most, that many files open.
  bool AwaitFiles(int64_t minimum, int64_t maximum) const {
    const absl::Time end = absl::Now() + absl::Seconds(30);
    while (absl::Now() < end) {
      const int64_t count = CountFiles();
      if (minimum <= count && count <= maximum) return true;
      // A look at thousands of files holds up who opens them.
      absl::SleepFor(absl::Milliseconds(20));
    }
    return false;
  }

  rlim_t hard_ = 0;
  std::unique_ptr<Process> coordinator_;
  std::string address_;
};

TEST_F(ConnectionsTest, AClientIsAnsweredBesideThousandsOfOthers) {
  if (hard_ < 2 * kConnections) {
    GTEST_SKIP() << "the hard limit of open files is " << hard_
                 << "; the test needs " << 2 * kConnections;
  }
  ASSERT_TRUE(Ask().ok());
  const int64_t files = CountFiles();
  int64_t bytes[6] = {};
  absl::Duration slowest;
  for (int64_t& after : bytes) {
    {
      const HeldConnections held(address_, kConnections);
      EXPECT_TRUE(AwaitFiles(files + kConnections, 3 * kConnections))
          << CountFiles();
      const absl::Time asked = absl::Now();
      const grpc::Status beside = Ask();
      slowest = std::max(slowest, absl::Now() - asked);
      EXPECT_TRUE(beside.ok()) << beside.error_message();
    }
    EXPECT_TRUE(AwaitFiles(0, files + 4)) << CountFiles();
    const grpc::Status afterwards = Ask();
    EXPECT_TRUE(afterwards.ok()) << afterwards.error_message();
    after = ReadOwnBytes();
  }
  // The allocator settles after many rounds; 10,000 connections take 210 MB
  // while they are held.
  EXPECT_LT(bytes[5], bytes[0] + (32 << 20)) << testing::PrintToString(bytes);
  PrintFigure(
      "2,000 connections held, six times: slowest answer beside them; "
      "growth from the first time to the last",
      "≤ 10 s; ≤ 32 MiB",
      absl::StrFormat("%.0f ms; %d MiB", absl::ToDoubleMilliseconds(slowest),
                      (bytes[5] - bytes[0]) >> 20));
}

TEST_F(ConnectionsTest, ConnectionsBeyondItsFilesAreRefusedAndNoLater) {
  constexpr int kLeft = 50;
  ASSERT_TRUE(Ask().ok());
  const int64_t files = CountFiles();
  const auto few = static_cast<rlim_t>(files + kLeft);
  const rlimit limit = {few, few};
  ASSERT_EQ(prlimit(coordinator_->pid(), RLIMIT_NOFILE, &limit, nullptr), 0);
  for (int round = 0; round < 3; ++round) {
    {
      const HeldConnections held(address_, 4 * kLeft);
      EXPECT_TRUE(AwaitFiles(files + kLeft / 2, files + kLeft)) << CountFiles();
      // The last files are the store's and the workers'.
      EXPECT_LT(CountFiles(), files + kLeft - kLeft / 10);
      EXPECT_EQ(Ask().error_code(), grpc::StatusCode::UNAVAILABLE);
    }
    EXPECT_TRUE(AwaitFiles(0, files + 4)) << CountFiles();
    const grpc::Status afterwards = Ask();
    EXPECT_TRUE(afterwards.ok()) << afterwards.error_message();
  }
}

TEST_F(ConnectionsTest, WithoutAFileItRestsAndTakesConnectionsAgain) {
  ASSERT_TRUE(Ask().ok());
  // A new file would have a number from 3 on; those that are open stay open.
  const rlimit none = {3, hard_};
  rlimit before = {};
  ASSERT_EQ(prlimit(coordinator_->pid(), RLIMIT_NOFILE, &none, &before), 0);
  const HeldConnections held(address_, 20);
  const absl::Duration begun = ReadCpuTime();
  EXPECT_EQ(Ask(1).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_LT(ReadCpuTime() - begun, absl::Milliseconds(250));
  ASSERT_EQ(prlimit(coordinator_->pid(), RLIMIT_NOFILE, &before, nullptr), 0);
  const grpc::Status afterwards = Ask();
  EXPECT_TRUE(afterwards.ok()) << afterwards.error_message();
}

}  // namespace
}  // namespace meshwright::integration
