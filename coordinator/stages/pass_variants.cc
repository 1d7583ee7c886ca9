#include "coordinator/stages/pass_variants.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "coordinator/space/programs/inputs.h"
#include "coordinator/space/programs/loop_programs.h"
#include "coordinator/stages/gradient_sums.h"

namespace meshwright::stages {
namespace {

// The programs of a configuration as they are measured beside those.
void KeepBeside(const std::string& those,
                const std::vector<v1::Program>& programs,
                space::ProgramSet& set, space::Configuration& configuration) {
  const auto keep = [&](int& index) {
    if (index < 0) return;
    v1::Program program = programs[index];
    program.set_key(
        base::Sha256Hex(absl::StrCat(program.key(), " beside ", those)));
    const std::string label = program.label();
    index = set.Keep(std::move(program), label);
  };
  keep(configuration.program);
  for (space::Correction& it : configuration.corrections) keep(it.program);
}

}  // namespace

PassVariantMaker::PassVariantMaker(const planning::MeasuredStep& step,
                                   const StepPasses& passes,
                                   int64_t micro_batches, bool sums)
    : step_(step),
      step_passes_(passes),
      micro_batches_(micro_batches),
      sums_(sums),
      inputs_(space::ArgumentInputs(step.analysis)) {
  for (const int segment : step.analysis.types) {
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
  const int segment = step_.analysis.types[choice.type];
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
  const int segment = step_.analysis.types[choice.type];
  space::ProgramSet parts;
  for (const space::ProgramPart& wanted : ListParts(choice)) {
    space::Configuration& part = variants.parts.emplace_back(At(choice));
    part.program = -1;
    part.weight = 1;
    part.corrections.clear();
    if (wanted.leaving.empty()) continue;  // no time
    space::MakeSegmentPrograms(
        step_.analysis, step_.analysis.graphs[segment], inputs_,
        step_.space.context,
        absl::StrCat("type ", choice.type, " ", At(choice).describe, ", pass ",
                     variants.parts.size() - 1),
        parts, part, wanted);
  }
  variants.sums.program = -1;
  if (sums_) {
    auto sums = GradientSums(
        step_.analysis, step_.analysis.graphs[segment], At(choice).annotation,
        weight_gradients_[choice.type], step_.space.context);
    if (sums.has_value()) {
      variants.sums.program =
          parts.Keep(*std::move(sums),
                     absl::StrCat("type ", choice.type, " ",
                                  At(choice).describe, ", sums of gradients"));
    }
  }
  const std::vector<v1::Program> programs = std::move(parts).Take();
  variants.whole = At(choice);
  // All of them or none: a new one has all measured again.
  std::string beside = step_.space.programs[At(choice).program].key();
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
