// Whether an API only grew: two descriptor sets compared.
//
// Concept: proto/v1/api.txtpb is the API as it was committed. Programs of other
// versions and stored records speak it, so whatever it has stays. That is
// messages, fields with their numbers and types, enum values, and RPCs with
// their types. A number that is reserved stays free.
// Errors: kInvalidArgument for what is no descriptor set; those of
// base::ReadFile.
#ifndef MESHWRIGHT_TESTS_CONFORMANCE_API_GROWTH_H_
#define MESHWRIGHT_TESTS_CONFORMANCE_API_GROWTH_H_

#include <google/protobuf/descriptor.pb.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::conformance {

using google::protobuf::FileDescriptorSet;

// The descriptors that protoc wrote of .proto files.
absl::StatusOr<FileDescriptorSet> ReadApi(const std::string& path);

// Text form, a line for each field, value and RPC.
std::string PrintApi(const FileDescriptorSet& api);
absl::StatusOr<FileDescriptorSet> ParseApi(const std::string& text);

// One sentence for whatever `before` has and `now` has not, or has otherwise.
std::vector<std::string> FindShrunk(const FileDescriptorSet& before,
                                    const FileDescriptorSet& now);

}  // namespace meshwright::conformance

#endif  // MESHWRIGHT_TESTS_CONFORMANCE_API_GROWTH_H_
