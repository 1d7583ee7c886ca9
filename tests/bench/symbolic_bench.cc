// The symbolic profile beside the compiler's own figures.
//
//   build/release/bin/symbolic_bench FILE...
//
// Every step is compiled for one CPU device, as it is and without fusion; both
// programs' cost analysis and memory statistics stand beside what the profile
// says. The compiler counts a loop once, so the profile does here too. It makes
// grouped convolutions dense and multiplies by the zeros between the groups,
// which the profile does not count: such steps compare with nothing here.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>

#include "absl/strings/str_format.h"
#include "base/file.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/ir/load/parse.h"
#include "coordinator/operators/step_graph.h"
#include "planner/symbolic/profile.h"
#include "tests/bench/figure.h"
#include "worker/pjrt/client.h"

namespace meshwright {
namespace {

constexpr symbolic::Device kDevice{.flops_per_second = 5e10,
                                   .bytes_per_second = 1e10};

double Over(double ours, double theirs) {
  return theirs == 0 ? 0 : ours / theirs;
}

// FLOPs of the profile over those of the unfused programs.
struct Range {
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = 0;
};

absl::Status Report(const worker::pjrt::Client& client, const std::string& path,
                    Range& flops) {
  const auto bytes = base::ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  const auto module = ir::LoadModule(*bytes);
  if (!module.ok()) return module.status();
  const auto start = std::chrono::steady_clock::now();
  symbolic::OpGraph graph = operators::ReadModule(*module);
  for (symbolic::Operation& it : graph.operations) it.trips = 1;
  const auto profile = symbolic::ProfileStep(graph, kDevice);
  if (!profile.ok()) return profile.status();
  const double milliseconds = std::chrono::duration<double, std::milli>(
                                  std::chrono::steady_clock::now() - start)
                                  .count();
  const auto source = ir::ParseModule(*bytes);
  if (!source.ok()) return source.status();
  const std::string serialized = source->SerializeAsString();
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const bool fused : {false, true}) {
    const auto executable =
        client.Compile(serialized, 1, 1,
                       fused ? worker::pjrt::CompilerOptions{}
                             : worker::pjrt::CompilerOptions{
                                   {"xla_disable_hlo_passes", "fusion"}});
    if (!executable.ok()) return executable.status();
    const auto costs = (*executable)->Costs();
    if (!costs.ok()) return costs.status();
    const auto memory = (*executable)->Memory();
    if (!memory.ok()) return memory.status();
    const auto& total = profile->total;
    const double touched = static_cast<double>(total.bytes_read) +
                           static_cast<double>(total.bytes_written);
    const double over =
        Over(static_cast<double>(total.counts.flops), costs->flops);
    if (!fused) {
      flops.minimum = std::min(flops.minimum, over);
      flops.maximum = std::max(flops.maximum, over);
    }
    std::printf(
        "%-24s %-7s %9.3f %6.3f %6.3f %6.3f %6.3f %9.3f %6.3f %6.3f %6.1f\n",
        name.c_str(), fused ? "fused" : "unfused", costs->flops / 1e6, over,
        Over(static_cast<double>(total.counts.transcendentals),
             costs->transcendentals),
        Over(touched, costs->bytes_accessed),
        Over(static_cast<double>(total.traffic_bytes), costs->bytes_accessed),
        static_cast<double>(memory->temporary_bytes()) / 1e6,
        Over(static_cast<double>(profile->footprint.temporary_bytes),
             static_cast<double>(memory->temporary_bytes())),
        Over(static_cast<double>(profile->footprint.peak_bytes),
             static_cast<double>(memory->peak_bytes())),
        milliseconds);
  }
  return absl::OkStatus();
}

int Run(int count, char** paths) {
  const auto plugin =
      worker::pjrt::Plugin::Load(*worker::pjrt::FindPlugin("cpu", ""));
  if (!plugin.ok()) {
    std::printf("%s\n", plugin.status().ToString().c_str());
    return 1;
  }
  const auto client =
      worker::pjrt::Client::Create(*plugin, {.platform = "cpu"});
  if (!client.ok()) {
    std::printf("%s\n", client.status().ToString().c_str());
    return 1;
  }
  std::printf("%-24s %-7s %9s %6s %6s %6s %6s %9s %6s %6s %6s\n", "step", "as",
              "MFLOP", "flops", "funcs", "bytes", "traff.", "temp MB", "temp",
              "peak", "ms");
  Range flops;
  for (int i = 0; i < count; ++i) {
    const absl::Status status = Report(**client, paths[i], flops);
    if (!status.ok()) {
      std::printf("%s: %s\n", paths[i], status.ToString().c_str());
      return 1;
    }
  }
  const std::string what = absl::StrFormat(
      "FLOPs over those of the unfused program, %d steps: ", count);
  PrintFigure(what + "minimum", "≥ 0.98",
              absl::StrFormat("%.3f", flops.minimum));
  PrintFigure(what + "maximum", "≤ 1.02",
              absl::StrFormat("%.3f", flops.maximum));
  return 0;
}

}  // namespace
}  // namespace meshwright

int main(int argc, char** argv) { return meshwright::Run(argc - 1, argv + 1); }
