// proto/v1 holds all that proto/v1/api.txtpb holds.
#include "tests/conformance/api_growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"

namespace meshwright::conformance {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kCommitted[] = "proto/v1/api.txtpb";
constexpr char kHead[] =
    "# The API as it was committed. Written by\n"
    "#   MESHWRIGHT_UPDATE_API=1 ctest --preset dev -R "
    "api_growth_conformance_test\n"
    "# which refuses what takes something away.\n";

// The output of protoc for proto/v1 in this build.
std::string BuiltApi() {
  const char* const build = std::getenv("MESHWRIGHT_BUILD_DIR");
  return std::string(build != nullptr ? build : "build/dev") +
         "/proto/v1/api.pb";
}

TEST(ApiGrowthTest, NothingOfTheApiWentAway) {
  const auto now = ReadApi(BuiltApi());
  ASSERT_TRUE(now.ok()) << now.status();
  const auto text = base::ReadFile(kCommitted);
  ASSERT_TRUE(text.ok()) << text.status();
  const auto committed = ParseApi(*text);
  ASSERT_TRUE(committed.ok()) << kCommitted << ": " << committed.status();
  ASSERT_GT(committed->file_size(), 5);
  ASSERT_THAT(FindShrunk(*committed, *now), IsEmpty());
  const std::string fresh = kHead + PrintApi(*now);
  if (std::getenv("MESHWRIGHT_UPDATE_API") != nullptr) {
    ASSERT_TRUE(base::WriteFile(kCommitted, fresh).ok());
    return;
  }
  EXPECT_TRUE(*text == fresh)
      << "proto/v1 has grown, and " << kCommitted
      << " does not have it yet; write it again as its head says";
}

TEST(ApiGrowthTest, WhatIsPrintedIsRead) {
  const auto now = ReadApi(BuiltApi());
  ASSERT_TRUE(now.ok());
  const auto again = ParseApi(PrintApi(*now));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->SerializeAsString(), now->SerializeAsString());
}

// message Plan {
//   reserved 9;
//   string name = 1;
//   repeated Node nodes = 2;
//   message Node { int32 size = 1; }
//   oneof answer { string error = 3; }
//   optional int64 limit = 5;
// }
// enum State { QUEUED = 0; DONE = 1; }
// service Plans { rpc Get(Plan) returns (stream Plan.Node); }
constexpr char kBefore[] = R"(file {
  package: "p"
  message_type {
    name: "Plan"
    field { name: "name" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
    field { name: "nodes" number: 2 label: LABEL_REPEATED type: TYPE_MESSAGE
            type_name: ".p.Plan.Node" }
    field { name: "error" number: 3 label: LABEL_OPTIONAL type: TYPE_STRING
            oneof_index: 0 }
    field { name: "limit" number: 5 label: LABEL_OPTIONAL type: TYPE_INT64
            oneof_index: 1 proto3_optional: true }
    nested_type {
      name: "Node"
      field { name: "size" number: 1 label: LABEL_OPTIONAL type: TYPE_INT32 }
    }
    oneof_decl { name: "answer" }
    oneof_decl { name: "_limit" }
    reserved_range { start: 9 end: 10 }
  }
  enum_type {
    name: "State"
    value { name: "QUEUED" number: 0 }
    value { name: "DONE" number: 1 }
  }
  service {
    name: "Plans"
    method { name: "Get" input_type: ".p.Plan" output_type: ".p.Plan.Node"
             server_streaming: true }
  }
})";

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;

std::vector<std::string> After(
    const std::function<void(FileDescriptorProto&)>& change) {
  const FileDescriptorSet before = *ParseApi(kBefore);
  FileDescriptorSet now = before;
  change(*now.mutable_file(0));
  return FindShrunk(before, now);
}

// Of message Plan.
std::vector<std::string> AfterInPlan(
    const std::function<void(DescriptorProto&)>& change) {
  return After([&](FileDescriptorProto& file) {
    change(*file.mutable_message_type(0));
  });
}

// Of its field with this index.
std::vector<std::string> AfterInField(
    int index, const std::function<void(FieldDescriptorProto&)>& change) {
  return AfterInPlan(
      [&](DescriptorProto& plan) { change(*plan.mutable_field(index)); });
}

void AddField(DescriptorProto& message, const char* name, int number) {
  FieldDescriptorProto& field = *message.add_field();
  field.set_name(name);
  field.set_number(number);
  field.set_type(FieldDescriptorProto::TYPE_BYTES);
}

