#include "coordinator/ir/load/module_fingerprint.h"

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "base/fingerprint.h"
#include "coordinator/ir/load/load.h"

namespace meshwright::ir {
namespace {

hlo::HloModuleProto TinyStep() {
  return *ParseModule(*base::ReadFile("tests/testdata/llama_tiny.hlo.pb"));
}

// The fields that the schema here does not have.
google::protobuf::UnknownFieldSet& Foreign(google::protobuf::Message& message) {
  return *message.GetReflection()->MutableUnknownFields(&message);
}

// As a later process exports the step, below a new line of comment.
void ExportAgain(hlo::HloModuleProto& module) {
  module.set_id(module.id() + 7);
  Foreign(module).AddLengthDelimited(17, "stack frames");
  for (auto& computation : *module.mutable_computations()) {
    for (auto& it : *computation.mutable_instructions()) {
      hlo::OpMetadata& metadata = *it.mutable_metadata();
      metadata.set_source_line(metadata.source_line() + 1);
      Foreign(metadata).AddVarint(15, 3);
    }
  }
}

TEST(FingerprintModuleTest, IsOfTheModelAndNotOfItsExport) {
  hlo::HloModuleProto module = TinyStep();
  const std::string before = module.SerializeAsString();
  ExportAgain(module);
  const std::string again = module.SerializeAsString();
  EXPECT_NE(base::Sha256Hex(before), base::Sha256Hex(again));
  EXPECT_EQ(FingerprintModule(before), FingerprintModule(again));
  hlo::HloProto wrapper;
  *wrapper.mutable_hlo_module() = module;
  EXPECT_EQ(FingerprintModule(wrapper.SerializeAsString()),
            FingerprintModule(before));
}

TEST(FingerprintModuleTest, FrontendAttributesCountInNoOrder) {
  hlo::HloModuleProto module = TinyStep();
  const std::string none = FingerprintModule(module.SerializeAsString());
  hlo::FrontendAttributes attributes;
  for (const char* key : {"a", "b"}) attributes.add_map()->set_key(key);
  const auto fingerprint = [&] {
    const std::string bytes = attributes.SerializeAsString();
    Foreign(module).DeleteByNumber(19);
    Foreign(module).AddLengthDelimited(19, bytes);
    module.mutable_computations(0)
        ->mutable_instructions(0)
        ->set_frontend_attributes(bytes);
    return FingerprintModule(module.SerializeAsString());
  };
  EXPECT_EQ(fingerprint(), none);
  attributes.mutable_map()->SwapElements(0, 1);
  EXPECT_EQ(fingerprint(), none);
}

TEST(FingerprintModuleTest, AnotherModelHasAnother) {
  hlo::HloModuleProto module = TinyStep();
  const std::string before = FingerprintModule(module.SerializeAsString());
  module.mutable_computations(0)->mutable_instructions(0)->set_opcode("other");
  EXPECT_NE(FingerprintModule(module.SerializeAsString()), before);
}

TEST(FingerprintModuleTest, BytesThatAreNoModuleCountThemselves) {
  EXPECT_EQ(FingerprintModule("no module"), base::Sha256Hex("no module"));
}

}  // namespace
}  // namespace meshwright::ir
