#include "coordinator/operators/work_counter.h"

#include <algorithm>
#include <deque>
#include <set>
#include <string_view>
#include <unordered_map>

#include "coordinator/ir/links/dot_dims.h"
#include "planner/problem/duration.h"

namespace meshwright::operators {
namespace {

using ir::Opcode;
using ir::Shape;
using symbolic::Counts;

constexpr int kDeepestCall = 32;

int64_t Elements(const Shape& shape) {
  if (!shape.is_tuple()) return shape.element_count();
  int64_t elements = 0;
  for (const Shape& element : shape.elements) {
    elements = problem::SaturatingAdd(elements, Elements(element));
  }
  return elements;
}

// Of a result that may be several arrays alike.
int64_t FirstElements(const Shape& shape) {
  return shape.is_tuple() && !shape.elements.empty()
             ? Elements(shape.elements[0])
             : Elements(shape);
}

bool IsTranscendental(std::string_view name) {
  static const auto* const names = new std::set<std::string_view>{
      "acos",   "acosh",        "asin",        "asinh",
      "atan2",  "atanh",        "cbrt",        "cosh",
      "cosine", "erf",          "exponential", "exponential-minus-one",
      "log",    "log-plus-one", "logistic",    "power",
      "rsqrt",  "sine",         "sinh",        "sqrt",
      "tan",    "tanh"};
  return names->contains(name);
}

Counts Dot(const OpView& it) {
  if (it.operands.size() != 2) return {};
  const auto dims = ir::MakeDotDims(it.attributes->dot_dimension_numbers(),
                                    *it.operands[0], *it.operands[1]);
  if (!dims.ok()) return {};
  int64_t batch = 1, rows = 1, columns = 1, contracted = 1;
  for (size_t i = 0; i < dims->side[0].size(); ++i) {
    const ir::DotRole role = dims->side[0][i].role;
    (role == ir::DotRole::kBatch         ? batch
     : role == ir::DotRole::kContracting ? contracted
                                         : rows) *= it.operands[0]->dims[i];
  }
  for (size_t i = 0; i < dims->side[1].size(); ++i) {
    if (dims->side[1][i].role == ir::DotRole::kFree) {
      columns *= it.operands[1]->dims[i];
    }
  }
  return symbolic::CountMatrixProductFlops(batch, rows, columns, contracted);
}

Counts Convolution(const OpView& it) {
  const auto& numbers = it.attributes->convolution_dimension_numbers();
  const Shape& input = *it.operands[0];
  const Shape& kernel = *it.operands[1];
  std::vector<symbolic::WindowDim> window;
  for (int i = 0; i < it.attributes->window().dimensions_size(); ++i) {
    const hlo::WindowDimension& dim = it.attributes->window().dimensions(i);
    window.push_back(
        {.input = input.dims[numbers.input_spatial_dimensions(i)],
         .kernel = kernel.dims[numbers.kernel_spatial_dimensions(i)],
         .output = it.shape->dims[numbers.output_spatial_dimensions(i)],
         .stride = std::max<int64_t>(1, dim.stride()),
         .padding_low = dim.padding_low(),
         .window_dilation = std::max<int64_t>(1, dim.window_dilation()),
         .base_dilation = std::max<int64_t>(1, dim.base_dilation())});
  }
  // The kernel's input features are those of one group.
  return symbolic::CountWindowedProductFlops(
      it.shape->dims[numbers.output_batch_dimension()],
      it.shape->dims[numbers.output_feature_dimension()],
      kernel.dims[numbers.kernel_input_feature_dimension()], window);
}

int64_t WindowElements(const OpView& it) {
  int64_t elements = 1;
  for (const hlo::WindowDimension& dim : it.attributes->window().dimensions()) {
    elements = problem::SaturatingMultiply(elements, dim.size());
  }
  return elements;
}

Counts Sort(const OpView& it) {
  const Shape& keys = *it.operands[0];
  const int64_t length = keys.dims[it.attributes->dimensions(0)];
  return length == 0
             ? Counts{}
             : symbolic::CountSortFlops(Elements(keys) / length, length);
}

Counts Fft(const OpView& it) {
  const auto real = [](const Shape& shape) {
    return ir::IsFloating(shape.element_type);
  };
  const auto& lengths = it.attributes->fft_length();
  return symbolic::CountFourierFlops(
      std::max(Elements(*it.operands[0]), Elements(*it.shape)),
      {lengths.begin(), lengths.end()},
      real(*it.operands[0]) || real(*it.shape));
}

// Systems, their order and how many right-hand sides each has.
Counts Solve(const OpView& it) {
  const int64_t order = it.operands[0]->dims.back();
  if (order == 0) return {};
  return symbolic::CountTriangularSolveFlops(1, order,
                                             Elements(*it.shape) / order);
}

Counts Cholesky(const OpView& it) {
  const int64_t order = it.shape->dims.back();
  if (order == 0) return {};
  return symbolic::CountCholeskyFlops(Elements(*it.shape) / order / order,
                                      order);
}

// One reciprocal root per feature; subtract, scale and shift per element.
Counts BatchNorm(const OpView& it) {
  const int64_t features = Elements(*it.operands[1]);
  return {
      problem::SaturatingAdd(
          problem::SaturatingMultiply(3, Elements(*it.shape)), 2 * features),
      features};
}

OpView MakeView(const ir::Module& module, ir::ValueId id) {
  const ir::Instruction& it = module.at(id);
  OpView view{it.opcode, it.source, &it.shape, {}};
  for (ir::ValueId operand : it.operands) {
    view.operands.push_back(&module.at(operand).shape);
  }
  return view;
}

}  // namespace

Counts WorkCounter::Count(ir::ValueId id) {
  const OpView it = MakeView(module_, id);
  switch (it.opcode) {
    case Opcode::kConvolution:
      return Convolution(it);
    case Opcode::kReduceWindow:
      return ScaleCounts(CountCallee(it, 0, 0),
                         problem::SaturatingMultiply(
                             std::max<int64_t>(0, WindowElements(it) - 1),
                             FirstElements(*it.shape)));
    case Opcode::kSelectAndScatter: {
      const int64_t sources = Elements(*it.operands[1]);
      return Sum(ScaleCounts(CountCallee(it, 0, 0),
                             problem::SaturatingMultiply(
                                 std::max<int64_t>(0, WindowElements(it) - 1),
                                 sources)),
                 ScaleCounts(CountCallee(it, 1, 0), sources));
    }
    case Opcode::kScatter:
      return ScaleCounts(CountCallee(it, 0, 0), Elements(*it.operands.back()));
    case Opcode::kSort:
      return Sort(it);
    case Opcode::kTopK:
      return {Elements(*it.operands[0]), 0};
    case Opcode::kFft:
      return Fft(it);
    case Opcode::kTriangularSolve:
      return Solve(it);
    case Opcode::kCholesky:
      return Cholesky(it);
    case Opcode::kBatchNormInference:
      return BatchNorm(it);
    case Opcode::kRngBitGenerator:
      return {0, Elements(*it.shape)};
    default:
      return CountSimple(it, 0);
  }
}

Counts WorkCounter::CountSimple(const OpView& it, int depth) {
  const std::string_view name = it.attributes->opcode();
  switch (it.opcode) {
    case Opcode::kElementwise:
      if (name == "map") {
        return ScaleCounts(CountCallee(it, 0, depth), Elements(*it.shape));
      }
      return IsTranscendental(name) ? Counts{0, Elements(*it.shape)}
                                    : Counts{Elements(*it.shape), 0};
    case Opcode::kConvert:
    case Opcode::kSelect:
      return {Elements(*it.shape), 0};
    case Opcode::kDot:
      return Dot(it);
    case Opcode::kReduce:
      if (it.operands.empty()) return {};
      return ScaleCounts(CountCallee(it, 0, depth),
                         std::max<int64_t>(0, Elements(*it.operands[0]) -
                                                  FirstElements(*it.shape)));
    case Opcode::kCollective:
      return name == "all-reduce" ? Counts{Elements(*it.shape), 0} : Counts{};
    case Opcode::kConditional: {
      Counts maximum;
      for (int i = 0; i < it.attributes->called_computation_ids_size(); ++i) {
        const Counts branch = CountCallee(it, i, depth);
        maximum.flops = std::max(maximum.flops, branch.flops);
        maximum.transcendentals =
            std::max(maximum.transcendentals, branch.transcendentals);
      }
      return maximum;
    }
    case Opcode::kWhile:
      return Sum(CountCallee(it, 0, depth), CountCallee(it, 1, depth));
    case Opcode::kCall:
      return CountCallee(it, 0, depth);
    case Opcode::kUnknown:
      if (name == "fusion") return CountCallee(it, 0, depth);
      return name == "rng" ? Counts{0, Elements(*it.shape)} : Counts{};
    default:
      return {};
  }
}

Counts WorkCounter::CountCallee(const OpView& it, int number, int depth) {
  if (number >= it.attributes->called_computation_ids_size()) return {};
  return CountComputation(it.attributes->called_computation_ids(number),
                          depth + 1);
}

Counts WorkCounter::CountComputation(int64_t id, int depth) {
  const auto known = computations_.find(id);
  if (known != computations_.end()) return known->second;
  const auto found = module_.computations.find(id);
  if (found == module_.computations.end() || depth > kDeepestCall) return {};
  Counts total;
  std::deque<Shape> shapes;
  std::unordered_map<int64_t, const Shape*> shape_of;
  for (const hlo::HloInstructionProto& source : found->second->instructions()) {
    auto shape = ir::ShapeFromProto(source.shape());
    if (!shape.ok()) continue;
    shapes.push_back(*std::move(shape));
    shape_of[source.id()] = &shapes.back();
    OpView it{ir::ParseOpcode(source.opcode()), &source, &shapes.back(), {}};
    bool known_operands = true;
    for (int64_t operand : source.operand_ids()) {
      const auto at = shape_of.find(operand);
      known_operands &= at != shape_of.end();
      if (known_operands) it.operands.push_back(at->second);
    }
    if (known_operands) total = Sum(total, CountSimple(it, depth));
  }
  computations_[id] = total;
  return total;
}

}  // namespace meshwright::operators
