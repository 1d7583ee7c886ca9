#include "coordinator/stages/stage_costs.h"

#include <cmath>
#include <vector>

#include "base/status_macros.h"
#include "coordinator/stages/passes.h"

namespace meshwright::stages {
namespace {

using problem::Picoseconds;
using segmenter::Analysis;
using segmenter::SegmentTypeId;

// Where gradients add up over micro-batches, on one device: those of all
// weights that the segment reads, as pass_variants.h sums them.
int64_t GradientBytes(const Analysis& analysis, const space::Mesh& mesh,
                      const segmenter::SegmentGraph& graph,
                      const std::vector<int>& gradients,
                      const space::Configuration& configuration) {
  int64_t bytes = 0;
  for (const int gradient : gradients) {
    const ir::Shape& shape =
        analysis.module.at(graph.values[gradient].origin).shape;
    if (!ir::IsFloating(shape.element_type)) continue;
    bytes += space::CountBytesPerDevice(
        shape, configuration.annotation.GetSharding(gradient, shape, mesh),
        mesh);
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
  if (own > 1 || micro_batches == 1) return measured;
  const StepPasses passes = FindPasses(step.analysis);
  auto& types = measured.problem.types;
  for (SegmentTypeId t; t < types.size(); ++t) {
    const segmenter::SegmentIndex segment = step.analysis.types[t];
    const std::vector<int> gradients =
        ListWeightGradients(step.analysis, passes, segment);
    for (size_t i = 0; i < types[t].configs.size(); ++i) {
      types[t].configs[i].persistent_bytes += GradientBytes(
          step.analysis, step.space.context.mesh, step.analysis.graphs[segment],
          gradients, step.space.types[t].configurations[measured.usable[t][i]]);
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
