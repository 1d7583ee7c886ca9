#include "planner/reshard/decompose/decompose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "planner/reshard/testing/random_reshard.h"

namespace meshwright::reshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Resharding Table2(const char* from, const char* to,
                  std::vector<int64_t> source_mesh = {2, 4},
                  std::vector<int64_t> target_mesh = {2, 4}) {
  return {.shape = {1024, 1024, 512},
          .elem_bytes = 4,
          .source = {.mesh = source_mesh, .spec = *base::ParseSpec(from, "")},
          .target = {.mesh = target_mesh, .spec = *base::ParseSpec(to, "")}};
}

TEST(DecomposeTest, CountsTheTasksOfTable2) {
  const auto count = [](const Resharding& resharding) {
    return Decompose(resharding)->units.size();
  };
  EXPECT_EQ(count(Table2("S0RR", "S0RR")), 2);
  EXPECT_EQ(count(Table2("RRR", "S0RR")), 2);
  EXPECT_EQ(count(Table2("RS0R", "S0RR")), 4);
  EXPECT_EQ(count(Table2("RS01R", "S01RR")), 64);
  EXPECT_EQ(count(Table2("S1RR", "S0RR")), 4);
  EXPECT_EQ(count(Table2("S0RR", "S0RR", {2, 4}, {3, 4})), 4);
  EXPECT_EQ(count(Table2("S1RR", "RRR", {1, 4}, {2, 4})), 4);
  EXPECT_EQ(count(Table2("RRR", "RRR", {2, 3}, {3, 2})), 1);
  EXPECT_EQ(count(Table2("RS0R", "RRS0")), 4);
}

TEST(DecomposeTest, NamesHoldersAndReceivers) {
  const Units units = *Decompose(Table2("S1RR", "S0RR"));
  EXPECT_THAT(units.hosts, ElementsAre("s0", "s1", "d0", "d1"));
  // Quarter 0 is on column 0 of both rows, and goes to both... of row d0 only.
  EXPECT_THAT(units.units[0].senders, ElementsAre(0, 1));
  EXPECT_THAT(units.units[0].receivers, ElementsAre(2));
  EXPECT_THAT(units.source_tiles[units.units[0].source_tile],
              ElementsAre(0, 4));
  EXPECT_THAT(units.target_tiles[units.units[0].target_tile],
              ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(units.units[0].begin, ElementsAre(0, 0, 0));
  EXPECT_THAT(units.units[0].end, ElementsAre(256, 1024, 512));
  EXPECT_EQ(units.units[0].size_bytes, 256ll * 1024 * 512 * 4);
}

TEST(DecomposeTest, PartsThatDoNotDivideAreCutOff) {
  Resharding resharding{.shape = {5},
                        .elem_bytes = 2,
                        .source = {.mesh = {4}, .spec = {{0}}},
                        .target = {.mesh = {3}, .spec = {{0}}}};
  // Tiles of 2: [0,2) [2,4) [4,5) and none; of 2 again on three devices.
  const Units units = *Decompose(resharding);
  ASSERT_EQ(units.units.size(), 3);
  EXPECT_EQ(units.units[2].size_bytes, 2);
  EXPECT_EQ(units.source_tiles.size(), 3);
}

TEST(DecomposeTest, AHostOfBothMeshesSendsNothingToItself) {
  Resharding resharding{
      .shape = {4},
      .elem_bytes = 1,
      .source = {.mesh = {2, 1}, .spec = {{0}}, .hosts = {"a", "b"}},
      .target = {.mesh = {2, 1}, .spec = {{}}, .hosts = {"b", "c"}}};
  const Units units = *Decompose(resharding);
  EXPECT_THAT(units.hosts, ElementsAre("a", "b", "c"));
  ASSERT_EQ(units.units.size(), 2);
  EXPECT_THAT(units.units[0].receivers, ElementsAre(1, 2));
  EXPECT_THAT(units.units[1].senders, ElementsAre(1));
  EXPECT_THAT(units.units[1].receivers, ElementsAre(2));
  resharding.target.hosts = {"b", "b"};
  EXPECT_THAT(Decompose(resharding)->units[1].receivers, IsEmpty());
}

TEST(DecomposeTest, HostsMayHaveDifferentNumbersOfDevices) {
  Resharding resharding{
      .shape = {4},
      .elem_bytes = 1,
      .source = {.mesh = {4}, .spec = {{0}}, .hosts = {"a", "b", "b", "b"}},
      .target = {.mesh = {4}, .spec = {{}}}};
  const Units units = *Decompose(resharding);
  EXPECT_THAT(units.hosts, ElementsAre("a", "b", "d0"));
  EXPECT_THAT(units.units[0].senders, ElementsAre(0));
  EXPECT_THAT(units.units[3].senders, ElementsAre(1));
}

// The elements that each device holds, computed one by one.
std::vector<std::set<int64_t>> Elements(const std::vector<int64_t>& shape,
                                        const Side& side) {
  int64_t devices = 1, elements = 1;
  for (const int64_t size : side.mesh) devices *= size;
  for (const int64_t size : shape) elements *= size;
  std::vector<std::set<int64_t>> held(devices);
  for (int64_t device = 0; device < devices; ++device) {
    std::vector<int64_t> place(side.mesh.size());
    int64_t rest = device;
    for (size_t a = place.size(); a-- > 0; rest /= side.mesh[a]) {
      place[a] = rest % side.mesh[a];
    }
    for (int64_t element = 0; element < elements; ++element) {
      bool holds = true;
      int64_t left = element;
      for (size_t d = shape.size(); d-- > 0; left /= shape[d]) {
        int64_t parts = 1, part = 0;
        for (const int axis : side.spec[d]) {
          parts *= side.mesh[axis];
          part = part * side.mesh[axis] + place[axis];
        }
        const int64_t tile = (shape[d] + parts - 1) / parts;
        holds = holds && left % shape[d] / tile == part;
      }
      if (holds) held[device].insert(element);
    }
  }
  return held;
}

std::vector<int64_t> ListElements(const std::vector<int64_t>& shape,
                                  const Unit& unit) {
  std::vector<int64_t> all = {0};
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<int64_t> next;
    for (const int64_t base : all) {
      for (int64_t i = unit.begin[d]; i < unit.end[d]; ++i) {
        next.push_back(base * shape[d] + i);
      }
    }
    all = std::move(next);
  }
  return all;
}

