#include "coordinator/ir/load/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace meshwright::ir {
namespace {

using testing::HasSubstr;

hlo::HloModuleProto Module(const std::string& name) {
  hlo::HloModuleProto module;
  module.set_name(name);
  module.add_computations()->set_name("entry");
  return module;
}

std::string ParseName(const std::string& bytes) {
  google::protobuf::Arena arena;
  const auto parsed = ParseInto(bytes, arena);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ((*parsed)->computations_size(), 1);
  return (*parsed)->name();
}

TEST(ParseIntoTest, TakesAModuleWithAndWithoutItsWrapper) {
  const hlo::HloModuleProto module = Module("step");
  hlo::HloProto wrapper;
  *wrapper.mutable_hlo_module() = module;
  EXPECT_EQ(ParseName(module.SerializeAsString()), "step");
  EXPECT_EQ(ParseName(wrapper.SerializeAsString()), "step");
}

TEST(ParseIntoTest, TakesAModuleWhoseNameReadsLikeAMessage) {
  // A field 3 that ends where the name does, but holds no computation.
  const std::string name = "\x1a\x02zz";
  EXPECT_EQ(ParseName(Module(name).SerializeAsString()), name);
}

TEST(ParseIntoTest, RefusesWhatIsNeither) {
  google::protobuf::Arena arena;
  EXPECT_THAT(ParseInto("", arena).status().message(), HasSubstr("empty"));
  EXPECT_THAT(ParseInto("\x0a\x05no", arena).status().message(),
              HasSubstr("no HLO module"));
}

TEST(ParseIntoTest, SaysWhoConvertsStableHlo) {
  google::protobuf::Arena arena;
  for (const char* const bytes : {"module @step {}", "ML\xefR\rStableHLO_v1"}) {
    EXPECT_THAT(ParseInto(bytes, arena).status().message(),
                HasSubstr("is an MLIR module"));
  }
}

}  // namespace
}  // namespace meshwright::ir
