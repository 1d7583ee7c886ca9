#include "coordinator/stages/pass_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/programs/inputs.h"
#include "coordinator/space/rematerialization/groups.h"

namespace meshwright::stages {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

bool Has(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

class PassProgramsTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto analysis = segmenter::AnalyzeSample(GetParam(), {1, 2});
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    analysis_ = *std::move(analysis);
    context_.mesh = analysis_.mesh;
    passes_ = FindPasses(analysis_);
    inputs_ = space::MakeArgumentInputs(analysis_);
    space_ = BuildProfileSpace(analysis_, context_);
  }

  // Of every type, as it is and recomputing.
  template <typename Check>
  void ForEachType(const Check& check) const {
    for (SegmentTypeId type; type < analysis_.types.size(); ++type) {
      const SegmentIndex segment = analysis_.types[type];
      SCOPED_TRACE(testing::Message() << "segment " << segment);
      check(type, segment, space::Rematerialization());
      SCOPED_TRACE("recomputing");
      const space::Rematerialization rematerialization =
          space::FindRematerializationInRole(analysis_,
                                             analysis_.graphs[segment], {});
      if (!rematerialization.empty()) check(type, segment, rematerialization);
    }
  }

  // Of a part, or of everything.
  int Contractions(SegmentTypeId type, const space::ProgramPart& part,
                   bool recompute) const {
    if (!part.computed.empty() && part.empty()) return 0;
    space::ProgramExtent extent;
    extent.recompute = recompute;
    extent.part = part;
    const v1::Program program =
        MakeSegmentProgram(analysis_, analysis_.graphs[analysis_.types[type]],
                           space_.types[type].configurations[0].annotation,
                           inputs_, context_, extent);
    const auto module = ir::LoadModule(program.hlo_module());
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return 0;
    EXPECT_EQ(static_cast<int>(module->parameters.size()),
              program.inputs_size());
    int count = 0;
    for (const ir::ValueId id : module->ids()) {
      count += ir::IsContraction(*module, id);
    }
    return count;
  }

  Analysis analysis_;
  StepPasses passes_;
  space::KeyContext context_;
  std::vector<v1::InputSpec> inputs_;
  space::ProfileSpace space_;
};

// Whatever a part reads is an argument of the segment, computed by itself or by
// everybody, or handed over by a part before it; and every output leaves one.
TEST_P(PassProgramsTest, WhatAPartReadsWasHandedOver) {
  int kept = 0;
  ForEachType([&](SegmentTypeId, SegmentIndex segment,
                  const space::Rematerialization& rematerialization) {
    const SegmentGraph& graph = analysis_.graphs[segment];
    const PassPrograms parts =
        FindPassPrograms(analysis_, passes_, segment, rematerialization);
    for (const space::ProgramPart* part :
         {&parts.forward, &parts.backward, &parts.backward_input,
          &parts.backward_weight, &parts.update}) {
      for (int i = graph.input_count; i < static_cast<int>(graph.values.size());
           ++i) {
        if (!part->computed[i]) continue;
        for (const int operand : graph.values[i].operands) {
          const bool nobodys =
              !analysis_.plan.owner[graph.values[operand].origin].IsSegment();
          const bool again = rematerialization.ReadsRecomputed(i, operand);
          const bool handed =
              Has(parts.forward.leaving, operand) ||
              (part == &parts.update && Has(parts.backward.leaving, operand)) ||
              (part == &parts.backward_weight &&
               Has(parts.backward_input.leaving, operand));
          EXPECT_TRUE(graph.is_input(operand) || nobodys || again || handed ||
                      part->computed[operand])
              << analysis_.module.at(graph.values[i].origin).name() << " reads "
              << analysis_.module.at(graph.values[operand].origin).name();
          const ir::Opcode opcode =
              analysis_.module.at(graph.values[operand].origin).opcode;
          if (part == &parts.backward_weight && !again &&
              !part->computed[operand] && (handed || graph.is_input(operand)) &&
              opcode != ir::Opcode::kParameter) {
            EXPECT_TRUE(Has(parts.delayed, operand));
          }
        }
      }
    }
    for (const int output : graph.outputs) {
      const ir::ValueId id = graph.values[output].origin;
      if (!analysis_.plan.owner[id].IsSegment()) continue;
      EXPECT_TRUE(Has(parts.forward.leaving, output) ||
                  Has(parts.backward.leaving, output) ||
                  Has(parts.update.leaving, output))
          << analysis_.module.at(id).name();
    }
    for (const int value : parts.backward.leaving) {
      EXPECT_TRUE(Has(parts.backward_input.leaving, value) ||
                  Has(parts.backward_weight.leaving, value));
    }
    for (size_t i = 0; i < graph.values.size(); ++i) {
      if (parts.forward.computed[i]) continue;  // forms may be made twice
      EXPECT_EQ(
          parts.backward.computed[i],
          parts.backward_input.computed[i] + parts.backward_weight.computed[i]);
    }
    kept += parts.forward.leaving.size() >
            ListPassOutputs(analysis_, passes_, segment).forward.size();
  });
  EXPECT_GT(kept, 0);
}

TEST_P(PassProgramsTest, PartsComputeWhatTheWholeDoes) {
  ForEachType([&](SegmentTypeId type, SegmentIndex segment,
                  const space::Rematerialization& rematerialization) {
    const PassPrograms parts =
        FindPassPrograms(analysis_, passes_, segment, rematerialization);
    const bool recompute = !rematerialization.empty();
    const int whole = Contractions(type, {}, recompute);
    const int backward = Contractions(type, parts.backward, recompute);
    EXPECT_EQ(whole, Contractions(type, parts.forward, false) + backward +
                         Contractions(type, parts.update, false));
    const int apart = Contractions(type, parts.backward_input, recompute) +
                      Contractions(type, parts.backward_weight, recompute);
    EXPECT_GE(apart, backward);  // both may compute the same again
    if (!recompute) {
      EXPECT_EQ(apart, backward);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Models, PassProgramsTest,
                         testing::Values("llama_tiny", "gpt2_tiny", "bert_tiny",
                                         "moe_tiny", "t5_tiny", "vit_tiny",
                                         "albert_tiny", "unet_tiny",
                                         "convnet_tiny", "scan_tiny"));

}  // namespace
}  // namespace meshwright::stages
