#include "coordinator/stages/stage_writer.h"

#include <algorithm>

#include "coordinator/estimation/measured_cost.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/planning/plan_metadata.h"
#include "coordinator/planning/score.h"
#include "planner/pipeline/pipeline_problem.h"

namespace meshwright::stages {
namespace {

using problem::ToSeconds;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

class StageWriter {
 public:
  StageWriter(const MeasuredMeshes& step, const ChosenStage& stage,
              pipeline::Schedule schedule, v1::PlanStage& out)
      : whole_(step),
        step_(step.meshes[stage.place.mesh]->step),
        analysis_(step_.analysis),
        stage_(stage),
        schedule_(schedule),
        costs_(Costs()),
        out_(out) {}

  void Write() {
    for (const int64_t size : step_.space.context.mesh) out_.add_mesh(size);
    out_.mutable_devices()->Assign(stage_.devices.begin(),
                                   stage_.devices.end());
    out_.set_first_segment(stage_.place.first);
    WriteSegments();
    WriteArguments();
    WriteOutputs();
    WriteFigures();
  }

 private:
  void WriteSegments() {
    v1::Plan described;
    exporting::DescribeSegments(analysis_, step_.space,
                                MakeWholeChoice(whole_, stage_), &described);
    for (SegmentIndex s = stage_.first(); s < stage_.end(); ++s) {
      v1::PlanSegment& segment = *out_.add_segments();
      segment.Swap(described.mutable_segments(s));
      const planning::SegmentCost& cost = costs_[s - stage_.first()];
      segment.set_seconds(cost.seconds);
      segment.set_communication_seconds(cost.communication_seconds);
      segment.set_resharding_seconds(
          stage_.run.resharding_seconds[s - stage_.first()]);
      segment.set_memory_bytes(cost.memory_bytes);
    }
  }

  int GetConfiguration(SegmentIndex segment) const {
    return stage_.run.choice[segment - stage_.first()];
  }

  std::vector<planning::SegmentCost> Costs() const {
    std::vector<planning::SegmentCost> costs;
    for (SegmentIndex s = stage_.first(); s < stage_.end(); ++s) {
      const SegmentTypeId type = analysis_.type_of_segment[s];
      const int configuration = GetConfiguration(s);
      const auto config = estimation::FindMeasuredCost(
          step_.space, step_.space.types[type].configurations[configuration],
          step_.results);
      costs.push_back(
          config.has_value()
              ? planning::ScoreSegment(step_, type, configuration, *config)
              : planning::SegmentCost());
    }
    return costs;
  }

  // As the first segment of the stage that reads it has it, where there is
  // one: those behind it reshard inside.
  void WriteArguments() {
    const ir::Module& module = analysis_.module;
    for (size_t number = 0; number < module.parameters.size(); ++number) {
      const ir::ValueId id = module.parameters[number];
      for (SegmentIndex s = stage_.first(); s < stage_.end(); ++s) {
        const auto sharding = In(s, id, /*leaving=*/false);
        if (!sharding.has_value()) continue;
        const ir::Instruction& it = module.at(id);
        v1::PlanArgument& argument = *out_.add_arguments();
        argument.set_index(static_cast<int>(number));
        argument.set_name(exporting::NameArgument(it));
        argument.set_role(segmenter::NameRole(analysis_.passes.roles[number]));
        Shape(it.shape, *sharding, argument);
        break;
      }
    }
  }

  void WriteOutputs() {
    const ir::Module& module = analysis_.module;
    for (size_t number = 0; number < module.outputs.size(); ++number) {
      const ir::ValueId id = module.outputs[number];
      const std::optional<SegmentIndex> owner =
          analysis_.plan.owner[id].FindSegment();
      if (!owner.has_value() || *owner < stage_.first() ||
          *owner >= stage_.end()) {
        continue;
      }
      const auto sharding = In(*owner, id, /*leaving=*/true);
      if (!sharding.has_value()) continue;
      v1::PlanArgument& output = *out_.add_outputs();
      output.set_index(static_cast<int>(number));
      output.set_role("result");
      for (size_t p = 0; p < module.parameters.size(); ++p) {
        if (analysis_.passes.state_output[p] != static_cast<int>(number)) {
          continue;
        }
        output.set_role(segmenter::NameRole(analysis_.passes.roles[p]));
        output.set_name(
            exporting::NameArgument(module.at(module.parameters[p])));
      }
      Shape(module.at(id).shape, *sharding, output);
    }
  }

