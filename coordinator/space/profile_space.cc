#include "coordinator/space/profile_space.h"

#include "absl/strings/str_cat.h"
#include "base/thread_pool.h"
#include "coordinator/space/configurations/block_configurations.h"
#include "coordinator/space/configurations/reduced_gradients.h"
#include "coordinator/space/configurations/segment_memory.h"
#include "coordinator/space/programs/inputs.h"
#include "coordinator/space/programs/loop_programs.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

// Configurations of one type -> their programs and bytes; returns how many
// programs that takes, those of every configuration counted.
int MakePrograms(const Analysis& analysis, SegmentTypeId type,
                 const std::vector<v1::InputSpec>& inputs,
                 const KeyContext& context, ProgramSet& programs,
                 std::vector<Configuration>& configurations) {
  const SegmentGraph& graph = analysis.graphs[analysis.types[type]];
  const bool free = IsFree(analysis, graph);
  const BackwardReads reads(segmenter::SegmentView(analysis, graph));
  std::vector<ProgramSet> made(configurations.size());
  base::ParallelFor(static_cast<int>(made.size()), [&](int c) {
    Configuration& configuration = configurations[c];
    CountBytes(analysis, graph, reads, context.mesh, configuration);
    configuration.reduced_bytes = CountReducedBytes(
        analysis, graph, configuration.annotation, context.mesh);
    if (free) return;
    MakeSegmentPrograms(
        analysis, graph, inputs, context,
        absl::StrCat("type ", type.value(), ": ", configuration.describe),
        made[c], configuration);
  });
  int count = 0;
  for (size_t c = 0; c < made.size() && !free; ++c) {
    const std::vector<ProgramId> kept = programs.Keep(std::move(made[c]));
    count += static_cast<int>(kept.size());
    configurations[c].program = kept[*configurations[c].program];
    for (Correction& correction : configurations[c].corrections) {
      correction.program = kept[correction.program];
    }
  }
  return count;
}

std::vector<Sharding> Splits(const Analysis& analysis,
                             const ProfileSpace& space, SegmentIndex segment,
                             int configuration,
                             const std::vector<int>& values) {
  const SegmentType& type = space.types[analysis.type_of_segment[segment]];
  return GetSplits(analysis, segment, type.configurations[configuration],
                   values, space.context.mesh);
}

}  // namespace

ProfileSpace BuildProfileSpace(const Analysis& analysis,
                               const KeyContext& context) {
  ProfileSpace space;
  space.context = context;
  space.types.resize(analysis.types.size());
  space.shared = FindSharedParameters(analysis);
  space.links = FindParameterLinks(analysis);
  for (const bool with_blocks : {true, false}) {
    for (SegmentTypeId t; t < analysis.types.size(); ++t) {
      const SegmentIndex segment = analysis.types[t];
      if (HasBlocks(analysis, segment) != with_blocks) continue;
      space.types[t] =
          with_blocks ? MakeBlockConfigurations(analysis, segment, context.mesh)
                      : EndConfigurations(analysis, segment, space.types,
                                          space.shared, context.mesh);
    }
    if (with_blocks) Widen(analysis, space.links, context.mesh, space.types);
  }
  DropConflictingLinks(analysis, space.types, context.mesh, space.links);
  const std::vector<v1::InputSpec> inputs = MakeArgumentInputs(analysis);
  ProgramSet programs;
  for (SegmentTypeId t; t < analysis.types.size(); ++t) {
    space.segment_programs += MakePrograms(
        analysis, t, inputs, context, programs, space.types[t].configurations);
  }
  Boundaries boundaries =
      FindBoundaries(analysis, space.types, context, programs);
  space.boundaries = std::move(boundaries.boundaries);
  space.edges = std::move(boundaries.edges);
  space.resharding_programs = boundaries.resharding_programs;
  space.programs = std::move(programs).Take();
  return space;
}

absl::Status CheckConfigurations(const Analysis& analysis,
                                 const ProfileSpace& space) {
  for (size_t t = 0; t < space.types.size(); ++t) {
    if (!space.types[t].configurations.empty()) continue;
    const segmenter::Segment& segment =
        analysis.plan.segments[analysis.types[t]];
    return absl::InvalidArgumentError(
        HasBlocks(analysis, analysis.types[t])
            ? absl::StrCat("the forbidden shardings of arguments leave blocks ",
                           segment.first_block, " to ", segment.last_block - 1,
                           " no configuration; forbid fewer, or open more")
            : "the forbidden shardings of arguments leave the prologue or "
              "epilogue no configuration; forbid fewer, or open more");
  }
  return absl::OkStatus();
}

bool SplitAlike(const Analysis& analysis, const ProfileSpace& space,
                const SharedParameter& shared, int end_configuration,
                int block_configuration) {
  return Splits(analysis, space, shared.end_segment, end_configuration,
                {shared.end_value}) ==
         Splits(analysis, space, shared.block_segment, block_configuration,
                {shared.block_value});
}

bool SplitAlike(const Analysis& analysis, const ProfileSpace& space,
                const ParameterLink& link, int from_configuration,
                int to_configuration) {
  return Splits(analysis, space, link.from_segment, from_configuration,
                link.ListValues(true)) ==
         Splits(analysis, space, link.to_segment, to_configuration,
                link.ListValues(false));
}

}  // namespace meshwright::space
