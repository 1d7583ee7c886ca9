// Ranks whose chunks go over channels of GPUs, with channels made up in memory;
// and the real NCCL, as far as it goes without a GPU.
#include "worker/comm/transport/device_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "worker/comm/protocol/transfer_steps.h"
#include "worker/comm/testing/fault_injection_proxy.h"
#include "worker/comm/testing/group.h"
#include "worker/comm/transport/nccl_channels.h"

namespace meshwright::worker::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Joins the two ends of channels: a transfer happens when both have begun it.
// An end whose other end was aborted hears nothing, as between real GPUs.
class Fabric {
 public:
  struct Channel {
    int ends = 0;
    std::span<const std::byte> sending;
    std::span<std::byte> receiving;
    bool send_over = true, receive_over = true;
  };

  // After so many transfers, a channel says that it broke or changes a byte.
  int break_after = -1;
  int corrupt_after = -1;
  bool deaf = false;  // no two ends ever meet

  std::string NewId() {
    const base::MutexLock lock(&mutex_);
    std::string id(DeviceChannels::kIdBytes, '\0');
    const std::string name = absl::StrCat("channel ", ++ids_);
    name.copy(id.data(), name.size());
    return id;
  }
  void Join(const std::string& id) {
    const base::MutexLock lock(&mutex_);
    ++channels_[id].ends;
  }
  template <typename Change>
  void With(const std::string& id, const Change& change) {
    const base::MutexLock lock(&mutex_);
    Channel& channel = channels_[id];
    change(channel);
    if (channel.send_over || channel.receive_over) return;
    EXPECT_EQ(channel.sending.size(), channel.receiving.size());
    std::copy(channel.sending.begin(), channel.sending.end(),
              channel.receiving.begin());
    if (transfers_++ == corrupt_after) channel.receiving[0] ^= std::byte{1};
    bytes_ += static_cast<int64_t>(channel.sending.size());
    channel.send_over = channel.receive_over = true;
  }
  absl::StatusOr<bool> Idle(const std::string& id, bool sends) {
    const base::MutexLock lock(&mutex_);
    if (break_after >= 0 && transfers_ > break_after) {
      return absl::UnavailableError("NCCL failed: a cable was pulled");
    }
    const Channel& channel = channels_[id];
    return !deaf && channel.ends == 2 &&
           (sends ? channel.send_over : channel.receive_over);
  }
  int64_t bytes() const {
    const base::MutexLock lock(&mutex_);
    return bytes_;
  }

 private:
  mutable base::Mutex mutex_;
  std::map<std::string, Channel> channels_;
  int ids_ = 0;
  int transfers_ = 0;
  int64_t bytes_ = 0;
};

class FakeChannel : public DeviceChannel {
 public:
  FakeChannel(Fabric& fabric, std::string id, bool sends)
      : fabric_(fabric), id_(std::move(id)), sends_(sends) {
    fabric_.Join(id_);
  }
  absl::Status Send(std::span<const std::byte> bytes) override {
    EXPECT_TRUE(sends_ && fabric_.Idle(id_, true).value_or(true));
    fabric_.With(id_, [&](Fabric::Channel& channel) {
      channel.sending = bytes;
      channel.send_over = false;
    });
    return {};
  }
  absl::Status Receive(std::span<std::byte> bytes) override {
    EXPECT_TRUE(!sends_ && fabric_.Idle(id_, false).value_or(true));
    fabric_.With(id_, [&](Fabric::Channel& channel) {
      channel.receiving = bytes;
      channel.receive_over = false;
    });
    return {};
  }
  absl::StatusOr<bool> Idle() override { return fabric_.Idle(id_, sends_); }
  // A transfer that has begun must not happen later.
  void Abort() override {
    fabric_.With(id_, [&](Fabric::Channel& channel) {
      (sends_ ? channel.send_over : channel.receive_over) = true;
    });
  }

 private:
  Fabric& fabric_;
  const std::string id_;
  const bool sends_;
};

class FakeChannels : public DeviceChannels {
 public:
  explicit FakeChannels(Fabric& fabric) : fabric_(fabric) {}
  absl::StatusOr<std::string> NewId() override { return fabric_.NewId(); }
  absl::StatusOr<std::unique_ptr<DeviceChannel>> Open(const std::string& id,
                                                      bool sends) override {
    return std::make_unique<FakeChannel>(fabric_, id, sends);
  }

