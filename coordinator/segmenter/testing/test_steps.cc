#include "coordinator/segmenter/testing/test_steps.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "base/file.h"
#include "coordinator/ir/load/load.h"

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

std::string ScaledFeaturesText(int layers, bool flattened) {
  const std::string rows = flattened ? "128" : "8,16";
  const std::string all_rows = flattened ? "0" : "0,1";
  const int columns = flattened ? 1 : 2;
  // A layer's form of a value of the step, and back.
  const std::string flat = flattened ? "flat_" : "";
  const std::string full = flattened ? "full_" : "";
  const auto reshaped = [&](const std::string& to, const std::string& name) {
    if (!flattened) return std::string();
    return absl::Substitute("\n  $0$1 = f32[$2,32] reshape($1)", to, name,
                            to == flat ? "128" : "8,16");
  };
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
    const auto h = [](int layer) { return absl::StrCat("h", layer); };
    const auto z = absl::StrCat("z", i);
    absl::StrAppend(&forward, reshaped(flat, h(i)));
    absl::SubstituteAndAppend(&forward, R"(
  y$0 = f32[$2,64] dot($3h$0, a$0), lhs_contracting_dims={$4}, rhs_contracting_dims={0}
  t$0 = f32[$2,64] tanh(y$0)
  z$0 = f32[$2,32] dot(t$0, b$0), lhs_contracting_dims={$4}, rhs_contracting_dims={0}$5
  h$1 = f32[8,16,32] add(h$0, $6z$0))",
                              i, i + 1, rows, flat, columns, reshaped(full, z),
                              full);
    const int last = layers - 1 - i;
    const std::string back = absl::StrCat("back", last);
    absl::StrAppend(&backward, reshaped(flat, absl::StrCat("d_", h(last + 1))));
    absl::SubstituteAndAppend(&backward, R"(
  d_b$0 = f32[64,32] dot(t$0, $3d_h$1), lhs_contracting_dims={$5}, rhs_contracting_dims={$5}
  d_t$0 = f32[$2,64] dot($3d_h$1, b$0), lhs_contracting_dims={$4}, rhs_contracting_dims={1}
  square$0 = f32[$2,64] multiply(t$0, t$0)
  slope$0 = f32[$2,64] subtract(ones, square$0)
  d_y$0 = f32[$2,64] multiply(d_t$0, slope$0)
  d_a$0 = f32[32,64] dot($3h$0, d_y$0), lhs_contracting_dims={$5}, rhs_contracting_dims={$5}
  back$0 = f32[$2,32] dot(d_y$0, a$0), lhs_contracting_dims={$4}, rhs_contracting_dims={1}$6
  d_h$0 = f32[8,16,32] add(d_h$1, $7back$0))",
                              last, last + 1, rows, flat, columns, all_rows,
                              reshaped(full, back), full);
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
  ones = f32[$9,64] broadcast(one), dimensions={}
  d_h$4 = f32[8,16,32] add(h$4, h$4)$5
  d_taps = f32[1,1,32] convolution(x, d_h0), window={size=16}, dim_labels=f0b_i0o->0bf, batch_group_count=32
$6  ROOT out = ($7, f32[]) tuple($8, loss)
}
)",
      absl::StrJoin(aliases, ", "), parameters, 2 * layers + 1, forward, layers,
      backward, update, absl::StrJoin(types, ", "),
      absl::StrJoin(results, ", "), rows);
}

std::string DepthwiseText(int taps) {
  return absl::Substitute(R"(
HloModule depthwise, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias), {2}: (2, {}, may-alias) }
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY main {
  project = f32[32,96] parameter(0)
  back = f32[96,32] parameter(1)
  taps = f32[$0,1,96] parameter(2)
  x = f32[8,16,32] parameter(3)
  wide = f32[8,16,96] dot(x, project), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  conv = f32[8,16,96] convolution(wide, taps), window={size=$0 pad=$1_0}, dim_labels=b0f_0io->b0f, feature_group_count=96
  y = f32[8,16,32] dot(conv, back), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  zero = f32[] constant(0)
  square = f32[8,16,32] multiply(y, y)
  loss = f32[] reduce(square, zero), dimensions={0,1,2}, to_apply=add
  dconv = f32[8,16,96] dot(y, back), lhs_contracting_dims={2}, rhs_contracting_dims={1}
  dback = f32[96,32] dot(conv, y), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  dtaps = f32[$0,1,96] convolution(wide, dconv), window={size=16 pad=$1_0}, dim_labels=f0b_i0o->0bf, batch_group_count=96
  turned = f32[$0,1,96] reverse(taps), dimensions={0}
  dwide = f32[8,16,96] convolution(dconv, turned), window={size=$0 pad=0_$1}, dim_labels=b0f_0io->b0f, feature_group_count=96
  dproject = f32[32,96] dot(x, dwide), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  new0 = f32[32,96] subtract(project, dproject)
  new1 = f32[96,32] subtract(back, dback)
  new2 = f32[$0,1,96] subtract(taps, dtaps)
  ROOT out = (f32[32,96], f32[96,32], f32[$0,1,96], f32[]) tuple(new0, new1, new2, loss)
}
)",
                          taps, taps - 1);
}