  static void Shape(const ir::Shape& shape, const space::Sharding& sharding,
                    v1::PlanArgument& argument) {
    argument.set_sharding(exporting::FormatSharding(sharding, shape.rank()));
    for (const int64_t dim : shape.dims) argument.add_shape(dim);
  }

  std::optional<space::Sharding> In(SegmentIndex segment, ir::ValueId id,
                                    bool leaving) const {
    return FindTensorSharding(step_, segment, GetConfiguration(segment), id,
                              leaving);
  }

  void WriteFigures() {
    const StageWork& work = stage_.work;
    out_.set_forward_seconds(ToSeconds(work.stage.forward));
    out_.set_backward_input_seconds(ToSeconds(work.stage.backward_input));
    out_.set_backward_weight_seconds(ToSeconds(work.stage.backward_weight));
    out_.set_backward_seconds(ToSeconds(work.stage.Backward()));
    out_.set_update_seconds(ToSeconds(work.update));
    out_.set_split_estimated(work.estimated);
    out_.set_activation_bytes(work.stage.activation_bytes);
    out_.set_delayed_bytes(work.stage.ComputeDelayedBytes());
    out_.set_persistent_bytes(work.stage.persistent_bytes);
    planning::AddAnchors(step_.time_base, *out_.mutable_anchors());
    // Of what was measured, which is one micro-batch's, or all of its own.
    const double times = static_cast<double>(whole_.terms.micro_batches) /
                         whole_.terms.own_micro_batches;
    double communication = 0;
    double median = ToSeconds(stage_.run.resharding);
    for (const planning::SegmentCost& cost : costs_) {
      communication += cost.communication_seconds;
      median += cost.median_seconds;
    }
    const double whole = ToSeconds(stage_.run.time);
    const double busy =
        ToSeconds(whole_.terms.micro_batches *
                      (work.stage.forward +
                       pipeline::ComputeBackward(schedule_, work.stage)) +
                  work.update);
    v1::PlanPrediction& predicted = *out_.mutable_predicted();
    predicted.set_step_seconds(busy);
    predicted.set_resharding_seconds(times * ToSeconds(stage_.run.resharding));
    predicted.set_communication_seconds(
        std::min(busy, times * communication + predicted.resharding_seconds()));
    predicted.set_compute_seconds(busy - predicted.communication_seconds());
    const double low = whole - ToSeconds(stage_.run.noise.below);
    const double high =
        std::max(median, whole + ToSeconds(stage_.run.noise.above));
    predicted.add_interval_seconds(whole > 0 ? busy * (low / whole) : 0);
    predicted.add_interval_seconds(whole > 0 ? busy * (high / whole) : 0);
  }

  const MeasuredMeshes& whole_;
  const planning::MeasuredStep& step_;
  const segmenter::Analysis& analysis_;
  const ChosenStage& stage_;
  const pipeline::Schedule schedule_;
  const std::vector<planning::SegmentCost> costs_;
  v1::PlanStage& out_;
};

}  // namespace

space::SegmentChoice MakeWholeChoice(const MeasuredMeshes& step,
                                     const ChosenStage& stage) {
  space::SegmentChoice choice(step.Segments(), 0);
  std::copy(stage.run.choice.begin(), stage.run.choice.end(),
            choice.begin() + static_cast<int64_t>(stage.first()));
  return choice;
}

void DescribeStage(const MeasuredMeshes& step, const ChosenStage& stage,
                   pipeline::Schedule schedule, v1::PlanStage& out) {
  StageWriter(step, stage, schedule, out).Write();
}

}  // namespace meshwright::stages