TEST(ApiGrowthTest, GrowthIsNoFault) {
  EXPECT_THAT(After([](auto&) {}), IsEmpty());
  EXPECT_THAT(AfterInPlan([](auto& plan) { AddField(plan, "more", 6); }),
              IsEmpty());
  EXPECT_THAT(After([](auto& file) {
                auto& value = *file.mutable_enum_type(0)->add_value();
                value.set_name("FAILED");
                value.set_number(2);
              }),
              IsEmpty());
  EXPECT_THAT(After([](auto& file) {
                file.add_message_type()->set_name("New");
                auto& method = *file.mutable_service(0)->add_method();
                method.set_name("Put");
                method.set_input_type(".p.New");
                method.set_output_type(".p.New");
              }),
              IsEmpty());
}

TEST(ApiGrowthTest, ASentenceNamesWhatWentAway) {
  EXPECT_THAT(
      AfterInPlan([](auto& plan) {
        plan.mutable_field()->DeleteSubrange(0, 1);
        plan.add_reserved_range()->set_start(1);  // which does not excuse it
      }),
      ElementsAre(AllOf(HasSubstr("the field p.Plan.name (number 1) "),
                        HasSubstr("is gone"))));
  EXPECT_THAT(AfterInPlan([](auto& plan) {
                plan.mutable_nested_type(0)->clear_field();
              }),
              ElementsAre(HasSubstr("p.Plan.Node.size")));
  EXPECT_THAT(After([](auto& file) {
                file.mutable_enum_type(0)->mutable_value()->RemoveLast();
              }),
              ElementsAre(HasSubstr("the enum value p.State.DONE is gone")));
  EXPECT_THAT(
      After([](auto& file) { file.mutable_service(0)->clear_method(); }),
      ElementsAre(HasSubstr("the RPC p.Plans/Get is gone")));
  EXPECT_THAT(After([](auto& file) { file.clear_enum_type(); }),
              ElementsAre(HasSubstr("the enum p.State is gone")));
  EXPECT_THAT(After([](auto& file) { file.clear_service(); }),
              ElementsAre(HasSubstr("the service p.Plans is gone")));
  EXPECT_THAT(After([](auto& file) { file.clear_message_type(); }),
              ElementsAre(HasSubstr("the message p.Plan is gone"),
                          HasSubstr("the message p.Plan.Node is gone")));
}

TEST(ApiGrowthTest, ASentenceNamesWhatChanged) {
  EXPECT_THAT(AfterInField(0, [](auto& it) { it.set_number(7); }),
              ElementsAre(HasSubstr(
                  "the field p.Plan.name was number 1 and is number 7")));
  EXPECT_THAT(
      AfterInField(
          0, [](auto& it) { it.set_type(FieldDescriptorProto::TYPE_BYTES); }),
      ElementsAre(HasSubstr("p.Plan.name was string and is bytes")));
  EXPECT_THAT(AfterInField(0, [](auto& it) { it.set_name("title"); }),
              ElementsAre(HasSubstr("p.Plan number 1 was name and is title")));
  EXPECT_THAT(
      AfterInField(
          1,
          [](auto& it) { it.set_label(FieldDescriptorProto::LABEL_OPTIONAL); }),
      ElementsAre(HasSubstr("was repeated p.Plan.Node and is p.Plan.Node")));
  EXPECT_THAT(
      AfterInField(2, [](auto& it) { it.clear_oneof_index(); }),
      ElementsAre(HasSubstr("was string in oneof answer and is string")));
  EXPECT_THAT(AfterInField(3,
                           [](auto& it) {
                             it.clear_oneof_index();
                             it.clear_proto3_optional();
                           }),
              ElementsAre(HasSubstr("was optional int64 and is int64")));
  EXPECT_THAT(
      After([](auto& file) {
        file.mutable_enum_type(0)->mutable_value(1)->set_number(2);
      }),
      ElementsAre(HasSubstr("p.State.DONE was number 1 and is number 2")));
  EXPECT_THAT(
      After([](auto& file) {
        file.mutable_service(0)->mutable_method(0)->clear_server_streaming();
      }),
      ElementsAre(HasSubstr("p.Plan to stream p.Plan.Node")));
  EXPECT_THAT(AfterInPlan([](auto& plan) { AddField(plan, "x", 9); }),
              ElementsAre(HasSubstr("the field p.Plan.x takes the number 9")));
}

}  // namespace
}  // namespace meshwright::conformance
