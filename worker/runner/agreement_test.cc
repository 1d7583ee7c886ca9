// The members of a gang, each on a thread, and what passes their words on.
#include "worker/runner/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/runner/quiet_period.h"
#include "worker/timing/round_robin.h"

namespace meshwright::worker::runner {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// Passes words on as a coordinator does, for members in this process.
class Switchboard {
 public:
  explicit Switchboard(int size) : members_(size) {
    for (int rank = 0; rank < size; ++rank) {
      Member& member = members_[rank];
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, member.input), 0);
      EXPECT_EQ(pipe(member.events), 0);
      member.writer = *sandbox::EventWriter::Open(
          absl::StrCat("/dev/fd/", member.events[1]));
      close(member.events[1]);
      v1::GangPlace place;
      place.set_rank(rank);
      place.set_size(size);
      member.line =
          std::make_unique<GangLine>(place, *member.writer, member.input[1]);
    }
    thread_ = std::thread([this] { Run(); });
  }
  ~Switchboard() {
    for (Member& member : members_) {
      member.line.reset();
      member.writer.reset();  // its stream ends
    }
    thread_.join();
    for (Member& member : members_) {
      close(member.input[1]);
      close(member.events[0]);
    }
  }

  GangLine& line(int rank) { return *members_[rank].line; }
  // Each on a thread of its own.
  void ForEach(const std::function<void(int rank)>& run) {
    std::vector<std::jthread> threads;
    for (size_t rank = 0; rank < members_.size(); ++rank) {
      threads.emplace_back([&run, rank] { run(static_cast<int>(rank)); });
    }
  }

 private:
  struct Member {
    int input[2];
    int events[2];
    std::unique_ptr<sandbox::EventWriter> writer;
    std::unique_ptr<GangLine> line;
    sandbox::EventParser parser;
    bool is_open = true;
  };
  struct Ask {
    int rank;
    int64_t number;
  };

  void Tell(int rank, const v1::GangMessage& message) {
    const std::string framed = sandbox::Frame(message);
    send(members_[rank].input[0], framed.data(), framed.size(), MSG_NOSIGNAL);
  }
  void Answer(const Ask& ask, const std::string* value) {
    v1::GangMessage message;
    message.mutable_value()->set_number(ask.number);
    message.mutable_value()->set_is_there(value != nullptr);
    if (value != nullptr) message.mutable_value()->set_value(*value);
    Tell(ask.rank, message);
  }
  void Take(int rank, const v1::RunnerEvent& event) {
    if (event.has_at_gate() && ++at_gate_ == std::ssize(members_)) {
      v1::GangMessage go;
      go.mutable_go();
      for (int i = 0; i < std::ssize(members_); ++i) Tell(i, go);
    }
    if (event.has_put()) {
      const std::string& value = values_[event.put().key()] =
          event.put().value();
      for (const Ask& ask : waiting_[event.put().key()]) Answer(ask, &value);
      waiting_.erase(event.put().key());
    }
    if (event.has_get()) {
      const Ask ask{rank, event.get().number()};
      const auto found = values_.find(event.get().key());
      if (found != values_.end()) {
        Answer(ask, &found->second);
      } else if (!event.get().waits()) {
        Answer(ask, nullptr);
      } else {
        waiting_[event.get().key()].push_back(ask);
      }
    }
  }
  void Run() {
    size_t open = members_.size();
    while (open > 0) {
      std::vector<pollfd> files;
      for (const Member& member : members_) {
        files.push_back({member.is_open ? member.events[0] : -1, POLLIN, 0});
      }
      poll(files.data(), files.size(), -1);
      for (size_t rank = 0; rank < members_.size(); ++rank) {
        if (files[rank].revents == 0) continue;
        Member& member = members_[rank];
        char buffer[4096];
        const ssize_t size = read(member.events[0], buffer, sizeof(buffer));
        if (size <= 0) {
          member.is_open = false;
          --open;
          close(member.input[0]);
          continue;
        }
        const auto events =
            member.parser.Feed({buffer, static_cast<size_t>(size)});
        ASSERT_TRUE(events.ok());
        for (const auto& event : *events) Take(static_cast<int>(rank), event);
      }
    }
  }

  std::vector<Member> members_;
  std::map<std::string, std::string> values_;
  std::map<std::string, std::vector<Ask>> waiting_;
  int at_gate_ = 0;
  std::thread thread_;
};

