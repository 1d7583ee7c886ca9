#include "coordinator/ir/links/contraction_dims.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/load/load.h"

namespace meshwright::ir {
namespace {

struct Expected {
  DotRole role;
  std::optional<int> partner;
  std::optional<int> output;
  int64_t groups = 0;
};

void ExpectSide(const DotDims& dims, int side,
                const std::vector<Expected>& expected) {
  ASSERT_EQ(dims.side[side].size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const DotDims::Dim& dim = dims.side[side][i];
    EXPECT_EQ(dim.role, expected[i].role) << "side " << side << " dim " << i;
    EXPECT_EQ(dim.partner, expected[i].partner) << side << " dim " << i;
    EXPECT_EQ(dim.output, expected[i].output) << side << " dim " << i;
    EXPECT_EQ(dim.groups, expected[i].groups) << side << " dim " << i;
  }
}

DotDims ParseDims(const std::string& input, const std::string& kernel,
                  const std::string& output, const std::string& attributes) {
  const auto module = LoadModule(absl::StrCat(
      "HloModule m\nENTRY e {\n  x = ", input, " parameter(0)\n  w = ", kernel,
      " parameter(1)\n  ROOT y = ", output, " convolution(x, w), ", attributes,
      "\n}\n"));
  EXPECT_TRUE(module.ok()) << module.status();
  return GetContractionDims(*module, module->outputs[0]);
}

constexpr DotRole kBatch = DotRole::kBatch;
constexpr DotRole kContracting = DotRole::kContracting;
constexpr DotRole kFree = DotRole::kFree;
constexpr DotRole kSpatial = DotRole::kSpatial;

TEST(ConvDimsTest, AForwardConvolution) {
  const DotDims dims =
      ParseDims("f32[4,8,8,6]", "f32[3,3,6,10]", "f32[4,8,8,10]",
                "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f");
  ExpectSide(dims, 0,
             {{kFree, std::nullopt, 0},
              {kSpatial, 0, 1},
              {kSpatial, 1, 2},
              {kContracting, 2, std::nullopt}});
  ExpectSide(dims, 1,
             {{kSpatial, 1, 1},
              {kSpatial, 2, 2},
              {kContracting, 3, std::nullopt},
              {kFree, std::nullopt, 3}});
}

// The gradient of a kernel: input features are the batch, the batch contracts.
TEST(ConvDimsTest, TheLabelsDecideNotThePlaces) {
  const DotDims dims =
      ParseDims("f32[4,8,8,6]", "f32[4,8,8,10]", "f32[3,3,6,10]",
                "window={size=8x8 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf");
  ExpectSide(dims, 0,
             {{kContracting, 0, std::nullopt},
              {kSpatial, 1, 0},
              {kSpatial, 2, 1},
              {kFree, std::nullopt, 2}});
  ExpectSide(dims, 1,
             {{kContracting, 0, std::nullopt},
              {kSpatial, 1, 0},
              {kSpatial, 2, 1},
              {kFree, std::nullopt, 3}});
}

TEST(ConvDimsTest, FeatureGroupsAreABatchDimensionOfBothSides) {
  const DotDims dims =
      ParseDims("f32[4,8,6]", "f32[3,2,12]", "f32[4,8,12]",
                "window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, "
                "feature_group_count=3");
  ExpectSide(dims, 0,
             {{kFree, std::nullopt, 0}, {kSpatial, 0, 1}, {kBatch, 2, 2, 3}});
  ExpectSide(dims, 1,
             {{kSpatial, 1, 1},
              {kContracting, std::nullopt, std::nullopt},
              {kBatch, 2, 2, 3}});
}

TEST(ConvDimsTest, BatchGroupsLeaveTheBatchForTheFeatures) {
  const DotDims dims =
      ParseDims("f32[4,8,6]", "f32[4,8,12]", "f32[3,2,12]",
                "window={size=8 pad=1_1}, dim_labels=f0b_i0o->0bf, "
                "batch_group_count=3");
  ExpectSide(
      dims, 0,
      {{kContracting, 0, std::nullopt}, {kSpatial, 1, 0}, {kBatch, 2, 2, 3}});
  ExpectSide(
      dims, 1,
      {{kContracting, 0, std::nullopt}, {kSpatial, 1, 0}, {kBatch, 2, 2, 3}});
}

TEST(ConvDimsTest, ADotKeepsItsOwnRoles) {
  const auto module = LoadModule(
      "HloModule m\nENTRY e {\n  x = f32[4,6] parameter(0)\n"
      "  w = f32[6,8] parameter(1)\n  ROOT y = f32[4,8] dot(x, w), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  const DotDims dims = GetContractionDims(*module, module->outputs[0]);
  ExpectSide(dims, 0,
             {{kFree, std::nullopt, 0}, {kContracting, 0, std::nullopt}});
  ExpectSide(dims, 1,
             {{kContracting, 1, std::nullopt}, {kFree, std::nullopt, 1}});
}

}  // namespace
}  // namespace meshwright::ir