std::string NarrowLayersText(int layers) {
  // Of the norm in front of layer i, and of its gradient.
  const auto norm = [](int i) {
    return absl::Substitute(R"(
  f$0 = f32[8,16,32] convert(h$0)
  square$0 = f32[8,16,32] multiply(f$0, f$0)
  mean$0 = f32[8,16] reduce(square$0, zero), dimensions={2}, to_apply=add
  root$0 = f32[8,16] rsqrt(mean$0)
  scale$0 = f32[8,16,32] broadcast(root$0), dimensions={0,1}
  n$0 = f32[8,16,32] multiply(f$0, scale$0)
  c$0 = bf16[8,16,32] convert(n$0))",
                            i);
  };
  const auto norm_gradient = [](int i) {
    return absl::Substitute(R"(
  d_n$0 = f32[8,16,32] convert(d_c$0)
  direct$0 = f32[8,16,32] multiply(d_n$0, scale$0)
  along$0 = f32[8,16,32] multiply(d_n$0, f$0)
  sum$0 = f32[8,16] reduce(along$0, zero), dimensions={2}, to_apply=add
  sums$0 = f32[8,16,32] broadcast(sum$0), dimensions={0,1}
  back$0 = f32[8,16,32] multiply(f$0, sums$0)
  wide$0 = f32[8,16,32] subtract(direct$0, back$0)
  g$0 = bf16[8,16,32] convert(wide$0))",
                            i);
  };
  std::string parameters, forward, backward, update;
  std::vector<std::string> aliases, types, results;
  const auto keep = [&](const std::string& type, const std::string& name) {
    const size_t number = aliases.size();
    aliases.push_back(absl::Substitute("{$0}: ($0, {}, may-alias)", number));
    types.push_back(type);
    results.push_back(absl::StrCat("new_", name));
    absl::SubstituteAndAppend(&parameters, "  $0 = $1 parameter($2)\n", name,
                              type, number);
    absl::SubstituteAndAppend(&update, "\n  new_$0 = $1 subtract($0, d_$0)",
                              name, type);
  };
  keep("bf16[32]", "taps");
  keep("bf16[32,48]", "w");
  for (int i = 0; i < layers; ++i) {
    keep("bf16[32,64]", absl::StrCat("a", i));
    keep("bf16[64,32]", absl::StrCat("b", i));
    absl::StrAppend(&forward, norm(i));
    absl::SubstituteAndAppend(&forward, R"(
  y$0 = bf16[8,16,64] dot(c$0, a$0), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  t$0 = bf16[8,16,64] tanh(y$0)
  z$0 = bf16[8,16,32] dot(t$0, b$0), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  h$1 = bf16[8,16,32] add(h$0, z$0))",
                              i, i + 1);
    const int last = layers - 1 - i;
    const std::string down = absl::StrCat(i == 0 ? "g" : "d_h", last + 1);
    absl::SubstituteAndAppend(&backward, R"(
  d_b$0 = bf16[64,32] dot(t$0, $1), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  d_t$0 = bf16[8,16,64] dot($1, b$0), lhs_contracting_dims={2}, rhs_contracting_dims={1}
  t_square$0 = bf16[8,16,64] multiply(t$0, t$0)
  slope$0 = bf16[8,16,64] subtract(ones, t_square$0)
  d_y$0 = bf16[8,16,64] multiply(d_t$0, slope$0)
  d_a$0 = bf16[32,64] dot(c$0, d_y$0), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  d_c$0 = bf16[8,16,32] dot(d_y$0, a$0), lhs_contracting_dims={2}, rhs_contracting_dims={1}$2
  d_h$0 = bf16[8,16,32] add($1, g$0))",
                              last, down, norm_gradient(last));
  }
  return absl::Substitute(
      R"(
HloModule narrow, input_output_alias={ $0 }
add {
  left = f32[] parameter(0)
  right = f32[] parameter(1)
  ROOT sum = f32[] add(left, right)
}
ENTRY main {
$1  x = bf16[8,16,32] parameter($2)
  zero = f32[] constant(0)
  one = bf16[] constant(1)
  ones = bf16[8,16,64] broadcast(one), dimensions={}
  taps_of_all = bf16[8,16,32] broadcast(taps), dimensions={2}
  h0 = bf16[8,16,32] multiply(x, taps_of_all)$3
  logits = bf16[8,16,48] dot(c$4, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  wide = f32[8,16,48] convert(logits)
  squares = f32[8,16,48] multiply(wide, wide)
  loss = f32[] reduce(squares, zero), dimensions={0,1,2}, to_apply=add
  d_wide = f32[8,16,48] add(wide, wide)
  d_logits = bf16[8,16,48] convert(d_wide)
  d_w = bf16[32,48] dot(c$4, d_logits), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  d_c$4 = bf16[8,16,32] dot(d_logits, w), lhs_contracting_dims={2}, rhs_contracting_dims={1}$5$6
  products = bf16[8,16,32] multiply(x, d_h0)
  wide_products = f32[8,16,32] convert(products)
  wide_taps = f32[32] reduce(wide_products, zero), dimensions={0,1}, to_apply=add
  d_taps = bf16[32] convert(wide_taps)$7
  ROOT out = ($8, loss)
}
)",
      absl::StrJoin(aliases, ", "), parameters, aliases.size(),
      absl::StrCat(forward, norm(layers)), layers, norm_gradient(layers),
      backward, update,
      absl::StrJoin(types, ", ") + ", f32[]) tuple(" +
          absl::StrJoin(results, ", "));
}

}  // namespace meshwright::segmenter
