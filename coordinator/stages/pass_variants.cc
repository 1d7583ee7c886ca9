#include "coordinator/stages/pass_variants.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "coordinator/ir/opcode.h"
#include "coordinator/ir/write.h"
#include "coordinator/space/programs/inputs.h"
#include "coordinator/space/programs/loop_programs.h"

namespace meshwright::stages {
namespace {

using segmenter::SegmentIndex;

// The programs of a configuration as they are measured beside those.
void KeepBeside(const std::string& those,
                const std::vector<v1::Program>& programs,
                space::ProgramSet& set, space::Configuration& configuration) {
  const auto keep = [&](space::ProgramId& index) {
    v1::Program program = programs[index];
    program.set_key(
        base::Sha256Hex(absl::StrCat(program.key(), " beside ", those)));
    const std::string label = program.label();
    index = set.Keep(std::move(program), label);
  };
  if (configuration.program.has_value()) keep(*configuration.program);
  for (space::Correction& it : configuration.corrections) keep(it.program);
}

// The sums of the gradients of weights, in the memory of the sums, split as the
// gradients; nothing where nothing is summed.
std::optional<v1::Program> BuildGradientSums(
    const segmenter::Analysis& analysis, const segmenter::SegmentGraph& graph,
    const space::SegmentAnnotation& annotation,
    const std::vector<int>& gradients, const space::KeyContext& context) {
  const std::map<int64_t, const hlo::HloComputationProto*> no_computations;
  ir::ModuleWriter writer("sums", no_computations);
  v1::Program program;
  std::vector<int64_t> outputs;
  std::vector<ir::Alias> aliases;
  for (const int gradient : gradients) {
    const ir::Shape& shape =
        analysis.module.at(graph.values[gradient].origin).shape;
    if (!ir::IsFloating(shape.element_type)) continue;
    const hlo::OpSharding split =
        space::ToProto(annotation.GetSharding(gradient, shape, context.mesh),
                       shape, context.mesh);
    const int64_t sum = writer.AddParameter(shape, split);
    const int64_t one = writer.AddParameter(shape, split);
    for (int i = 0; i < 2; ++i) {
      *program.add_inputs() =
          space::MakeBoundaryInput(shape, static_cast<uint64_t>(gradient));
    }
    const auto output = static_cast<int>(outputs.size());
    aliases.push_back({output, 2 * output});
    outputs.push_back(writer.AddOp("add", shape, {sum, one}, split));
  }
  if (outputs.empty()) return std::nullopt;
  program.set_hlo_module(writer.Finish(outputs, aliases).SerializeAsString());
  program.set_num_partitions(
      static_cast<int>(space::CountDevices(context.mesh)));
  program.set_key(space::ComputeProgramKey(program, context));
  return program;
}

}  // namespace

PassVariantMaker::PassVariantMaker(const planning::MeasuredStep& step,
                                   const StepPasses& passes,
                                   int64_t micro_batches, bool sums)
    : step_(step),
      step_passes_(passes),
      micro_batches_(micro_batches),
      sums_(sums),
      inputs_(space::MakeArgumentInputs(step.analysis)) {
  for (const SegmentIndex segment : step.analysis.types) {
    passes_.push_back(ListPassOutputs(step.analysis, passes, segment));
    weight_gradients_.push_back(
        ListWeightGradients(step.analysis, passes, segment));
  }
}

std::vector<space::ProgramPart> PassVariantMaker::ListParts(
    const Choice& choice) const {
  const SegmentPasses& passes = passes_[choice.type];
  if (micro_batches_ > 1) {  // all gradients of a trip are measured already
    return {{.leaving = passes.forward},
            {.leaving = passes.with_input_gradients}};
  }
  PassPrograms parts = FindPrograms(choice);
  return {std::move(parts.forward), std::move(parts.backward),
          std::move(parts.backward_input), std::move(parts.backward_weight),
          std::move(parts.update)};
}

PassPrograms PassVariantMaker::FindPrograms(const Choice& choice) const {
  const SegmentIndex segment = step_.analysis.types[choice.type];
  space::Rematerialization rematerialization;
  if (At(choice).recompute) {
    rematerialization = space::FindRematerializationInRole(
        step_.analysis, step_.analysis.graphs[segment], {});
  }
  return FindPassPrograms(step_.analysis, step_passes_, segment,
                          rematerialization);
}

PassVariants PassVariantMaker::Make(const Choice& choice,
                                    space::ProgramSet& set) const {
  PassVariants variants;
  const SegmentIndex segment = step_.analysis.types[choice.type];
  space::ProgramSet parts;
  for (const space::ProgramPart& wanted : ListParts(choice)) {
    space::Configuration& part = variants.parts.emplace_back(At(choice));
    part.program.reset();
    part.weight = 1;
    part.corrections.clear();
    if (wanted.leaving.empty()) continue;  // no time
    space::MakeSegmentPrograms(
        step_.analysis, step_.analysis.graphs[segment], inputs_,
        step_.space.context,
        absl::StrCat("type ", choice.type.value(), " ", At(choice).describe,
                     ", pass ", variants.parts.size() - 1),
        parts, part, wanted);
  }
  variants.sums.program.reset();
  if (sums_) {
    auto sums = BuildGradientSums(
        step_.analysis, step_.analysis.graphs[segment], At(choice).annotation,
        weight_gradients_[choice.type], step_.space.context);
    if (sums.has_value()) {
      variants.sums.program =
          parts.Keep(*std::move(sums),
                     absl::StrCat("type ", choice.type.value(), " ",
                                  At(choice).describe, ", sums of gradients"));
    }
  }
  const std::vector<v1::Program> programs = std::move(parts).Take();
  variants.whole = At(choice);
  // All of them or none: a new one has all measured again.
  std::string beside = step_.space.programs[*At(choice).program].key();
  for (const v1::Program& program : programs) {
    absl::StrAppend(&beside, " ", program.key());
  }
  KeepBeside(beside, step_.space.programs, set, variants.whole);
  for (space::Configuration& part : variants.parts) {
    KeepBeside(beside, programs, set, part);
  }
  KeepBeside(beside, programs, set, variants.sums);
  return variants;
}

}  // namespace meshwright::stages
