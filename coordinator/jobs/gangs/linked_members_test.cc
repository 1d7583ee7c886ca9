#include "coordinator/jobs/gangs/linked_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace meshwright::jobs::gangs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<size_t> Choose(const std::vector<LinkEnds>& workers, size_t count) {
  std::vector<const LinkEnds*> candidates;
  for (const LinkEnds& it : workers) candidates.push_back(&it);
  return ChooseLinkedMembers(candidates, count);
}

TEST(LinkedMembersTest, WithoutLinksTheFirstOnes) {
  const std::vector<LinkEnds> workers = {{{"0"}, {}, {}}, {{"1"}, {}, {}}, {}};
  EXPECT_THAT(Choose(workers, 2), ElementsAre(0, 1));
  EXPECT_THAT(Choose(workers, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(Choose({}, 0), IsEmpty());
}

TEST(LinkedMembersTest, PairsOfABoxStayTogether) {
  const std::vector<LinkEnds> workers = {{{"0"}, {"2"}, {}},
                                         {{"1"}, {"3"}, {}},
                                         {{"2"}, {"0"}, {}},
                                         {{"3"}, {"1"}, {}}};
  EXPECT_THAT(Choose(workers, 2), ElementsAre(0, 2));
  // The partner of the first one is busy.
  EXPECT_THAT(Choose({workers[0], workers[1], workers[3]}, 2),
              ElementsAre(1, 2));
}

TEST(LinkedMembersTest, ASwitchJoinsAllThatHaveIt) {
  std::vector<LinkEnds> workers;
  for (const char* const fabric : {"a", "b", "a", "b", "b"}) {
    workers.push_back({{}, {}, {fabric}});
  }
  EXPECT_THAT(Choose(workers, 2), ElementsAre(0, 2));
  EXPECT_THAT(Choose(workers, 3), ElementsAre(1, 3, 4));
}

// Any set of joined groups, against all choices.
TEST(LinkedMembersTest, AsManyLinksAsAnyChoiceHas) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<LinkEnds> workers;
    for (int i = 0; i < 8; ++i) {
      workers.push_back({{}, {}, {std::to_string(random() % 4)}});
    }
    const size_t count = 2 + random() % 5;
    const auto count_links = [&](const std::vector<size_t>& members) {
      int links = 0;
      for (const size_t a : members) {
        for (const size_t b : members) {
          links += a < b && AreLinked(workers[a], workers[b]) ? 1 : 0;
        }
      }
      return links;
    };
    int most = 0;
    for (unsigned bits = 0; bits < 256; ++bits) {
      std::vector<size_t> members;
      for (size_t i = 0; i < 8; ++i) {
        if ((bits >> i & 1) != 0) members.push_back(i);
      }
      if (members.size() == count) most = std::max(most, count_links(members));
    }
    EXPECT_EQ(count_links(Choose(workers, count)), most) << round;
  }
}

}  // namespace
}  // namespace meshwright::jobs::gangs
