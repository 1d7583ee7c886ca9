#include "tests/conformance/op_rules_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "worker/pjrt/element_type.h"

namespace meshwright::conformance {
namespace {

constexpr int64_t kMaxElements = 600;

template <typename Number>
void Append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void AppendAs(hlo::PrimitiveType type, double number, std::string& bytes) {
  const auto whole = static_cast<int64_t>(std::llround(number));
  switch (type) {
    case hlo::PRED:
    case hlo::U8:
    case hlo::S8:
      return Append(bytes, static_cast<uint8_t>(whole));
    case hlo::U16:
      return Append(bytes, static_cast<uint16_t>(whole));
    case hlo::U32:
    case hlo::S32:
      return Append(bytes, static_cast<uint32_t>(whole));
    case hlo::U64:
      return Append(bytes, static_cast<uint64_t>(whole));
    case hlo::F64:
      return Append(bytes, number);
    case hlo::C64:
      Append(bytes, static_cast<float>(number));
      return Append(bytes, static_cast<float>(number * 0.5 + 1));
    default:
      return Append(bytes, static_cast<float>(number));
  }
}

// How the elements of a dimension lie: `outer` runs of `size` times `inner`
// bytes.
struct Runs {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
};

Runs ComputeRuns(const Array& array, int dim) {
  Runs runs;
  for (int i = 0; i < dim; ++i) runs.outer *= array.dimensions[i];
  runs.size = array.dimensions[dim];
  runs.inner = worker::pjrt::CountElementBytes(array.type);
  for (size_t i = dim + 1; i < array.dimensions.size(); ++i) {
    runs.inner *= array.dimensions[i];
  }
  return runs;
}

}  // namespace

std::string OpCase::Describe() const {
  std::string text = ir::ToString(result);
  absl::StrAppend(&text, " ", op.opcode(), "(");
  for (size_t i = 0; i < operands.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", ir::ToString(operands[i].shape));
  }
  return absl::StrCat(text, ") with ", op.ShortDebugString());
}

Dims Draw::Sizes(int rank) {
  while (true) {
    Dims dims;
    for (int i = 0; i < rank; ++i) dims.push_back(Size());
    if (Product(dims) <= kMaxElements) return dims;
  }
}

int64_t Draw::LargeSize() {
  while (true) {
    const int64_t size = Size();
    if (size > 1) return size;
  }
}

std::vector<int64_t> Draw::Permutation(int count) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (int i = count - 1; i > 0; --i) std::swap(order[i], order[Below(i + 1)]);
  return order;
}

std::vector<int64_t> Draw::Choose(int count, int bound) {
  std::vector<int64_t> chosen = Permutation(bound);
  chosen.resize(count);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

double Draw::Number(const Values& values) {
  if (values.kind == Values::kWhole) {
    const int span = static_cast<int>(values.high - values.low) + 1;
    return values.low + Below(span);
  }
  return values.low + (values.high - values.low) * Below(10000) / 10000.0;
}

Array Draw::Fill(const ir::Shape& shape, const Values& values) {
  Array array{shape.element_type, shape.dims, {}};
  const int64_t count = shape.element_count();
  const int64_t n = shape.dims.empty() ? 1 : shape.dims.back();
  for (int64_t i = 0; i < count; ++i) {
    double number = Number(values);
    const int64_t row = i / n % n;
    const int64_t column = i % n;
    if (values.kind == Values::kPositiveMatrix && column > row) {
      number = 0;  // the operation reads the lower triangle only
    }
    const bool matrix = values.kind == Values::kPositiveMatrix ||
                        values.kind == Values::kDominantMatrix;
    if (matrix && row == column) number += 3.0 * static_cast<double>(n);
    AppendAs(shape.element_type, number, array.bytes);
  }
  return array;
}

ir::Shape ArrayShape(hlo::PrimitiveType type, Dims dims) {
  ir::Shape shape;
  shape.element_type = type;
  shape.dims = std::move(dims);
  return shape;
}

ir::Shape TupleShape(std::vector<ir::Shape> elements) {
  ir::Shape shape;
  shape.element_type = hlo::TUPLE;
  shape.elements = std::move(elements);
  return shape;
}

std::vector<ir::Shape> Leaves(const ir::Shape& shape) {
  return shape.is_tuple() ? shape.elements : std::vector<ir::Shape>{shape};
}

int64_t Product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1},
                         std::multiplies<>());
}

Array Cut(const Array& whole, int dim, int64_t parts, int64_t part) {
  const Runs runs = ComputeRuns(whole, dim);
  const int64_t bytes = runs.size / parts * runs.inner;
  Array cut{whole.type, whole.dimensions, {}};
  cut.dimensions[dim] /= parts;
  for (int64_t i = 0; i < runs.outer; ++i) {
    cut.bytes.append(whole.bytes, i * runs.size * runs.inner + part * bytes,
                     bytes);
  }
  return cut;
}

Array Graft(const Array& base, const Array& other, int dim, int64_t parts,
            int64_t part) {
  const Runs runs = ComputeRuns(base, dim);
  const int64_t bytes = runs.size / parts * runs.inner;
  Array grafted = base;
  for (int64_t i = 0; i < runs.outer; ++i) {
    const int64_t at = i * runs.size * runs.inner + part * bytes;
    std::memcpy(&grafted.bytes[at], &other.bytes[at], bytes);
  }
  return grafted;
}

ir::Module BuildModule(const OpCase& one) {
  ir::Module module;
  ir::Instruction subject;
  for (const Operand& operand : one.operands) {
    ir::Instruction parameter;
    parameter.opcode = ir::Opcode::kParameter;
    parameter.shape = operand.shape;
    parameter.source = module.NewAttributes();
    subject.operands.emplace_back(module.size());
    module.instructions.push_back(std::move(parameter));
  }
  subject.opcode = ir::ParseOpcode(one.op.opcode());
  subject.shape = one.result;
  subject.source = module.NewAttributes(one.op);
  module.root = ir::ValueId(module.size());
  module.instructions.push_back(std::move(subject));
  return module;
}

}  // namespace meshwright::conformance
