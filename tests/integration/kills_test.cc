// kill -9 at every step of a task's life: nothing that was acknowledged is lost
// or done twice. A file's store has one coordinator, PostgreSQL's three.
//
//   build/release/bin/integration_kills_test [--kills N] [--seed S]
//       --gtest_filter=*OneCoordinator   or *ThreeCoordinators
//
// Without arguments 50 and 8 kills, as ctest runs it, in about two minutes: a
// takeover takes seven seconds.
// The seed of a fault is printed with it: --kills 50 --seed THAT plays its
// round again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "profiledb/postgres/testing/postgres_server.h"
#include "tests/integration/kill_round.h"

namespace meshwright::integration {
namespace {

constexpr int kKillsOfARound = 50;  // then a new store
// So many meet each failpoint.
constexpr int kKillsAtEveryPoint = 20 * kKillsOfARound;

int asked_kills = 0;  // 0: what ctest runs
uint64_t first_seed = 1;

// `database`: null for stores that are files.
void KillInRounds(int wanted_kills, postgres::PostgresServer* database) {
  KillRound::Tally tally;
  for (int done = 0; done < wanted_kills; done += kKillsOfARound) {
    const uint64_t seed = first_seed + done / kKillsOfARound;
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const std::string folder =
        absl::StrCat(testing::TempDir(), "/kills.", getpid());
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const int round = std::min(kKillsOfARound, wanted_kills - done);
    KillRound(folder, database == nullptr ? "" : database->NewStoreUrl(), seed)
        .Run(round, tally);
    if (testing::Test::HasFailure()) {
      std::printf(
          "fault: again with --gtest_filter=*%sCoordinator* --kills %d --seed "
          "%s; what is left stands in %s\n",
          database == nullptr ? "One" : "Three", round,
          absl::StrCat(seed).c_str(), folder.c_str());
      return;
    }
    std::filesystem::remove_all(folder);
  }
  int kills = 0;
  for (const auto& [point, of_it] : tally.kills) kills += of_it;
  std::printf(
      "%d kills, seed %d: %d plans (%d cancelled, %d that lost a program with "
      "its workers), %d updates read, %d rows committed, %d measured, %d "
      "acknowledged, %d runners killed beside these; %d of the kills were of "
      "leaders\n",
      kills, static_cast<int>(first_seed), static_cast<int>(tally.plans),
      static_cast<int>(tally.cancelled), static_cast<int>(tally.lost_programs),
      static_cast<int>(tally.updates), static_cast<int>(tally.rows),
      static_cast<int>(tally.measured), static_cast<int>(tally.acknowledged),
      static_cast<int>(tally.runner_kills),
      static_cast<int>(tally.leader_kills));
  if (wanted_kills >= kKillsOfARound) {
    EXPECT_GT(tally.runner_kills, 0);
    EXPECT_GT(tally.acknowledged, 0);
    // Nothing is said of the plans that lost a program: they are few.
    EXPECT_LE(tally.lost_programs, std::max<int64_t>(3, tally.plans / 4));
  }
  for (const auto& [point, of_it] : tally.kills) {
    std::printf("%6d at %s\n", of_it, point.c_str());
    if (wanted_kills >= kKillsAtEveryPoint) {
      EXPECT_GT(of_it, 0) << point;
    }
  }
}

TEST(KillsTest, NothingIsLostOrDoneTwiceWithOneCoordinator) {
  KillInRounds(asked_kills > 0 ? asked_kills : 50, nullptr);
}

TEST(KillsTest, NothingIsLostOrDoneTwiceWithThreeCoordinators) {
  auto server = postgres::PostgresServer::Start({});
  if (absl::IsNotFound(server.status())) {
    GTEST_SKIP() << "PostgreSQL's server is not installed";
  }
  ASSERT_TRUE(server.ok()) << server.status();
  KillInRounds(asked_kills > 0 ? asked_kills : 8, server->get());
}

}  // namespace
}  // namespace meshwright::integration

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--kills") == 0) {
      meshwright::integration::asked_kills = std::atoi(argv[i + 1]);
    }
    if (std::strcmp(argv[i], "--seed") == 0) {
      meshwright::integration::first_seed =
          std::strtoull(argv[i + 1], nullptr, 10);
    }
  }
  return RUN_ALL_TESTS();
}