 private:
  Fabric& fabric_;
};

class DeviceTransportTest : public testing::Test {
 protected:
  void Channel(Group& group) {
    group.WrapWith([this, &group](int rank,
                                  std::unique_ptr<Transport> transport) {
      auto* const tcp = static_cast<TcpTransport*>(transport.get());
      return std::unique_ptr<Transport>(std::make_unique<DeviceTransport>(
          group.plan(), rank, std::move(transport),
          [tcp](Transport::Clock::duration time, std::function<void()> call) {
            tcp->After(time, std::move(call));
          },
          channels_));
    });
  }
  static int64_t StepBytes(const Plan& plan) {
    int64_t bytes = 0;
    for (const Task& task : plan.tasks) {
      for (const TransferStep& step : MakeTransferSteps(plan, task))
        bytes += step.size_bytes;
    }
    return bytes;
  }
  void ExpectDone(Group& group) {
    Channel(group);
    for (const Outcome& outcome : group.Run()) {
      EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    }
    for (size_t i = 0; i < group.plan().tasks.size(); ++i) {
      const int task = static_cast<int>(i);
      for (const int receiver : group.plan().tasks[i].receivers) {
        EXPECT_EQ(group.destination(receiver, task), group.source(task));
      }
    }
  }
  void ExpectAllFail(Group& group, absl::StatusCode code,
                     const std::string& text) {
    Channel(group);
    for (const Outcome& outcome : group.Run()) {
      EXPECT_EQ(outcome.status.code(), code) << outcome.status;
      EXPECT_THAT(std::string(outcome.status.message()), HasSubstr(text));
    }
    EXPECT_TRUE(group.Untouched());
  }

  Fabric fabric_;
  FakeChannels channels_{fabric_};
};

TEST_F(DeviceTransportTest, EveryStrategyGivesEveryReceiverTheSlice) {
  for (const Strategy strategy : kStrategies) {
    SCOPED_TRACE(NameStrategy(strategy));
    Group group(6);
    group.AddAllSizes(strategy);
    const int64_t before = fabric_.bytes();
    ExpectDone(group);
    // All of it over the channels, nothing over TCP.
    EXPECT_EQ(fabric_.bytes() - before, StepBytes(group.plan()));
  }
}

TEST_F(DeviceTransportTest, RandomPlansOfAllStrategiesEnd) {
  std::mt19937 random(20);
  for (int round = 0; round < 12; ++round) {
    Group group(2 + static_cast<int>(random() % 4));
    group.AddRandom(8, random);
    ExpectDone(group);
  }
}

