#include "base/json/read_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::base {

struct Leaf {
  int index = 0;
  int64_t count = 7;
  bool on = false;
  std::string name;
};

struct Tree {
  std::vector<Leaf> nodes;
  std::vector<std::optional<double>> weights;
  std::optional<int64_t> memory_limit_bytes;
};

void Describe(JsonFields& it, Leaf& leaf) {
  it.Required("type", leaf.index);
  it.Optional("repeat", leaf.count);
  it.Optional("tied", leaf.on);
  it.Optional("name", leaf.name);
}

void Describe(JsonFields& it, Tree& tree) {
  it.Required("nodes", tree.nodes);
  it.Optional("weights", tree.weights);
  it.Optional("memory_limit_bytes", tree.memory_limit_bytes);
  it.Optional("forbidden", [](const JsonValue& value) {
    if (!value.IsNull()) value.Fail("is given");
  });
}

namespace {

std::string Refusal(const char* text) {
  Tree tree;
  const absl::Status status = ReadJson(text, tree);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(status.message());
}

TEST(ReadJsonTest, ReadsStructsListsAndWhatIsOptional) {
  Tree tree;
  ASSERT_TRUE(ReadJson(R"({"nodes": [{"type": 1, "repeat": 3e2, "tied": true,
      "name": "x"}, {"type": 0, "repeat": null}], "weights": [1, null, 2.5],
      "memory_limit_bytes": 4.0, "forbidden": null})",
                       tree)
                  .ok());
  ASSERT_EQ(tree.nodes.size(), 2u);
  EXPECT_EQ(tree.nodes[0].index, 1);
  EXPECT_EQ(tree.nodes[0].count, 300);
  EXPECT_TRUE(tree.nodes[0].on);
  EXPECT_EQ(tree.nodes[0].name, "x");
  EXPECT_EQ(tree.nodes[1].count, 7);
  EXPECT_THAT(tree.weights, testing::ElementsAre(1, std::nullopt, 2.5));
  EXPECT_EQ(tree.memory_limit_bytes, 4);
}

TEST(ReadJsonTest, NamesThePlaceOfAFault) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "the document is array, not an object"},
      {"{}", "nodes is missing"},
      {R"({"nodes": 3})", "nodes is number, not a list"},
      {R"({"nodes": null})", "nodes is null, not a list"},
      {R"({"nodes": [{"type": 0}, 3]})", "nodes[1] is number, not an object"},
      {R"({"nodes": [{}]})", "nodes[0].type is missing"},
      {R"({"nodes": [{"type": -1}]})",
       "nodes[0].type is -1, which is no index"},
      {R"({"nodes": [{"type": 0, "repeat": 0.5}]})",
       "nodes[0].repeat is 0.5, not an integer of 63 bits"},
      {R"({"nodes": [{"type": 0, "repeat": 18446744073709551615}]})",
       "nodes[0].repeat is larger than 63 bits hold"},
      {R"({"nodes": [{"type": 0, "tied": "yes"}]})",
       "nodes[0].tied is string, not true or false"},
      {R"({"nodes": [{"type": 0, "name": 1}]})",
       "nodes[0].name is number, not a string"},
      {R"({"nodes": [], "weights": [0, [1]]})",
       "weights[1] is array, not a number"},
      {R"({"nodes": [], "forbidden": 1, "weights": 1})",
       "weights is number, not a list"},
      {R"({"nodes": [], "forbidden": 1})", "forbidden is given"},
  };
  for (const auto& [text, says] : cases) EXPECT_EQ(Refusal(text), says);
}

TEST(ReadJsonTest, WhatIsNearlyAFieldIsRefused) {
  for (const char* name :
       {"memory_limit", "memory_limit_byte", "memoryLimitBytes", "Weights",
        "forbiden", "forbidden_configs", "weigths"}) {
    const std::string text =
        std::string(R"({"nodes": [], ")") + name + "\": 1}";
    EXPECT_THAT(Refusal(text.c_str()),
                testing::StartsWith(std::string(name) +
                                    " is no field that is read; write "));
  }
  EXPECT_THAT(Refusal(R"({"nodes": [{"Type": 1}]})"),
              testing::StartsWith("nodes[0].Type is no field"));
  EXPECT_THAT(Refusal(R"({"node": []})"), testing::StartsWith("node is no"));
}

TEST(ReadJsonTest, NotesAreLeftAlone) {
  for (const char* text :
       {R"({"nodes": [], "comment": 2, "seed": 3, "version": 4, "tie": 5})",
        R"({"nodes": [], "node": 1, "nodes_note": 2})",
        R"({"nodes": [], "memory_limit_bytes": 1, "memory_limit": 2})"}) {
    Tree tree;
    EXPECT_TRUE(ReadJson(text, tree).ok()) << text;
  }
}

TEST(ReadJsonTest, OthersAreRefusedOnDemand) {
  const auto read = [](const JsonValue& value) {
    ReadJsonObject(value, [](JsonFields& it) {
      it.RefuseOthers();
      int64_t speed = 0;
      it.Optional("speed", speed);
    });
  };
  EXPECT_EQ(ReadJson(R"({"colour": 1})", read).message(),
            "colour is no field that is read; there are speed");
  EXPECT_TRUE(ReadJson(R"({"speed": 1})", read).ok());
}

TEST(ReadJsonTest, NamesMayBePutTogether) {
  const auto read = [](const JsonValue& value) {
    ReadJsonObject(value, [](JsonFields& it) {
      it.RefuseOthers();
      int64_t speed = 0;
      for (const std::string side : {"source", "destination"}) {
        it.Optional(side + "_bytes_per_second", speed);
      }
    });
  };
  EXPECT_EQ(ReadJson(R"({"colour": 1})", read).message(),
            "colour is no field that is read; there are "
            "source_bytes_per_second, destination_bytes_per_second");
}

TEST(ReadJsonTest, AValueReadApartBeginsItsOwnPath) {
  const absl::Status status =
      ReadJson(R"({"cases": [{"type": "x"}]})", [](const JsonValue& value) {
        ReadJsonObject(value, [](JsonFields& it) {
          it.Required("cases", [](const JsonValue& list) {
            list.ForEach([](const JsonValue& one) {
              const absl::Status apart =
                  ReadJsonApart(one, [](const JsonValue& value) {
                    Leaf leaf;
                    ReadJsonValue(value, leaf);
                  });
              EXPECT_EQ(apart.message(), "type is string, not an integer");
              EXPECT_FALSE(one.HasFailed());
            });
          });
        });
      });
  EXPECT_TRUE(status.ok());
}

}  // namespace
}  // namespace meshwright::base
