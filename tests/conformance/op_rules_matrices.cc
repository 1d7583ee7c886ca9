#include "tests/conformance/op_rules_generators.h"

namespace meshwright::conformance {
namespace {

OpCase Cholesky(Draw& draw) {
  OpCase one;
  one.op.set_opcode("cholesky");
  one.op.mutable_cholesky_options()->set_lower(true);
  Dims dims = draw.Sizes(draw.Between(1, 2));
  dims.insert(dims.end(), 2, draw.small_sizes() ? 3 : 6);
  const ir::Shape shape = ArrayShape(hlo::F32, dims);
  one.operands = {{shape, {Values::kPositiveMatrix, 0.1, 0.9}}};
  one.result = shape;
  return one;
}

OpCase CountTriangularSolveFlops(Draw& draw) {
  OpCase one;
  one.op.set_opcode("triangular-solve");
  auto& options = *one.op.mutable_triangular_solve_options();
  options.set_left_side(draw.Coin());
  options.set_lower(draw.Coin());
  options.set_transpose_a(draw.Between(1, 2));
  const int64_t n = draw.small_sizes() ? 3 : 6;
  Dims a = draw.Sizes(draw.Between(0, 1));
  Dims b = a;
  a.insert(a.end(), 2, n);
  b.push_back(n);
  b.insert(options.left_side() ? b.end() : b.end() - 1, draw.Size());
  one.operands = {
      {ArrayShape(hlo::F32, a), {Values::kDominantMatrix, 0.1, 0.9}},
      {ArrayShape(hlo::F32, b)}};
  one.result = ArrayShape(hlo::F32, b);
  return one;
}

OpCase Fft(Draw& draw) {
  OpCase one;
  one.op.set_opcode("fft");
  Dims dims = draw.Sizes(draw.Between(1, 2));
  const int transformed = draw.Between(1, 2);
  for (int i = 0; i < transformed; ++i) dims.push_back(6);
  for (int i = 0; i < transformed; ++i) one.op.add_fft_length(6);
  Dims half = dims;
  half.back() = 6 / 2 + 1;
  const int kind = draw.Between(0, 3);
  one.op.set_fft_type(kind);
  const ir::Shape whole = ArrayShape(hlo::C64, dims);
  const ir::Shape real = ArrayShape(hlo::F32, dims);
  const ir::Shape packed = ArrayShape(hlo::C64, half);
  one.operands = {{kind == 2 ? real : kind == 3 ? packed : whole}};
  one.result = kind == 2 ? packed : kind == 3 ? real : whole;
  return one;
}

OpCase Sort(Draw& draw) {
  OpCase one;
  one.op.set_opcode("sort");
  const Dims dims = draw.Sizes(draw.Between(1, 3));
  one.op.add_dimensions(draw.Below(static_cast<int>(dims.size())));
  one.op.set_is_stable(true);
  const ir::Shape keys = ArrayShape(hlo::F32, dims);
  const ir::Shape payload = ArrayShape(hlo::S32, dims);
  one.operands = {{keys, {Values::kReal, -8, 8}}};
  one.result = keys;
  one.callees = {{"less", {hlo::F32, hlo::F32}}};
  if (draw.Coin()) {
    one.operands.push_back({payload});
    one.result = TupleShape({keys, payload});
    one.callees = {{"less", {hlo::F32, hlo::F32, hlo::S32, hlo::S32}}};
  }
  return one;
}

OpCase TopK(Draw& draw) {
  OpCase one;
  one.op.set_opcode("topk");
  Dims dims = draw.Sizes(draw.Between(0, 2));
  Dims out = dims;
  const int64_t size = draw.LargeSize();
  dims.push_back(size);
  one.op.set_k(draw.Between(1, static_cast<int>(size)));
  one.op.set_largest(true);
  out.push_back(one.op.k());
  one.operands = {{ArrayShape(hlo::F32, dims), {Values::kReal, -8, 8}}};
  one.result =
      TupleShape({ArrayShape(hlo::F32, out), ArrayShape(hlo::S32, out)});
  one.callees = {{"greater", {hlo::F32, hlo::F32}}};
  return one;
}

OpCase BatchNormInference(Draw& draw) {
  OpCase one;
  one.op.set_opcode("batch-norm-inference");
  one.op.set_epsilon(0.5);
  const Dims dims = draw.Sizes(3);
  const int feature = draw.Below(3);
  one.op.set_feature_index(feature);
  const ir::Shape array = ArrayShape(hlo::F32, dims);
  const ir::Shape one_per_feature = ArrayShape(hlo::F32, {dims[feature]});
  one.operands = {{array},
                  {one_per_feature},
                  {one_per_feature},
                  {one_per_feature},
                  {one_per_feature, {Values::kReal, 0.5, 2}}};
  one.result = array;
  return one;
}

}  // namespace

std::vector<OpGenerator> MatrixGenerators() {
  return {{"batch-norm-inference", BatchNormInference, 4},
          {"cholesky", Cholesky, 4},
          {"fft", Fft, 8},
          {"sort", Sort, 6},
          {"topk", TopK, 6},
          {"triangular-solve", CountTriangularSolveFlops, 8}};
}

}  // namespace meshwright::conformance
