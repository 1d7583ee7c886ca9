#include "tests/conformance/op_rules_generators.h"

namespace meshwright::conformance {
namespace {

using hlo::PrimitiveType;

constexpr Values kFractions{Values::kReal, 0.05, 0.95};
constexpr Values kAboveOne{Values::kReal, 1.1, 3};
constexpr Values kWholes{Values::kWhole, -8, 8};
constexpr Values kCounts{Values::kWhole, 0, 31};
constexpr Values kFlags{Values::kWhole, 0, 1};

OpCase MakeElementwiseCase(const std::string& opcode) {
  OpCase one;
  one.op.set_opcode(opcode);
  return one;
}

// Operands and result of the same dimensions.
OpGenerator Alike(const std::string& opcode,
                  const std::vector<PrimitiveType>& operands,
                  PrimitiveType result, const Values& values) {
  return {opcode,
          [=](Draw& draw) {
            OpCase one = MakeElementwiseCase(opcode);
            Dims dims = draw.Sizes(draw.Between(1, 2));
            dims.push_back(draw.LargeSize());  // one that splits
            for (const PrimitiveType type : operands) {
              one.operands.push_back({ArrayShape(type, dims), values});
            }
            one.result = ArrayShape(result, dims);
            return one;
          },
          2};
}

OpCase Compare(Draw& draw) {
  OpCase one = MakeElementwiseCase("compare");
  const Dims dims = draw.Sizes(2);
  one.op.set_comparison_direction(draw.Coin() ? "LT" : "EQ");
  one.operands = {{ArrayShape(hlo::F32, dims)}, {ArrayShape(hlo::F32, dims)}};
  one.result = ArrayShape(hlo::PRED, dims);
  return one;
}

OpCase Select(Draw& draw) {
  OpCase one = MakeElementwiseCase("select");
  const Dims dims = draw.Sizes(2);
  one.operands = {{ArrayShape(hlo::PRED, draw.Coin() ? Dims{} : dims), kFlags},
                  {ArrayShape(hlo::F32, dims)},
                  {ArrayShape(hlo::F32, dims)}};
  one.result = ArrayShape(hlo::F32, dims);
  return one;
}

OpCase Clamp(Draw& draw) {
  OpCase one = MakeElementwiseCase("clamp");
  const Dims dims = draw.Sizes(2);
  const Dims bounds = draw.Coin() ? Dims{} : dims;
  one.operands = {{ArrayShape(hlo::F32, bounds), {Values::kWhole, -8, -2}},
                  {ArrayShape(hlo::F32, dims)},
                  {ArrayShape(hlo::F32, bounds), {Values::kWhole, 2, 8}}};
  one.result = ArrayShape(hlo::F32, dims);
  return one;
}

OpCase ReducePrecision(Draw& draw) {
  OpCase one = MakeElementwiseCase("reduce-precision");
  one.op.set_exponent_bits(5);
  one.op.set_mantissa_bits(draw.Between(2, 10));
  const ir::Shape shape = ArrayShape(hlo::F32, draw.Sizes(2));
  one.operands = {{shape, kAboveOne}};
  one.result = shape;
  return one;
}

OpCase StochasticConvert(Draw& draw) {
  OpCase one = MakeElementwiseCase("stochastic-convert");
  const Dims dims = draw.Sizes(2);
  one.operands = {{ArrayShape(hlo::F32, dims), {Values::kReal, -8, 8}},
                  {ArrayShape(hlo::U32, dims), {Values::kWhole, 0, 2e9}}};
  one.result = ArrayShape(hlo::S32, dims);
  return one;
}

OpCase Map(Draw& draw) {
  OpCase one = MakeElementwiseCase("map");
  const ir::Shape shape = ArrayShape(hlo::F32, draw.Sizes(2));
  const bool two = draw.Coin();
  one.operands.assign(two ? 2 : 1, {shape});
  one.callees = {{two ? "multiply" : "square", {hlo::F32, hlo::F32}}};
  for (int dim = 0; dim < shape.rank(); ++dim) one.op.add_dimensions(dim);
  one.result = shape;
  return one;
}

OpCase OptimizationBarrier(Draw& draw) {
  OpCase one = MakeElementwiseCase("opt-barrier");
  const Dims dims = draw.Sizes(2);
  const ir::Shape array = ArrayShape(hlo::F32, dims);
  one.result =
      draw.Coin() ? array : TupleShape({array, ArrayShape(hlo::S32, dims)});
  one.operands = {{one.result}};
  return one;
}

}  // namespace

std::vector<OpGenerator> ElementwiseGenerators() {
  std::vector<OpGenerator> all = {
      {"compare", Compare, 4},
      {"select", Select, 6},
      {"clamp", Clamp, 6},
      {"reduce-precision", ReducePrecision, 2},
      {"stochastic-convert", StochasticConvert, 2},
      {"map", Map, 4},
      {"opt-barrier", OptimizationBarrier, 6},
      Alike("is-finite", {hlo::F32}, hlo::PRED, kWholes),
      Alike("complex", {hlo::F32, hlo::F32}, hlo::C64, kWholes),
      Alike("real", {hlo::C64}, hlo::F32, kWholes),
      Alike("imag", {hlo::C64}, hlo::F32, kWholes),
      Alike("power", {hlo::F32, hlo::F32}, hlo::F32, kFractions),
      Alike("atan2", {hlo::F32, hlo::F32}, hlo::F32, kFractions),
      Alike("divide", {hlo::F32, hlo::F32}, hlo::F32, kFractions),
      Alike("remainder", {hlo::F32, hlo::F32}, hlo::F32, kFractions),
      Alike("convert", {hlo::F32}, hlo::S32, kWholes),
      Alike("copy", {hlo::F32}, hlo::F32, kWholes),
  };
  for (const char* opcode :
       {"cbrt", "cosine", "erf", "exponential", "exponential-minus-one", "log",
        "log-plus-one", "logistic", "rsqrt", "sine", "sqrt", "tan", "tanh"}) {
    all.push_back(Alike(opcode, {hlo::F32}, hlo::F32, kFractions));
  }
  for (const char* opcode :
       {"acos", "acosh", "asin", "asinh", "atanh", "cosh", "sinh"}) {
    all.push_back(Alike(opcode, {hlo::F32}, hlo::F32, kFractions));
    all.back().on_cpu = false;
  }
  for (const char* opcode :
       {"ceil", "floor", "round-nearest-afz", "round-nearest-even"}) {
    all.push_back(Alike(opcode, {hlo::F32}, hlo::F32, {Values::kReal, -8, 8}));
  }
  for (const char* opcode : {"abs", "negate", "sign"}) {
    all.push_back(Alike(opcode, {hlo::F32}, hlo::F32, kWholes));
  }
  for (const char* opcode :
       {"add", "maximum", "minimum", "multiply", "subtract"}) {
    all.push_back(Alike(opcode, {hlo::F32, hlo::F32}, hlo::F32, kWholes));
  }
  for (const char* opcode : {"and", "or", "xor"}) {
    all.push_back(Alike(opcode, {hlo::S32, hlo::S32}, hlo::S32, kWholes));
  }
  for (const char* opcode :
       {"shift-left", "shift-right-arithmetic", "shift-right-logical"}) {
    all.push_back(Alike(opcode, {hlo::S32, hlo::S32}, hlo::S32, kCounts));
  }
  for (const char* opcode : {"count-leading-zeros", "not", "popcnt"}) {
    all.push_back(Alike(opcode, {hlo::S32}, hlo::S32, kWholes));
  }
  return all;
}

}  // namespace meshwright::conformance
