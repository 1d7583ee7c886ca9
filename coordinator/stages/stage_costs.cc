#include "coordinator/stages/stage_costs.h"

#include <cmath>

#include "base/status_macros.h"

namespace meshwright::stages {
namespace {

using problem::Picoseconds;
using segmenter::Analysis;
using segmenter::SegmentTypeId;

// Where gradients add up over micro-batches, on one device.
int64_t GradientBytes(const Analysis& analysis, const space::Mesh& mesh,
                      SegmentTypeId type,
                      const space::Configuration& configuration) {
  const segmenter::SegmentGraph& graph = analysis.graphs[analysis.types[type]];
  int64_t bytes = 0;
  for (const auto& [argument, updated] : graph.state) {
    const ir::Instruction& it =
        analysis.module.at(graph.values[argument].origin);
    if (it.opcode != ir::Opcode::kParameter) continue;
    const int64_t number = it.attributes().parameter_number();
    if (analysis.passes.roles[number] != segmenter::ArgumentRole::kParameter) {
      continue;
    }
    bytes += space::CountBytesPerDevice(
        it.shape,
        configuration.annotation.GetSharding(argument, it.shape, mesh), mesh);
  }
  return bytes;
}

}  // namespace

absl::StatusOr<formulation::MeasuredProblem> BuildStageProblem(
    const planning::MeasuredStep& step, int64_t own, int64_t micro_batches) {
  // Groups of segments would have to end at cuts.
  ASSIGN_OR_RETURN(formulation::MeasuredProblem measured,
                   formulation::BuildProblem(step.analysis, step.space,
                                             step.results, std::nullopt, {},
                                             {.groups = false, .parts = true}));
  auto& types = measured.problem.types;
  for (SegmentTypeId t; t < types.size(); ++t) {
    for (size_t i = 0; i < types[t].configs.size(); ++i) {
      const space::Configuration& configuration =
          step.space.types[t].configurations[measured.usable[t][i]];
      problem::Config& config = types[t].configs[i];
      if (own == 1 && micro_batches > 1) {
        config.persistent_bytes += GradientBytes(
            step.analysis, step.space.context.mesh, t, configuration);
      }
    }
  }
  return measured;
}

problem::Config ChargePerPass(problem::Config config, const PassTimes& times,
                              int64_t repeats) {
  if (config.time <= Picoseconds(0)) return config;
  const Picoseconds time = times.forward + times.backward +
                           (times.update + Picoseconds(repeats - 1)) / repeats;
  const double share = static_cast<double>(time.count()) /
                       static_cast<double>(config.time.count());
  const auto scale = [&](Picoseconds& part) {
    part = Picoseconds(std::llround(share * static_cast<double>(part.count())));
  };
  scale(config.noise.below);
  scale(config.noise.above);
  config.time = time;
  return config;
}

}  // namespace meshwright::stages
