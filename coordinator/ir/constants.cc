#include "coordinator/ir/constants.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::ir {
namespace {

absl::Status RequireLiteral(const hlo::HloInstructionProto& it) {
  if (it.opcode() != "constant" || it.has_literal()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "constant ", it.name(),
      " has no value: its text leaves large constants out; pass the step as a "
      "proto, or print it with --xla_dump_large_constants"));
}

// Elements of a shape whose layout is another one than the default; nothing
// where it is the default, where the shape does not say, or without elements.
std::optional<int64_t> ReorderedElements(const hlo::ShapeProto& shape) {
  const auto& order = shape.layout().minor_to_major();
  const int rank = shape.dimensions_size();
  if (order.size() != rank) return std::nullopt;
  bool is_default = true;
  std::vector<char> seen(rank, 0);
  int64_t count = 1;
  for (int i = 0; i < rank; ++i) {
    const int64_t dim = order[i];
    if (dim < 0 || dim >= rank || seen[dim]) return std::nullopt;
    seen[dim] = 1;
    is_default &= dim == rank - 1 - i;
    if (__builtin_mul_overflow(count, shape.dimensions(i), &count) ||
        count <= 0) {
      return std::nullopt;
    }
  }
  if (is_default) return std::nullopt;
  return count;
}

// Where the elements of the default order lie.
std::vector<int64_t> Sources(const hlo::ShapeProto& shape) {
  const int rank = shape.dimensions_size();
  std::vector<int64_t> stride(rank);
  int64_t count = 1;
  for (int64_t dim : shape.layout().minor_to_major()) {
    stride[dim] = count;
    count *= shape.dimensions(static_cast<int>(dim));
  }
  std::vector<int64_t> from = {0};
  for (int dim = 0; dim < rank; ++dim) {
    std::vector<int64_t> inner;
    inner.reserve(from.size() * shape.dimensions(dim));
    for (int64_t at : from) {
      for (int64_t i = 0; i < shape.dimensions(dim); ++i) {
        inner.push_back(at + i * stride[dim]);
      }
    }
    from = std::move(inner);
  }
  return from;
}

// `values` holds `width` entries for every element.
template <typename Values>
void Reorder(const std::vector<int64_t>& from, int width, Values& values) {
  if (values.empty()) return;
  const Values old = values;
  for (size_t i = 0; i < from.size(); ++i) {
    for (int part = 0; part < width; ++part) {
      values[static_cast<int>(i) * width + part] =
          old[static_cast<int>(from[i]) * width + part];
    }
  }
}

template <typename Act>
bool EachField(hlo::LiteralProto& literal, Act act) {
  using L = hlo::LiteralProto;
  constexpr std::string* (L::*kBytes[])() = {
      &L::mutable_u8s,           &L::mutable_s8s,
      &L::mutable_s4s,           &L::mutable_u4s,
      &L::mutable_s2s,           &L::mutable_u2s,
      &L::mutable_s1s,           &L::mutable_u1s,
      &L::mutable_f8e5m2s,       &L::mutable_f8e4m3fns,
      &L::mutable_f8e4m3s,       &L::mutable_f8e3m4s,
      &L::mutable_f8e4m3fnuzs,   &L::mutable_f8e5m2fnuzs,
      &L::mutable_f8e8m0fnus,    &L::mutable_f4e2m1fns,
      &L::mutable_f8e4m3b11fnuzs};
  constexpr std::string* (L::*kPairs[])() = {
      &L::mutable_f16s, &L::mutable_bf16s, &L::mutable_s16s, &L::mutable_u16s};
  bool all =
      act(1, *literal.mutable_preds()) && act(1, *literal.mutable_s32s()) &&
      act(1, *literal.mutable_s64s()) && act(1, *literal.mutable_u32s()) &&
      act(1, *literal.mutable_u64s()) && act(1, *literal.mutable_f32s()) &&
      act(1, *literal.mutable_f64s()) && act(2, *literal.mutable_c64s()) &&
      act(2, *literal.mutable_c128s());
  for (const auto field : kBytes) all = all && act(1, *(literal.*field)());
  for (const auto field : kPairs) all = all && act(2, *(literal.*field)());
  return all;
}

}  // namespace

absl::Status RequireLiterals(const Module& module) {
  for (const Instruction& it : module.instructions) {
    RETURN_IF_ERROR(RequireLiteral(it.attributes()));
  }
  for (const auto& [id, computation] : module.computations) {
    for (const hlo::HloInstructionProto& it : computation->instructions()) {
      RETURN_IF_ERROR(RequireLiteral(it));
    }
  }
  return absl::OkStatus();
}

void ToDefaultLayout(hlo::LiteralProto& literal) {
  for (hlo::LiteralProto& element : *literal.mutable_tuple_literals()) {
    ToDefaultLayout(element);
  }
  const std::optional<int64_t> count = ReorderedElements(literal.shape());
  if (!count.has_value()) return;
  // A lying literal is left as it is.
  const bool fits = EachField(literal, [&](int width, auto& values) {
    return values.empty() ||
           (static_cast<int64_t>(values.size()) % width == 0 &&
            static_cast<int64_t>(values.size()) / width == *count);
  });
  const bool filled =
      !EachField(literal, [](int, auto& values) { return values.empty(); });
  if (!fits || !filled) return;
  const std::vector<int64_t> from = Sources(literal.shape());
  EachField(literal, [&](int width, auto& values) {
    Reorder(from, width, values);
    return true;
  });
  auto& order = *literal.mutable_shape()->mutable_layout();
  for (int i = 0; i < order.minor_to_major_size(); ++i) {
    order.set_minor_to_major(i, order.minor_to_major_size() - 1 - i);
  }
}

}  // namespace meshwright::ir
