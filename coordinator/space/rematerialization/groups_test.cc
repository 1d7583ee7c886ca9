#include "coordinator/space/rematerialization/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/testing/build_space.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;
using segmenter::SegmentIndex;
using segmenter::SegmentSwitch;
using segmenter::SegmentTypeId;
using testing::IsEmpty;
using testing::Not;

Analysis Analyze(const std::string& name,
                 segmenter::StrategyRequest request = {}) {
  auto analysis = segmenter::AnalyzeSample(name, {1, 2}, std::move(request));
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  return *std::move(analysis);
}

// Recomputation open, and the first `count` configurations of every type that
// take it in groups too.
Analysis Grouped(const std::string& name, int count,
                 std::vector<SegmentSwitch> switches = {}) {
  segmenter::StrategyRequest request;
  request.switches = std::move(switches);
  request.switches.push_back(SegmentSwitch::kRecompute);
  const ProfileSpace space = BuildSpace(Analyze(name, request));
  for (const SegmentType& type : space.types) {
    int named = 0;
    for (const Configuration& it : type.configurations) {
      if (!it.recompute || named == count) continue;
      request.grouped.push_back(it.describe);
      ++named;
    }
  }
  return Analyze(name, request);
}

// The longest run of equal segments.
SegmentTypeId FindLayer(const Analysis& analysis) {
  SegmentTypeId layer;
  for (SegmentTypeId t; t < analysis.types.size(); ++t) {
    if (FindLongestRun(analysis, t) > FindLongestRun(analysis, layer))
      layer = t;
  }
  return layer;
}

class GroupsTest : public testing::TestWithParam<const char*> {};

TEST_P(GroupsTest, OneThatHandsOnNeedsOnlyWhatItsOwnRunGives) {
  const Analysis analysis = Analyze(GetParam());
  const SegmentIndex segment = analysis.types[FindLayer(analysis)];
  const SegmentGraph& graph = analysis.graphs[segment];
  const auto links = FindLinks(analysis, segment);
  ASSERT_THAT(links, Not(IsEmpty()));
  const Rematerialization alone =
      FindRematerializationInRole(analysis, graph, {});
  const Rematerialization inner =
      FindRematerializationInRole(analysis, graph, {true, true});
  for (const GroupLink& link : links) {
    EXPECT_TRUE(inner.recomputed[link.exit]);
    EXPECT_TRUE(inner.entrance[link.entry]);
    EXPECT_TRUE(inner.handed[link.entry]);
    EXPECT_FALSE(inner.reader[link.exit]);
  }
  for (size_t i = 0; i < graph.values.size(); ++i) {
    EXPECT_LE(alone.recomputed[i], inner.recomputed[i]);
    EXPECT_FALSE(alone.handed[i]);
    if (!inner.recomputed[i]) continue;
    EXPECT_FALSE(inner.reader[i]);
    for (int operand : graph.values[i].operands) {
      EXPECT_TRUE(inner.recomputed[operand] || inner.entrance[operand] ||
                  analysis.passes.recomputable[graph.values[operand].origin]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GroupsTest,
                         testing::Values("llama_4l", "gpt2_4l", "bert_4l",
                                         "moe_4l"),
                         [](const auto& info) { return info.param; });

TEST(GroupRolesTest, OnlyTheFirstOfAGroupKeepsWhatEnters) {
  const Analysis analysis = Grouped("llama_4l", 1000);
  const ProfileSpace space = BuildSpace(analysis);
  const auto& configurations = space.types[FindLayer(analysis)].configurations;
  std::map<int, const Configuration*> plain;
  std::map<int, const Configuration*> alone;
  std::set<std::string> names;
  int grouped = 0;
  for (const Configuration& it : configurations) {
    EXPECT_TRUE(names.insert(it.describe).second) << it.describe;
    if (!it.recompute) plain[it.splits] = &it;
    if (it.recompute && !it.role.InGroup()) alone[it.splits] = &it;
    if (!it.role.InGroup()) continue;
    ++grouped;
    ASSERT_TRUE(it.recompute);
    const Configuration& one = *alone.at(it.splits);
    EXPECT_EQ(it.saved_bytes, it.role.handed ? 0 : one.saved_bytes);
    EXPECT_EQ(it.persistent_bytes, one.persistent_bytes);
    // Bytes that a plain one keeps, it needs for a while, entrances included.
    EXPECT_EQ(it.rematerialized_bytes, plain.at(it.splits)->saved_bytes)
        << it.describe;
    // The last of a group is computed as one alone is, the others alike.
    const std::string& key = space.programs[*it.program].key();
    EXPECT_EQ(key == space.programs[*one.program].key(), !it.role.hands_on);
  }
  EXPECT_EQ(grouped, 3 * static_cast<int>(plain.size()));
}

TEST(GroupRolesTest, AreThereForWhatIsNamedAlone) {
  const Analysis few = Grouped("llama_4l", 1, {SegmentSwitch::kFullySharded});
  const ProfileSpace space = BuildSpace(few);
  const auto& configurations = space.types[FindLayer(few)].configurations;
  int grouped = 0;
  for (size_t c = 0; c < configurations.size(); ++c) {
    grouped += configurations[c].role.InGroup();
    EXPECT_EQ(configurations[c].role.InGroup(), c + 3 >= configurations.size());
  }
  EXPECT_EQ(grouped, 3);
}

// Two layers are no run; neither is what shares a tensor with all others.
TEST(GroupRolesTest, NeedARunOfThree) {
  for (const char* model : {"llama_2l", "t5_tiny", "unet_tiny", "scan_tiny"}) {
    const Analysis analysis = Grouped(model, 1000);
    for (const SegmentType& type : BuildSpace(analysis).types) {
      for (const Configuration& it : type.configurations) {
        EXPECT_FALSE(it.role.InGroup()) << model << ": " << it.describe;
      }
    }
  }
}

TEST(GroupRolesTest, UnknownNamesAndForbiddenRecomputationGiveNone) {
  segmenter::StrategyRequest request;
  request.switches = {SegmentSwitch::kRecompute};
  request.grouped = {"no such; recompute"};
  const ProfileSpace unknown = BuildSpace(Analyze("llama_4l", request));
  request = Analyze("llama_4l", request).request;
  request.grouped = Grouped("llama_4l", 1000).request.grouped;
  request.blocks = {{"all", {"recompute"}, true}};
  const ProfileSpace forbidden = BuildSpace(Analyze("llama_4l", request));
  for (const ProfileSpace* space : {&unknown, &forbidden}) {
    for (const SegmentType& type : space->types) {
      for (const Configuration& it : type.configurations) {
        EXPECT_FALSE(it.role.InGroup()) << it.describe;
      }
    }
  }
}

}  // namespace
}  // namespace meshwright::space