std::string FindHost(const Side& side, const char* letter, int64_t device) {
  return side.hosts.empty() ? letter + std::to_string(device / side.mesh.back())
                            : side.hosts[device];
}

TEST(DecomposeTest, EveryDeviceGetsExactlyItsPartOnce) {
  int64_t units_seen = 0, local = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    const Resharding resharding = RandomResharding(seed);
    const auto units = Decompose(resharding);
    ASSERT_TRUE(units.ok()) << units.status();
    const auto has = Elements(resharding.shape, resharding.source);
    const auto needs = Elements(resharding.shape, resharding.target);
    std::vector<std::set<int64_t>> got(needs.size());
    std::set<std::pair<int, int>> pairs;
    for (const Unit& unit : units->units) {
      ++units_seen;
      const auto elements = ListElements(resharding.shape, unit);
      ASSERT_EQ(unit.size_bytes,
                static_cast<int64_t>(elements.size()) * resharding.elem_bytes);
      ASSERT_GT(elements.size(), 0);
      EXPECT_TRUE(pairs.emplace(unit.source_tile, unit.target_tile).second);
      std::set<std::string> senders, needing;
      for (const int device : units->source_tiles[unit.source_tile]) {
        for (const int64_t element : elements) {
          EXPECT_TRUE(has[device].contains(element));
        }
        senders.insert(FindHost(resharding.source, "s", device));
      }
      for (const int device : units->target_tiles[unit.target_tile]) {
        for (const int64_t element : elements) {
          EXPECT_TRUE(got[device].insert(element).second);
        }
        needing.insert(FindHost(resharding.target, "d", device));
      }
      std::set<std::string> named;
      for (const int host : unit.senders) named.insert(units->hosts[host]);
      EXPECT_EQ(named, senders);
      for (const std::string& host : senders) local += needing.erase(host);
      named.clear();
      for (const int host : unit.receivers) named.insert(units->hosts[host]);
      EXPECT_EQ(named, needing);
    }
    EXPECT_EQ(got, needs);
  }
  EXPECT_GT(units_seen, 5000);
  EXPECT_GT(local, 100);
}