TEST(GangLineTest, AllGoTogetherAndHearWhatEachSays) {
  Switchboard gang(3);
  std::vector<std::vector<std::string>> heard(3);
  gang.ForEach([&](int rank) {
    ASSERT_TRUE(gang.line(rank).AwaitGo().ok());
    ASSERT_TRUE(gang.line(rank).Exchange("before").ok());
    heard[rank] = *gang.line(rank).Exchange(absl::StrCat("rank ", rank));
  });
  EXPECT_THAT(heard, Each(ElementsAre("rank 0", "rank 1", "rank 2")));
}

TEST(GangLineTest, AKeyIsWaitedForOrLookedFor) {
  Switchboard gang(2);
  EXPECT_TRUE(absl::IsNotFound(gang.line(0).TryGet("key").status()));
  const auto late = gang.line(0).Get("key", absl::Milliseconds(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded(late.status())) << late.status();
  std::string value;
  gang.ForEach([&](int rank) {
    if (rank == 1) {
      EXPECT_TRUE(gang.line(1).Put("key", std::string("\0value", 6)).ok());
    } else {
      value = *gang.line(0).Get("key", absl::InfiniteDuration());
    }
  });
  EXPECT_EQ(value, std::string("\0value", 6));
}

// So an exchange takes one round trip, and not one for each member.
TEST(GangLineTest, AllAreAskedBeforeTheFirstAnswers) {
  int input[2];
  int events[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, input), 0);
  ASSERT_EQ(pipe(events), 0);
  auto writer = sandbox::EventWriter::Open(absl::StrCat("/dev/fd/", events[1]));
  ASSERT_TRUE(writer.ok());
  close(events[1]);
  v1::GangPlace place;
  place.set_rank(0);
  place.set_size(3);
  GangLine line(place, **writer, input[1]);
  absl::StatusOr<std::vector<std::string>> said;
  std::thread member([&] { said = line.Exchange("rank 0"); });
  std::vector<int64_t> asked;
  sandbox::EventParser parser;
  pollfd file = {events[0], POLLIN, 0};
  while (asked.size() < 2 && poll(&file, 1, 10'000) == 1) {
    char buffer[4096];
    const ssize_t size = read(events[0], buffer, sizeof(buffer));
    if (size <= 0) break;
    const auto heard = parser.Feed({buffer, static_cast<size_t>(size)});
    if (!heard.ok()) break;
    for (const v1::RunnerEvent& event : *heard) {
      if (event.has_get()) asked.push_back(event.get().number());
    }
  }
  for (int other = static_cast<int>(asked.size()); other > 0; --other) {
    v1::GangMessage message;
    message.mutable_value()->set_number(asked[other - 1]);
    message.mutable_value()->set_is_there(true);
    message.mutable_value()->set_value(absl::StrCat("rank ", other));
    const std::string framed = sandbox::Frame(message);
    send(input[0], framed.data(), framed.size(), MSG_NOSIGNAL);
  }
  close(input[0]);
  member.join();
  close(events[0]);
  ASSERT_TRUE(said.ok()) << said.status();
  EXPECT_THAT(*said, ElementsAre("rank 0", "rank 1", "rank 2"));
}

TEST(GangLineTest, ALineThatEndsEndsAllWaiting) {
  int input[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, input), 0);
  auto events = sandbox::EventWriter::Open("/dev/null");
  ASSERT_TRUE(events.ok());
  GangLine line(v1::GangPlace(), **events, input[1]);
  std::thread end([&] { close(input[0]); });
  EXPECT_TRUE(absl::IsUnavailable(line.AwaitGo()));
  end.join();
  EXPECT_TRUE(
      absl::IsUnavailable(line.Get("key", absl::InfiniteDuration()).status()));
}

