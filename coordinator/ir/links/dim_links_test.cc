#include "coordinator/ir/links/dim_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/ir/text/hlo_text.h"

namespace meshwright::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A module of these lines of an entry computation.
absl::StatusOr<Module> Lines(const std::string& lines) {
  auto proto =
      ParseHloText(absl::StrCat("HloModule m\nENTRY e {\n", lines, "\n}\n"));
  if (!proto.ok()) return proto.status();
  return BuildModule(*std::move(proto));
}

TEST(ReshapeLinksTest, MergingKeepsTheOutermost) {
  EXPECT_THAT(FindReshapeLinks({8, 64, 256}, {512, 256}),
              ElementsAre(DimLink{0, 0}, DimLink{2, 1}));
}

TEST(ReshapeLinksTest, SplittingKeepsTheOutermost) {
  EXPECT_THAT(FindReshapeLinks({8, 64, 256}, {8, 64, 8, 32}),
              ElementsAre(DimLink{0, 0}, DimLink{1, 1}, DimLink{2, 2}));
}

TEST(ReshapeLinksTest, UnitDimensionsAreSkipped) {
  EXPECT_THAT(FindReshapeLinks({1, 8, 1, 64}, {8, 64, 1}),
              ElementsAre(DimLink{1, 0}, DimLink{3, 1}));
  EXPECT_THAT(FindReshapeLinks({1, 1}, {}), IsEmpty());
}

TEST(ReshapeLinksTest, CrossingGroupsLinkTheirHeadsOnly) {
  EXPECT_THAT(FindReshapeLinks({6, 4}, {8, 3}), ElementsAre(DimLink{0, 0}));
}

TEST(BitcastLinksTest, ThePartsOfAnElementDoNotLink) {
  const auto narrow = Lines(
      "p = f32[4,6] parameter(0)\n"
      "ROOT r = u8[4,6,4] bitcast-convert(p)");
  ASSERT_TRUE(narrow.ok()) << narrow.status();
  EXPECT_THAT(FindDimLinks(*narrow, narrow->root, 0),
              ElementsAre(DimLink{0, 0}, DimLink{1, 1}));
  const auto wide = Lines(
      "p = s4[4,6,2] parameter(0)\n"
      "ROOT r = u8[4,6] bitcast-convert(p)");
  ASSERT_TRUE(wide.ok()) << wide.status();
  EXPECT_THAT(FindDimLinks(*wide, wide->root, 0),
              ElementsAre(DimLink{0, 0}, DimLink{1, 1}));
}

TEST(BitcastLinksTest, ALayoutIsRefused) {
  const auto module = Lines(
      "p = f32[4,6]{0,1} parameter(0)\n"
      "ROOT turned = f32[6,4]{1,0} bitcast(p)");
  EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(module.status().message(), HasSubstr("turned"));
}

std::string Convolution(const std::string& kernel, const std::string& window,
                        int groups) {
  return absl::StrCat(
      "x = f32[2,8,8,4] parameter(0)\nk = ", kernel,
      " parameter(1)\nROOT r = f32[2,8,8,8] convolution(x, k), ", window,
      "dim_labels=b01f_01io->b01f",
      groups > 1 ? absl::StrCat(", feature_group_count=", groups) : "");
}

TEST(ContractionTest, DepthwiseConvolutionsContractTheirWindow) {
  const auto plain =
      Lines(Convolution("f32[1,1,4,8]", "window={size=1x1}, ", 1));
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_TRUE(IsContraction(*plain, plain->root));
  EXPECT_THAT(FindContractedDims(*plain, plain->root),
              ElementsAre(ContractedPair{3, 2}));

  const auto depthwise =
      Lines(Convolution("f32[3,3,1,8]", "window={size=3x3 pad=1_1x1_1}, ", 4));
  ASSERT_TRUE(depthwise.ok()) << depthwise.status();
  EXPECT_TRUE(IsContraction(*depthwise, depthwise->root));
  EXPECT_THAT(FindContractedDims(*depthwise, depthwise->root), IsEmpty());
  EXPECT_THAT(FindDimLinks(*depthwise, depthwise->root, 0),
              ElementsAre(DimLink{0, 0}, DimLink{3, 3, 4}));
  EXPECT_THAT(FindDimLinks(*depthwise, depthwise->root, 1),
              ElementsAre(DimLink{3, 3, 4}));

  const auto scale =
      Lines(Convolution("f32[1,1,1,8]", "window={size=1x1}, ", 4));
  ASSERT_TRUE(scale.ok()) << scale.status();
  EXPECT_FALSE(IsContraction(*scale, scale->root));
}

TEST(ContractionTest, GroupsThatDoNotFitAreRefused) {
  const auto module =
      Lines(Convolution("f32[1,1,2,8]", "window={size=1x1}, ", 4));
  EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(OpRulesTableTest, NamesAreSortedAndReasonsGiven) {
  for (size_t i = 1; i < OpRules().size(); ++i) {
    EXPECT_LT(OpRules()[i - 1].name, OpRules()[i].name);
  }
  EXPECT_EQ(ParseOpcode("frobnicate"), Opcode::kUnknown);
  EXPECT_EQ(FindRule("frobnicate"), FindRule("custom-call"));
}

}  // namespace
}  // namespace meshwright::ir
