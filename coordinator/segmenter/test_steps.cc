#include "coordinator/segmenter/test_steps.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "base/file.h"

namespace meshwright::segmenter {

std::string ReadSample(std::string_view name) {
  return *base::ReadFile(
      absl::StrCat("tests/testdata/", std::string(name), ".hlo.pb"));
}

ir::Module LoadSample(std::string_view name) {
  return *ir::LoadModule(ReadSample(name));
}

absl::StatusOr<Analysis> AnalyzeSample(std::string_view name,
                                       std::vector<int64_t> mesh,
                                       StrategyRequest request) {
  return Analyze(LoadSample(name), std::move(mesh), std::move(request));
}

std::string ScaledFeaturesText(int layers) {
  std::string parameters, forward, backward, update;
  std::vector<std::string> aliases, types, results;
  const auto keep = [&](int number, const std::string& type,
                        const std::string& name) {
    aliases.push_back(absl::Substitute("{$0}: ($0, {}, may-alias)", number));
    types.push_back(type);
    results.push_back(absl::StrCat("new_", name));
    absl::SubstituteAndAppend(&parameters, "  $0 = $1 parameter($2)\n", name,
                              type, number);
    absl::SubstituteAndAppend(&update, "  new_$0 = $1 subtract($0, d_$0)\n",
                              name, type);
  };
  keep(0, "f32[1,1,32]", "taps");
  for (int i = 0; i < layers; ++i) {
    keep(2 * i + 1, "f32[32,64]", absl::StrCat("a", i));
    keep(2 * i + 2, "f32[64,32]", absl::StrCat("b", i));
    absl::SubstituteAndAppend(&forward, R"(
  y$0 = f32[8,16,64] dot(h$0, a$0), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  t$0 = f32[8,16,64] tanh(y$0)
  z$0 = f32[8,16,32] dot(t$0, b$0), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  h$1 = f32[8,16,32] add(h$0, z$0))",
                              i, i + 1);
    const int last = layers - 1 - i;
    absl::SubstituteAndAppend(&backward, R"(
  d_b$0 = f32[64,32] dot(t$0, d_h$1), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  d_t$0 = f32[8,16,64] dot(d_h$1, b$0), lhs_contracting_dims={2}, rhs_contracting_dims={1}
  square$0 = f32[8,16,64] multiply(t$0, t$0)
  slope$0 = f32[8,16,64] subtract(ones, square$0)
  d_y$0 = f32[8,16,64] multiply(d_t$0, slope$0)
  d_a$0 = f32[32,64] dot(h$0, d_y$0), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  back$0 = f32[8,16,32] dot(d_y$0, a$0), lhs_contracting_dims={2}, rhs_contracting_dims={1}
  d_h$0 = f32[8,16,32] add(d_h$1, back$0))",
                              last, last + 1);
  }
  return absl::Substitute(
      R"(
HloModule scaled, input_output_alias={ $0 }
add {
  left = f32[] parameter(0)
  right = f32[] parameter(1)
  ROOT sum = f32[] add(left, right)
}
ENTRY main {
$1  x = f32[8,16,32] parameter($2)
  h0 = f32[8,16,32] convolution(x, taps), window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=32$3
  zero = f32[] constant(0)
  squares = f32[8,16,32] multiply(h$4, h$4)
  loss = f32[] reduce(squares, zero), dimensions={0,1,2}, to_apply=add
  one = f32[] constant(1)
  ones = f32[8,16,64] broadcast(one), dimensions={}
  d_h$4 = f32[8,16,32] add(h$4, h$4)$5
  d_taps = f32[1,1,32] convolution(x, d_h0), window={size=16}, dim_labels=f0b_i0o->0bf, batch_group_count=32
$6  ROOT out = ($7, f32[]) tuple($8, loss)
}
)",
      absl::StrJoin(aliases, ", "), parameters, 2 * layers + 1, forward, layers,
      backward, update, absl::StrJoin(types, ", "),
      absl::StrJoin(results, ", "));
}

}  // namespace meshwright::segmenter
