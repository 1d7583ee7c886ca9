#include "coordinator/segmenter/segments/segments.h"

#include <algorithm>
#include <utility>

#include "coordinator/segmenter/segments/gradient_flow.h"
#include "coordinator/segmenter/segments/loop_groups.h"
#include "coordinator/segmenter/segments/placement_steps.h"
#include "coordinator/segmenter/segments/prologue.h"

namespace meshwright::segmenter {
namespace {

using ir::ValueId;

// Random keys are made in the prologue, with all that they are made of.
void AddRandomKeys(const Placement& at, std::vector<char>& prologue) {
  std::vector<char> wanted = at.passes.random_key;
  for (const ValueId id : at.module.ids().Reversed()) {
    if (!wanted[id] || !at.passes.forward[id] || !at.Owned(id)) continue;
    prologue[id] = 1;
    for (ValueId operand : at.module.at(id).operands) wanted[operand] = 1;
  }
}

// The last segment is one of several equal ones, so that its operations must
// not be mixed with the loss.
bool Repeats(const BlockGraph& blocks, const std::vector<Segment>& cover) {
  const std::vector<uint64_t> last = ListBlockHashes(blocks, cover.back());
  return !last.empty() &&
         std::any_of(cover.begin(), cover.end() - 1, [&](const Segment& it) {
           return ListBlockHashes(blocks, it) == last;
         });
}

// The plan's segments: the prologue, the cover and what follows the last block.
void ListSegments(const std::vector<Segment>& cover,
                  const std::vector<char>& prologue, Placement& at) {
  std::vector<Segment>& segments = at.plan.segments;
  at.has_prologue =
      std::find(prologue.begin(), prologue.end(), 1) != prologue.end();
  if (at.has_prologue) segments.push_back({0, 0});
  segments.insert(segments.end(), cover.begin(), cover.end());
  at.last = at.tail = SegmentIndex(segments.size() - 1);
  const bool in_loop = std::count(at.kept_cover.begin(), at.kept_cover.end(),
                                  cover.size() - 1) > 0;
  if ((in_loop || Repeats(at.blocks, cover)) && HasTail(at)) {
    const int end = static_cast<int>(at.blocks.blocks.size());
    segments.push_back({end, end});
    at.tail = SegmentIndex(at.last + 1);
  }
}

std::vector<SegmentIndex> FindSegmentOfBlock(const Placement& at) {
  std::vector<SegmentIndex> found(at.blocks.blocks.size());
  for (SegmentIndex s; s < at.plan.segments.size(); ++s) {
    const Segment& segment = at.plan.segments[s];
    std::fill(found.begin() + segment.first_block,
              found.begin() + segment.last_block, s);
  }
  return found;
}

}  // namespace

SegmentPlan PlanSegments(const StepView& step,
                         const std::vector<int>& configurations) {
  const std::vector<ParallelBlock>& blocks = step.blocks.blocks;
  const LoopGroups groups = FindLoopGroups(step.module, step.gradients);
  const int count = static_cast<int>(blocks.size());
  const auto group_of = [&](int block) {
    return groups.Find(step.module, blocks[block].roots[0]);
  };
  std::vector<Segment> cover;
  bool cut_short = false;
  for (int first = 0, last = 0; first < count; first = last) {
    const std::optional<int> group = group_of(first);
    std::vector<uint64_t> hashes;
    std::vector<int> choices;
    for (; last < count && group_of(last) == group; ++last) {
      hashes.push_back(blocks[last].hash);
      choices.push_back(configurations[last]);
    }
    if (group.has_value()) {
      cover.push_back({first, last});
      continue;
    }
    for (Segment segment : CoverSequence(hashes, choices, &cut_short)) {
      cover.push_back(
          {segment.first_block + first, segment.last_block + first});
    }
  }
  SegmentPlan plan = PlaceSegments(step, std::move(cover));
  if (cut_short) {
    plan.cut_short.push_back(
        "the search for blocks that repeat ended at its bound: the step may "
        "have more segment types, and more programs, than it needs");
  }
  return plan;
}

SegmentPlan PlaceSegments(const StepView& step, std::vector<Segment> cover) {
  const LoopGroups groups = FindLoopGroups(step.module, step.gradients);
  Placement at(step, groups);
  at.plan.owner.resize(step.module.size());
  at.repeats.assign(step.module.size(), 0);
  FindScalarLike(at);
  if (cover.empty()) cover.push_back({0, 0});  // no contraction at all
  KeepGroups(cover, at);
  bool cut_short = false;
  std::vector<char> prologue = FindPrologue(step, cover, cut_short);
  if (cut_short) {
    at.plan.cut_short.push_back(
        "the search for where the first segment begins ended at its bound: it "
        "may hold operations that segments of its kind do not");
  }
  AddRandomKeys(at, prologue);
  for (const ValueId id : step.module.ids()) {
    if (at.KeptSegment(id).has_value()) prologue[id] = 0;
  }
  ListSegments(cover, prologue, at);
  PlaceForward(prologue, FindSegmentOfBlock(at), at);
  const GradientFlow flow = FindGradientFlow(at);
  PlaceGradients(flow, at);
  PlaceUpdates(flow, at);
  GatherTuples(at);
  GatherSmallLoops(at);
  return std::move(at.plan);
}

}  // namespace meshwright::segmenter
