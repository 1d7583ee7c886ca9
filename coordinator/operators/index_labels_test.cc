#include "coordinator/operators/index_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/operators/operator_groups.h"

namespace meshwright::operators {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A step without state: all of it is forward.
class IndexLabelsTest : public ::testing::Test {
 protected:
  void Read(const std::string& body) {
    auto module = ir::LoadModule(
        absl::StrCat("HloModule test\n",
                     "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                     " ROOT c = f32[] add(a, b)\n}\n",
                     "ENTRY main {\n", body, "\n}"));
    ASSERT_TRUE(module.ok()) << module.status();
    auto analysis = segmenter::Analyze(*std::move(module), {1, 2});
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    analysis_ = *std::move(analysis);
    for (const ir::ValueId id : analysis_.module.ids()) {
      ids_[analysis_.module.at(id).name()] = id;
    }
    found_ = FindOperators(analysis_);
  }

  std::optional<int> FindGroup(const std::string& name) const {
    return found_.operator_of[ids_.at(name)];
  }
  IndexLabels Label(const std::string& name) const {
    return LabelIndices(analysis_, found_.groups[*FindGroup(name)], {2});
  }

  segmenter::Analysis analysis_;
  std::map<std::string, ir::ValueId> ids_;
  OperatorGroups found_;
};

constexpr const char* kLayers = R"(
  x = f32[8,16] parameter(0)
  w = f32[16,32] parameter(1)
  bias = f32[32] parameter(2)
  v = f32[32,16] parameter(3)
  y = f32[8,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  wide = f32[8,32] broadcast(bias), dimensions={1}
  sum = f32[8,32] add(y, wide)
  active = f32[8,32] tanh(sum)
  z = f32[8,16] dot(active, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = f32[] constant(0)
  residual = f32[8,16] add(z, x)
  total = f32[8] reduce(residual, zero), dimensions={1}, to_apply=add
  spread = f32[8,16] broadcast(total), dimensions={0}
  out = f32[8,16] subtract(residual, spread)
  ROOT narrow = bf16[8,16] convert(out)
)";

TEST_F(IndexLabelsTest, TrivialOperationsJoinTheLatestContraction) {
  Read(kLayers);
  ASSERT_EQ(found_.groups.size(), 2u);
  EXPECT_EQ(FindGroup("active"), FindGroup("y"));
  EXPECT_EQ(FindGroup("residual"), FindGroup("z"));
  EXPECT_EQ(FindGroup("out"), FindGroup("z"));
  EXPECT_EQ(FindGroup("x"), std::nullopt);
  EXPECT_LT(FindGroup("y"), FindGroup("z"));
}

TEST_F(IndexLabelsTest, LinkedContractedAndReducedDimensionsAreOne) {
  Read(kLayers);
  const IndexLabels first = Label("y");
  ASSERT_EQ(first.divisible.size(), 3u);
  const DimIndices y = first.values.at(ids_["y"]);
  EXPECT_EQ(first.values.at(ids_["active"]), y);
  const int k = first.summed.at(ids_["y"])[0];
  EXPECT_THAT(first.readings.at({ids_["y"], 0}), ElementsAre(y[0], k));
  EXPECT_THAT(first.readings.at({ids_["y"], 1}), ElementsAre(k, y[1]));

  const IndexLabels second = Label("z");
  const DimIndices z = second.values.at(ids_["z"]);
  EXPECT_THAT(second.values.at(ids_["total"]), ElementsAre(z[0]));
  EXPECT_THAT(second.summed.at(ids_["total"]), ElementsAre(z[1]));
  EXPECT_EQ(second.values.at(ids_["out"]), z);
  EXPECT_EQ(second.readings.at({ids_["residual"], 1}), z);
}

TEST_F(IndexLabelsTest, WhatAnOperationNeedsWholeIsNoIndex) {
  Read(R"(
    x = f32[8,4,16] parameter(0)
    w = f32[16,32] parameter(1)
    y = f32[8,4,32] dot(x, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}
    ROOT flat = f32[32,32] reshape(y)
)");
  // 8 x 4 becomes 32: the four are no longer apart, the eight are.
  const IndexLabels labels = Label("y");
  const DimIndices y = labels.values.at(ids_["y"]);
  EXPECT_TRUE(y[0].has_value());
  EXPECT_EQ(y[1], std::nullopt);
  EXPECT_THAT(labels.values.at(ids_["flat"]), ElementsAre(y[0], y[2]));
}

TEST_F(IndexLabelsTest, ADimensionThatMeetsItselfIsNoIndex) {
  Read(R"(
    x = f32[8,8] parameter(0)
    w = f32[8,8] parameter(1)
    y = f32[8,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    turned = f32[8,8] transpose(y), dimensions={1,0}
    ROOT both = f32[8,8] add(y, turned)
)");
  const IndexLabels labels = Label("y");
  EXPECT_THAT(labels.values.at(ids_["y"]),
              ElementsAre(std::nullopt, std::nullopt));
  EXPECT_EQ(labels.summed.at(ids_["y"]).size(), 1u);
}

TEST_F(IndexLabelsTest, SizesThatNoAxisDividesAreNoIndex) {
  Read(R"(
    x = f32[9,16] parameter(0)
    w = f32[16,7] parameter(1)
    ROOT y = f32[9,7] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)");
  const IndexLabels labels = Label("y");
  EXPECT_THAT(labels.divisible, ElementsAre(16));
  EXPECT_THAT(labels.values.at(ids_["y"]),
              ElementsAre(std::nullopt, std::nullopt));
}

}  // namespace
}  // namespace meshwright::operators