TEST_F(DeviceTransportTest, AChannelThatBreaksIsAnErrorOnEveryRank) {
  Group group(4);
  group.Add("slice", 400'000, 0, {1, 2, 3}, Strategy::kBroadcast, 64);
  fabric_.break_after = 20;
  ExpectAllFail(group, absl::StatusCode::kUnavailable, "a cable was pulled");
}

TEST_F(DeviceTransportTest, APeerThatIsGoneCutsTheChannels) {
  Group group(4);
  group.plan().deadline_seconds = 4;
  group.Add("slice", 4'000'000, 0, {1, 2, 3}, Strategy::kBroadcast, 2'000);
  // The greeting, START, and some of the announcements of chunks.
  const FaultInjectionProxy proxy(group.port(0), Trouble::kClose, 20'000);
  group.Redirect(0, proxy.port());
  ExpectAllFail(group, absl::StatusCode::kUnavailable, "was lost: ");
}

TEST_F(DeviceTransportTest, AByteChangedOnTheChannelIsFound) {
  Group group(3);
  group.Add("slice", 200'000, 0, {1, 2}, Strategy::kBroadcast, 8);
  fabric_.corrupt_after = 5;
  ExpectAllFail(group, absl::StatusCode::kDataLoss,
                "differs from the slice of host h0");
}

TEST_F(DeviceTransportTest, GpusThatDoNotConnectAreNamed) {
  Group group(3);
  group.plan().deadline_seconds = 1;
  group.Add("slice", 100, 0, {1, 2}, Strategy::kBroadcast);
  fabric_.deaf = true;
  ExpectAllFail(group, absl::StatusCode::kDeadlineExceeded,
                "did not connect in 0.5 s");
}

// ---- the real library ----

TEST(NcclLibraryTest, AMissingLibraryIsOneSentence) {
  const auto nccl = NcclLibrary::Load("/nonexistent/libnccl.so.2");
  EXPECT_EQ(nccl.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(nccl.status().message()),
              AllOf(HasSubstr("cannot open /nonexistent/libnccl.so.2"),
                    HasSubstr("install NCCL"), HasSubstr("transport tcp")));
}

TEST(NcclLibraryTest, AnotherLibraryIsRefused) {
  const auto nccl = NcclLibrary::Load("libm.so.6");
  EXPECT_EQ(nccl.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(nccl.status().message()),
              HasSubstr("libm.so.6 has no ncclGetVersion"));
}

TEST(NcclLibraryTest, TheOneOfPipIsFoundBesideThePlugin) {
  if (NcclLibrary::Load().ok()) GTEST_SKIP() << "there is an NCCL here";
  setenv("MESHWRIGHT_CUDA_PLUGIN",
         MESHWRIGHT_DOUBLES "/jax_plugins/xla_cuda13/xla_cuda_plugin.so", 1);
  const auto nccl = NcclLibrary::Load();
  unsetenv("MESHWRIGHT_CUDA_PLUGIN");
  // It opens; the double has a version and nothing else.
  EXPECT_THAT(std::string(nccl.status().message()),
              HasSubstr("libnccl.so.2 has no ncclGet"));
}

TEST(NcclLibraryTest, TheInstalledOneTellsItsVersionAndNamesChannels) {
  const auto nccl = NcclLibrary::Load();
  if (!nccl.ok()) GTEST_SKIP() << "no NCCL here: " << nccl.status().message();
  EXPECT_GE((*nccl)->version, NcclLibrary::kMinVersion);
  EXPECT_THAT((*nccl)->FormatVersion(),
              testing::MatchesRegex("2\\.[0-9]+\\.[0-9]+"));
  NcclId one, other;
  ASSERT_EQ((*nccl)->get_unique_id(&one), 0);
  ASSERT_EQ((*nccl)->get_unique_id(&other), 0);
  EXPECT_NE(std::memcmp(&one, &other, sizeof(one)), 0);
  EXPECT_THAT(std::string((*nccl)->ToStatus(5, "a test").message()),
              HasSubstr("NCCL failed at a test: "));
}

TEST(NcclChannelsTest, WithoutADriverOneSentenceSaysSo) {
  if (CudaDriver::Load().ok()) GTEST_SKIP() << "there is a CUDA driver here";
  if (!NcclLibrary::Load().ok()) GTEST_SKIP() << "no NCCL here";
  const auto channels = NcclChannels::Create(0);
  EXPECT_EQ(channels.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(channels.status().message()),
              AllOf(HasSubstr("cannot open libcuda.so.1"),
                    HasSubstr("install the NVIDIA driver")));
}

TEST(NcclChannelsTest, MovesAChunkBetweenTwoGpus) {
  const auto first = NcclChannels::Create(0), second = NcclChannels::Create(1);
  if (!first.ok() || !second.ok()) {
    GTEST_SKIP() << "needs two GPUs: "
                 << (first.ok() ? second : first).status().message();
  }
  const auto id = (*first)->NewId();
  ASSERT_TRUE(id.ok()) << id.status();
  const auto from = (*first)->Open(*id, true);
  const auto to = (*second)->Open(*id, false);
  ASSERT_TRUE(from.ok() && to.ok()) << from.status() << to.status();
  const auto await = [](DeviceChannel& a, DeviceChannel& b) {
    while (true) {
      const auto one = a.Idle(), other = b.Idle();
      if (!one.ok() || !other.ok())
        return one.ok() ? other.status() : one.status();
      if (*one && *other) return absl::OkStatus();
    }
  };
  ASSERT_TRUE(await(**from, **to).ok());
  const Bytes sent(3'000'001, std::byte{7});
  Bytes came(sent.size());
  ASSERT_TRUE((*from)->Send(sent).ok());
  ASSERT_TRUE((*to)->Receive(came).ok());
  ASSERT_TRUE(await(**from, **to).ok());
  EXPECT_EQ(came, sent);
}

}  // namespace
}  // namespace meshwright::worker::comm
