#include "coordinator/jobs/device_digest.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <set>

namespace meshwright::jobs {
namespace {

using google::protobuf::FieldDescriptor;

// Sets one field to something other than it is.
void Change(const FieldDescriptor& field, v1::DeviceFingerprint& fingerprint) {
  const google::protobuf::Reflection& reflection = *fingerprint.GetReflection();
  if (field.is_repeated()) {
    reflection.AddString(&fingerprint, &field, "new");
    return;
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.SetString(
          &fingerprint, &field,
          reflection.GetString(fingerprint, &field) + "new");
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.SetInt32(&fingerprint, &field, 77);
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.SetInt64(&fingerprint, &field, 77);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.SetBool(&fingerprint, &field, true);
    default:
      FAIL() << "a field of a type that the test does not know: "
             << field.name();
  }
}

TEST(DeviceDigestTest, EveryFieldAloneChangesIt) {
  v1::DeviceFingerprint machine;
  machine.set_platform("cpu");
  machine.set_processor("CPU");
  machine.add_instruction_sets("avx2");
  std::set<std::string> digests = {DigestFingerprint(machine)};
  const auto& descriptor = *v1::DeviceFingerprint::descriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    v1::DeviceFingerprint other = machine;
    Change(*descriptor.field(i), other);
    EXPECT_TRUE(digests.insert(DigestFingerprint(other)).second)
        << descriptor.field(i)->name();
  }
}

TEST(DeviceDigestTest, EqualMachinesShare) {
  v1::DeviceFingerprint one;
  one.set_processor("CPU");
  v1::DeviceFingerprint other;
  other.set_processor("CPU");
  EXPECT_EQ(DigestFingerprint(one), DigestFingerprint(other));
}

TEST(DeviceDigestTest, AMachineThatSaysNothingIsUnknown) {
  EXPECT_EQ(DigestFingerprint({}), "");
}

}  // namespace
}  // namespace meshwright::jobs