TEST(AgreementTest, AFailureOfOneIsAllOfTheirs) {
  Switchboard gang(3);
  std::vector<absl::Status> agreed(3);
  gang.ForEach([&](int rank) {
    const Agreement agreement(&gang.line(rank));
    EXPECT_TRUE(agreement.Agree(absl::OkStatus()).ok());
    agreed[rank] = agreement.Agree(
        rank == 1 ? absl::ResourceExhaustedError("no memory left")
                  : absl::OkStatus());
  });
  for (const absl::Status& status : agreed) {
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(status.message(), "on rank 1: no memory left");
  }
}

TEST(AgreementTest, AGangHasAllItsTimingLocksOrNone) {
  const std::string folder =
      absl::StrCat(testing::TempDir(), "/locks_of_a_gang");
  std::filesystem::create_directories(folder);
  const auto open = [&](const std::string& group) {
    return *devices::TimingLock::Open({group}, folder);
  };
  const auto others_first = open("first");
  const auto others_second = open("second");
  const auto events = *sandbox::EventWriter::Open("/dev/null");
  for (const bool is_taken : {true, false}) {
    others_first->Release();
    if (is_taken) {
      ASSERT_TRUE(others_first->Exclude(absl::ZeroDuration(), [] {}).ok());
    }
    Switchboard gang(2);
    gang.ForEach([&](int rank) {
      const auto lock = open(rank == 0 ? "first" : "second");
      QuietMachine machine;
      machine.lock = lock.get();
      machine.gang = &gang.line(rank);
      machine.lock_limit = absl::ZeroDuration();
      Patience patience{absl::ZeroDuration()};
      const QuietPeriod quiet(machine, patience, *events);
      EXPECT_EQ(quiet.LookAround().other_load, is_taken ? 1 : 0);
      EXPECT_TRUE(gang.line(rank).Exchange("both have theirs").ok());
      if (rank == 0) {
        EXPECT_EQ(others_second->Exclude(absl::ZeroDuration(), [] {}).ok(),
                  is_taken);
        others_second->Release();
      }
      EXPECT_TRUE(gang.line(rank).Exchange("it was looked at").ok());
    });
  }
}

// Decisions follow from times, and times differ from member to member.
TEST(AgreementTest, AllTakeTheSameTurns) {
  constexpr int kMembers = 3;
  Switchboard gang(kMembers);
  std::vector<std::string> turns(kMembers);
  std::vector<timing::Summary> summaries(kMembers);
  gang.ForEach([&](int rank) {
    const Agreement agreement(&gang.line(rank));
    std::mt19937 random(rank);
    timing::Protocol protocol;
    protocol.minimum_time = absl::ZeroDuration();
    timing::RoundRobin rounds(protocol, {1, 2, 3});
    while (const auto turn = rounds.Next()) {
      absl::StrAppend(&turns[rank], turn->program, ".", turn->executions, " ");
      const auto run = [&](int) -> absl::StatusOr<timing::Sample> {
        // The last program fails once, on one of them.
        if (turn->program == 2 && rank == 1 && turns[rank].size() > 200) {
          return absl::InternalError("it fails");
        }
        const absl::Duration time = absl::Microseconds(
            std::uniform_int_distribution<int>(1000, 1200)(random));
        return timing::Sample{time, time};
      };
      const absl::Status status = rounds.Execute(
          run, [&](const auto& own) { return agreement.Agree(own); });
      if (!status.ok()) {
        EXPECT_THAT(status.message(), HasSubstr("on rank 1: it fails"));
        rounds.Abandon(turn->program);
      }
    }
    summaries[rank] = rounds.Summarize(0);
  });
  EXPECT_GT(turns[0].size(), 200U);
  EXPECT_THAT(turns, Each(turns[0]));
  for (const timing::Summary& summary : summaries) {
    EXPECT_EQ(summary.minimum, summaries[0].minimum);
  }
}

}  // namespace
}  // namespace meshwright::worker::runner
