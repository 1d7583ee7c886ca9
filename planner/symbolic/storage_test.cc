#include "planner/symbolic/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/symbolic/testing/random_graph.h"

namespace meshwright::symbolic {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StorageTest : public ::testing::Test {
 protected:
  int Add(Storage storage, std::initializer_list<int> operands,
          bool fusible = false, bool absorbs = false) {
    const int index = AddOperation(graph_, storage, 16, operands);
    graph_.operations[index].fusible = fusible;
    graph_.operations[index].absorbs = absorbs;
    return index;
  }

  OpGraph graph_;
};

TEST_F(StorageTest, WhatAllReadersAbsorbIsNotStored) {
  const int x = Add(Storage::kArgument, {});
  const int doubled = Add(Storage::kOwn, {x}, true, true);
  const int left = Add(Storage::kOwn, {doubled}, false, true);
  const int right = Add(Storage::kOwn, {doubled, x}, false, true);
  StorageMap map = MapStorage(graph_);
  EXPECT_FALSE(map.stored[doubled]);
  EXPECT_THAT(map.sources[left], ElementsAre(Read{x, 16}));
  EXPECT_EQ(CountTraffic(graph_, map, doubled), 0);
  EXPECT_EQ(CountTraffic(graph_, map, right), 32);

  graph_.operations[right].absorbs = false;
  map = MapStorage(graph_);
  EXPECT_TRUE(map.stored[doubled]);
  EXPECT_THAT(map.sources[left], ElementsAre(Read{doubled, 16}));
}

TEST_F(StorageTest, WhatIsReadTwiceIsReadOnceAsFarAsTheFurtherReads) {
  const int x = Add(Storage::kArgument, {});
  const int part = Add(Storage::kOwn, {x}, true, true);
  graph_.operations[part].reads[0].bytes = 4;
  const int sum = Add(Storage::kOwn, {x, part}, false, true);
  EXPECT_THAT(MapStorage(graph_).sources[sum], ElementsAre(Read{x, 16}));
}

TEST_F(StorageTest, AnOutputIsStored) {
  const int x = Add(Storage::kArgument, {});
  const int y = Add(Storage::kOwn, {x}, true, true);
  Add(Storage::kOwn, {y}, false, true);
  graph_.outputs = {{y, {}}};
  EXPECT_TRUE(MapStorage(graph_).stored[y]);
}

TEST_F(StorageTest, AFunctionWithTwoReadersIsComputedOnce) {
  const int x = Add(Storage::kArgument, {});
  const int exp = Add(Storage::kOwn, {x}, true, true);
  Add(Storage::kOwn, {exp}, false, true);
  graph_.operations[exp].counts.transcendentals = 4;
  graph_.operations.back().reads.push_back({exp, 16});  // twice by one reader
  EXPECT_FALSE(MapStorage(graph_).stored[exp]);
  const int shown = Add(Storage::kView, {exp}, false, true);
  Add(Storage::kOwn, {shown}, false, true);
  EXPECT_TRUE(MapStorage(graph_).stored[exp]);
}

TEST_F(StorageTest, AViewIsWhereItsOperandIs) {
  const int x = Add(Storage::kArgument, {});
  const int stored = Add(Storage::kOwn, {x});
  const int view = Add(Storage::kView, {stored});
  const int view_of_view = Add(Storage::kView, {view});
  const int reader = Add(Storage::kOwn, {view_of_view});
  const StorageMap map = MapStorage(graph_);
  EXPECT_EQ(map.root[view_of_view], stored);
  EXPECT_THAT(map.sources[reader], ElementsAre(Read{stored, 16}));
  EXPECT_THAT(Readers(graph_, map)[stored],
              ElementsAre(view, view_of_view, reader));
}

TEST_F(StorageTest, AViewOfWhatIsNotStoredReadsItsSources) {
  const int x = Add(Storage::kArgument, {});
  const int sum = Add(Storage::kOwn, {x}, true, true);
  const int view = Add(Storage::kView, {sum}, false, true);
  const int reader = Add(Storage::kOwn, {view}, false, true);
  StorageMap map = MapStorage(graph_);
  EXPECT_FALSE(map.stored[view]);
  EXPECT_THAT(map.sources[reader], ElementsAre(Read{x, 16}));
  // A value that enters a loop is there before it.
  graph_.operations[view].absorbs = false;
  map = MapStorage(graph_);
  EXPECT_TRUE(map.stored[view]);
  EXPECT_THAT(map.sources[reader], ElementsAre(Read{sum, 16}));
}

TEST_F(StorageTest, AChainThatReachesTooFarIsStored) {
  int sum = Add(Storage::kArgument, {});
  for (int i = 0; i < 200; ++i) {
    const int x = Add(Storage::kArgument, {});
    sum = Add(Storage::kOwn, {sum, x}, true, true);
  }
  const StorageMap map = MapStorage(graph_);
  int stored = 0;
  for (size_t i = 0; i < graph_.operations.size(); ++i) {
    EXPECT_LE(map.sources[i].size(), 66u);
    stored += graph_.operations[i].storage == Storage::kOwn && map.stored[i];
  }
  EXPECT_GT(stored, 1);
  EXPECT_LT(stored, 8);
}

TEST(StorageRandomTest, SourcesAreStoredAndReachedFromOperands) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const OpGraph graph = RandomGraph(seed, 24);
    ASSERT_TRUE(Validate(graph).ok());
    const StorageMap map = MapStorage(graph);
    for (int i = 0; i < 24; ++i) {
      for (const Read& read : map.sources[i]) {
        ASSERT_TRUE(map.stored[read.value]);
        ASSERT_EQ(map.root[read.value], read.value);
        ASSERT_LT(read.value, i);
      }
      if (graph.operations[i].reads.empty()) {
        ASSERT_THAT(map.sources[i], IsEmpty());
      }
    }
  }
}

}  // namespace
}  // namespace meshwright::symbolic
