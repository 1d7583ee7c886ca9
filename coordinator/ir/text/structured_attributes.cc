#include "coordinator/ir/text/structured_attributes.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/ir/text/field_text.h"

namespace meshwright::ir {
namespace {

// Calls read(dimension) for each of the parts of "1x2x3".
template <typename Read>
absl::Status ByDimension(TextCursor& value, Read read) {
  int dimension = 0;
  do {
    RETURN_IF_ERROR(read(dimension++));
  } while (value.Consume('x'));
  return absl::OkStatus();
}

hlo::WindowDimension* WindowDimensionAt(hlo::Window& window, int index) {
  while (window.dimensions_size() <= index) {
    auto& added = *window.add_dimensions();
    added.set_stride(1);
    added.set_window_dilation(1);
    added.set_base_dilation(1);
  }
  return window.mutable_dimensions(index);
}

absl::Status ReadWindowField(std::string_view key, TextCursor& value,
                             hlo::Window& window) {
  return ByDimension(value, [&](int index) -> absl::Status {
    hlo::WindowDimension& dimension = *WindowDimensionAt(window, index);
    ASSIGN_OR_RETURN(const int64_t number, value.Integer());
    if (key == "size") {
      dimension.set_size(number);
    } else if (key == "stride") {
      dimension.set_stride(number);
    } else if (key == "lhs_dilate") {
      dimension.set_base_dilation(number);
    } else if (key == "rhs_dilate") {
      dimension.set_window_dilation(number);
    } else if (key == "rhs_reversal") {
      dimension.set_window_reversal(number != 0);
    } else if (key == "pad") {
      dimension.set_padding_low(number);
      RETURN_IF_ERROR(value.Expect('_'));
      ASSIGN_OR_RETURN(const int64_t high, value.Integer());
      dimension.set_padding_high(high);
    } else {
      return value.Error(
          absl::StrCat("a window has no '", std::string(key), "'"));
    }
    return absl::OkStatus();
  });
}

// One side of dim_labels: `first` and `second` are its two named dimensions.
absl::Status ReadSide(TextCursor& value, char first, char second,
                      int64_t& first_dim, int64_t& second_dim,
                      google::protobuf::RepeatedField<int64_t>& spatial) {
  const TextCursor start = value;
  std::optional<int64_t> named_first;
  std::optional<int64_t> named_second;
  std::array<std::optional<int64_t>, 10> spatial_dims;
  int64_t dim = 0;
  int spatial_count = 0;
  for (; absl::ascii_isalnum(value.Here()) || value.Here() == '?'; ++dim) {
    const char c = value.Here();
    auto* const place = c == first    ? &named_first
                        : c == second ? &named_second
                        : absl::ascii_isdigit(c)
                            ? &spatial_dims[static_cast<size_t>(c - '0')]
                            : nullptr;
    if (place == nullptr || place->has_value()) {
      return start.Error("the dimension labels of a convolution are unknown");
    }
    *place = dim;
    spatial_count += absl::ascii_isdigit(c);
    (void)value.Consume(c);
  }
  for (int i = 0; i < spatial_count; ++i) {
    if (!spatial_dims[i].has_value()) {
      return start.Error("the dimension labels of a convolution skip one");
    }
    spatial.Add(*spatial_dims[i]);
  }
  if (!named_first.has_value() || !named_second.has_value()) {
    return start.Error("the dimension labels of a convolution miss one");
  }
  first_dim = *named_first;
  second_dim = *named_second;
  return absl::OkStatus();
}

// [2,2]<=[4] or [2,2]<=[2,2]T(1,0)
absl::Status ReadIotaGroups(TextCursor& value,
                            hlo::IotaReplicaGroupListProto& groups) {
  google::protobuf::RepeatedField<int64_t> shape;
  google::protobuf::RepeatedField<int64_t> transpose;
  RETURN_IF_ERROR(ReadNumbers(value, shape, '[', ']'));
  if (shape.size() != 2 || !value.Consume("<=")) {
    return value.Error("replica groups are [groups,devices]<=[...]");
  }
  groups.set_num_replica_groups(shape[0]);
  groups.set_num_devices_per_group(shape[1]);
  RETURN_IF_ERROR(
      ReadNumbers(value, *groups.mutable_iota_reshape_dims(), '[', ']'));
  const int rank = groups.iota_reshape_dims_size();
  if (value.Consume('T')) {
    RETURN_IF_ERROR(ReadNumbers(value, transpose, '(', ')'));
    if (transpose.size() != rank) {
      return value.Error("replica groups are transposed with another rank");
    }
  } else {
    for (int i = 0; i < rank; ++i) transpose.Add(i);
  }
  for (int64_t dim : transpose) {
    if (dim < 0 || dim >= rank) {
      return value.Error("replica groups are transposed out of range");
    }
    groups.add_iota_transpose_perm(static_cast<int32_t>(dim));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadWindow(TextCursor& value, hlo::HloInstructionProto& it) {
  RETURN_IF_ERROR(value.Expect('{'));
  hlo::Window& window = *it.mutable_window();
  while (!value.Consume('}')) {
    const std::string_view key = value.Name();
    RETURN_IF_ERROR(value.Expect('='));
    RETURN_IF_ERROR(ReadWindowField(key, value, window));
  }
  return absl::OkStatus();
}

absl::Status ReadDimLabels(TextCursor& value, hlo::HloInstructionProto& it) {
  auto& labels = *it.mutable_convolution_dimension_numbers();
  int64_t first = 0;
  int64_t second = 0;
  value.SkipSpace();
  RETURN_IF_ERROR(ReadSide(value, 'b', 'f', first, second,
                           *labels.mutable_input_spatial_dimensions()));
  labels.set_input_batch_dimension(first);
  labels.set_input_feature_dimension(second);
  RETURN_IF_ERROR(value.Expect('_'));
  RETURN_IF_ERROR(ReadSide(value, 'i', 'o', first, second,
                           *labels.mutable_kernel_spatial_dimensions()));
  labels.set_kernel_input_feature_dimension(first);
  labels.set_kernel_output_feature_dimension(second);
  if (!value.Consume("->")) return value.Error("expected '->'");
  RETURN_IF_ERROR(ReadSide(value, 'b', 'f', first, second,
                           *labels.mutable_output_spatial_dimensions()));
  labels.set_output_batch_dimension(first);
  labels.set_output_feature_dimension(second);
  return absl::OkStatus();
}

absl::Status ReadPadding(TextCursor& value, hlo::HloInstructionProto& it) {
  hlo::PaddingConfig& config = *it.mutable_padding_config();
  if (value.AtEnd()) return absl::OkStatus();
  return ByDimension(value, [&](int) -> absl::Status {
    auto& dimension = *config.add_dimensions();
    ASSIGN_OR_RETURN(const int64_t low, value.Integer());
    RETURN_IF_ERROR(value.Expect('_'));
    ASSIGN_OR_RETURN(const int64_t high, value.Integer());
    dimension.set_edge_padding_low(low);
    dimension.set_edge_padding_high(high);
    if (value.Consume('_')) {
      ASSIGN_OR_RETURN(const int64_t interior, value.Integer());
      dimension.set_interior_padding(interior);
    }
    return absl::OkStatus();
  });
}

absl::Status ReadSlice(TextCursor& value, hlo::HloInstructionProto& it) {
  return value.ReadList('{', '}', [&]() -> absl::Status {
    auto& dimension = *it.add_slice_dimensions();
    RETURN_IF_ERROR(value.Expect('['));
    ASSIGN_OR_RETURN(const int64_t start, value.Integer());
    RETURN_IF_ERROR(value.Expect(':'));
    ASSIGN_OR_RETURN(const int64_t limit, value.Integer());
    dimension.set_start(start);
    dimension.set_limit(limit);
    dimension.set_stride(1);
    if (value.Consume(':')) {
      ASSIGN_OR_RETURN(const int64_t stride, value.Integer());
      dimension.set_stride(stride);
    }
    return value.Expect(']');
  });
}

absl::Status ReadReplicaGroups(TextCursor& value,
                               hlo::HloInstructionProto& it) {
  hlo::CollectiveDeviceListProto& list = *it.mutable_collective_device_list();
  if (value.Peek() == '[') {
    return ReadIotaGroups(value, *list.mutable_iota_replica_group_list());
  }
  return value.ReadList('{', '}', [&] {
    return ReadNumbers(value,
                       *list.add_replica_groups()->mutable_replica_ids());
  });
}

absl::Status ReadSourceTargetPairs(TextCursor& value,
                                   hlo::HloInstructionProto& it) {
  return value.ReadList('{', '}', [&]() -> absl::Status {
    google::protobuf::RepeatedField<int64_t> pair;
    RETURN_IF_ERROR(ReadNumbers(value, pair));
    if (pair.size() != 2) return value.Error("expected {source,target}");
    auto& added = *it.add_source_target_pairs();
    added.set_source(pair[0]);
    added.set_target(pair[1]);
    return absl::OkStatus();
  });
}

absl::Status ReadMetadata(TextCursor& value, hlo::HloInstructionProto& it) {
  hlo::OpMetadata& metadata = *it.mutable_metadata();
  RETURN_IF_ERROR(value.Expect('{'));
  while (!value.Consume('}')) {
    const std::string_view key = value.Name();
    RETURN_IF_ERROR(value.Expect('='));
    const auto* const field =
        metadata.GetDescriptor()->FindFieldByName(std::string(key));
    if (field == nullptr) {
      RETURN_IF_ERROR(value.Value().status());
    } else {
      RETURN_IF_ERROR(ReadField(value, *field, metadata));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadFrontendAttributes(TextCursor& value,
                                    hlo::HloInstructionProto& it) {
  hlo::FrontendAttributes attributes;
  RETURN_IF_ERROR(value.ReadList('{', '}', [&]() -> absl::Status {
    auto& entry = *attributes.add_map();
    entry.set_key(std::string(value.Name()));
    RETURN_IF_ERROR(value.Expect('='));
    if (value.Peek() == '"') {
      ASSIGN_OR_RETURN(*entry.mutable_value(), value.QuotedString());
    } else {
      ASSIGN_OR_RETURN(const TextCursor json, value.Value());
      entry.set_value(std::string(json.Rest()));
    }
    return absl::OkStatus();
  }));
  it.set_frontend_attributes(attributes.SerializeAsString());
  return absl::OkStatus();
}

}  // namespace meshwright::ir