TEST(DecomposeTest, RefusesListsOfHostsThatGrowBySquares) {
  const Side copies{.mesh = {16384, 1}, .spec = {{}}, .hosts = {}};
  const Side shards{.mesh = {16384, 1}, .spec = {{0}}, .hosts = {}};
  for (const auto& [source, target] :
       {std::pair(copies, shards), std::pair(shards, copies)}) {
    const auto units = Decompose({.shape = {16384},
                                  .elem_bytes = 4,
                                  .source = source,
                                  .target = target});
    EXPECT_EQ(units.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(units.status().message()),
                HasSubstr("shard or replicate it less finely"));
  }
  // Long names count in full.
  Side named{.mesh = {1024}, .spec = {{}}, .hosts = {}};
  for (int i = 0; i < 1024; ++i) {
    named.hosts.push_back(std::to_string(i) + std::string(1000, 'h'));
  }
  EXPECT_FALSE(Decompose({.shape = {1024},
                          .elem_bytes = 4,
                          .source = named,
                          .target = {.mesh = {1024}, .spec = {{0}}}})
                   .ok());
}

TEST(DecomposeTest, TakesALargeMeshOfReplicas) {
  const auto units =
      Decompose({.shape = {2048},
                 .elem_bytes = 4,
                 .source = {.mesh = {256, 8}, .spec = {{}}},
                 .target = {.mesh = {256, 8}, .spec = {{0, 1}}}});
  ASSERT_TRUE(units.ok()) << units.status();
  EXPECT_EQ(units->units.size(), 2048);
  EXPECT_EQ(units->units[0].senders.size(), 256);
}

TEST(DecomposeTest, RefusesWhatDoesNotFit) {
  const auto message = [](auto change) {
    Resharding resharding = Table2("RS01R", "S01RR");
    change(resharding);
    const auto units = Decompose(resharding);
    EXPECT_EQ(units.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(units.status().message());
  };
  EXPECT_THAT(message([](Resharding& r) {
                r.shape = {8, 8};
              }),
              HasSubstr("src_spec has 3 dimensions and shape has 2"));
  EXPECT_THAT(message([](Resharding& r) { r.shape[1] = 0; }),
              HasSubstr("shape[1] is 0"));
  EXPECT_THAT(message([](Resharding& r) { r.shape[0] = int64_t{1} << 60; }),
              HasSubstr("2^62 bytes"));
  EXPECT_THAT(message([](Resharding& r) { r.elem_bytes = 0; }),
              HasSubstr("elem_bytes is 0"));
  EXPECT_THAT(message([](Resharding& r) { r.target.mesh = {8}; }),
              HasSubstr("dst_spec names axis 1 and dst_mesh has 1 axes"));
  EXPECT_THAT(message([](Resharding& r) { r.source.mesh = {}; }),
              HasSubstr("src_mesh is empty"));
  EXPECT_THAT(message([](Resharding& r) { r.source.mesh = {1 << 20}; }),
              HasSubstr("src_mesh has more than"));
  EXPECT_THAT(message([](Resharding& r) { r.source.spec[0] = {0}; }),
              HasSubstr("src_spec names axis 0 twice"));
  EXPECT_THAT(message([](Resharding& r) { r.source.hosts = {"a"}; }),
              HasSubstr("src_hosts has 1 names"));
  EXPECT_THAT(message([](Resharding& r) {
                r.source = {.mesh = {512}, .spec = {{0}, {}, {}}};
                r.target = {.mesh = {1024}, .spec = {{}, {0}, {}}};
              }),
              HasSubstr("slices; shard it less finely"));
}

}  // namespace
}  // namespace meshwright::reshard
