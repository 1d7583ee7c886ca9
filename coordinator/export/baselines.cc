#include "coordinator/export/baselines.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "coordinator/export/op_level.h"
#include "coordinator/segmenter/baseline_strategies.h"

namespace meshwright::exporting {
namespace {

using segmenter::Analysis;
using segmenter::SegmentIndex;
using segmenter::SegmentSwitch;

bool HasSwitch(const space::ProfileSpace& space, SegmentSwitch which) {
  for (const space::SegmentType& type : space.types) {
    for (const space::Configuration& it : type.configurations) {
      if (it.segment_switch == which) return true;
    }
  }
  return false;
}

// How many boundary tensors and shared parameters the ends around `segment`
// split otherwise than their neighbours do.
int Mismatches(const Analysis& analysis, const space::ProfileSpace& space,
               const space::SegmentChoice& choice, SegmentIndex segment) {
  int mismatches = 0;
  for (const auto& [pair, boundary] : space.edges) {
    const auto [from, to] = pair;
    if (from != segment && to != segment) continue;
    mismatches += static_cast<int>(
        space.boundaries[boundary].programs[choice[from]][choice[to]].size());
  }
  for (const space::SharedParameter& shared : space.shared) {
    if (shared.end_segment != segment) continue;
    mismatches += !SplitAlike(analysis, space, shared, choice[segment],
                              choice[shared.block_segment]);
  }
  return mismatches;
}

// Segments of blocks that share parameters agree: those of more blocks keep
// what they have, the others take the nearest configuration that splits all
// they share with these alike.
class SharedUnifier {
 public:
  SharedUnifier(const Analysis& analysis, const space::ProfileSpace& space,
                space::SegmentChoice& choice)
      : analysis_(analysis), space_(space), choice_(choice) {}

  void Run() {
    std::set<SegmentIndex> linked;
    for (const space::ParameterLink& link : space_.links) {
      linked.insert({link.from_segment, link.to_segment});
    }
    std::vector<SegmentIndex> order(linked.begin(), linked.end());
    std::stable_sort(order.begin(), order.end(),
                     [&](SegmentIndex a, SegmentIndex b) {
                       return CountBlocks(a) > CountBlocks(b);
                     });
    for (const SegmentIndex segment : order) {
      ChooseOne(segment);
      decided_.insert(segment);
    }
  }

 private:
  int CountBlocks(SegmentIndex segment) const {
    const segmenter::Segment& it = analysis_.plan.segments[segment];
    return it.last_block - it.first_block;
  }

  const std::vector<space::Configuration>& GetConfigurations(
      SegmentIndex segment) const {
    return space_.types[analysis_.type_of_segment[segment]].configurations;
  }

  bool Agrees(SegmentIndex segment, int configuration) const {
    return std::all_of(
        space_.links.begin(), space_.links.end(),
        [&](const space::ParameterLink& link) {
          const bool from = link.from_segment == segment;
          if (!from && link.to_segment != segment) return true;
          const SegmentIndex other = from ? link.to_segment : link.from_segment;
          if (!decided_.contains(other)) return true;
          return SplitAlike(analysis_, space_, link,
                            from ? configuration : choice_[other],
                            from ? choice_[other] : configuration);
        });
  }

  // How far a configuration is from the one chosen: blocks, then what differs
  // beside their strategies.
  std::tuple<int, bool, bool> Distance(SegmentIndex segment,
                                       int configuration) const {
    const auto& all = GetConfigurations(segment);
    const space::Configuration& own = all[choice_[segment]];
    const space::Configuration& it = all[configuration];
    int blocks = 0;
    for (size_t b = 0; b < own.strategies.size(); ++b) {
      blocks += own.strategies[b] != it.strategies[b];
    }
    return {blocks, own.segment_switch != it.segment_switch,
            own.recompute != it.recompute || !(own.role == it.role)};
  }

  void ChooseOne(SegmentIndex segment) {
    if (Agrees(segment, choice_[segment])) return;
    std::optional<int> best;
    const int count = static_cast<int>(GetConfigurations(segment).size());
    for (int c = 0; c < count; ++c) {
      const bool nearer =
          !best.has_value() || Distance(segment, c) < Distance(segment, *best);
      if (nearer && Agrees(segment, c)) best = c;
    }
    choice_[segment] = best.value_or(choice_[segment]);
  }

  const Analysis& analysis_;
  const space::ProfileSpace& space_;
  space::SegmentChoice& choice_;
  std::set<SegmentIndex> decided_;
};

void FitEnds(const Analysis& analysis, const space::ProfileSpace& space,
             space::SegmentChoice& choice, SegmentSwitch wanted) {
  for (SegmentIndex s; s < choice.size(); ++s) {
    const segmenter::Segment& segment = analysis.plan.segments[s];
    if (segment.first_block < segment.last_block) continue;
    const auto& configurations =
        space.types[analysis.type_of_segment[s]].configurations;
    std::pair<int, bool> best = {INT32_MAX, true};
    space::SegmentChoice trial = choice;
    for (size_t c = 0; c < configurations.size(); ++c) {
      trial[s] = static_cast<int>(c);
      const std::pair<int, bool> found = {
          Mismatches(analysis, space, trial, s),
          configurations[c].segment_switch != wanted};
      if (found < best) {
        best = found;
        choice[s] = static_cast<int>(c);
      }
    }
  }
}

}  // namespace

space::SegmentChoice FromBlocks(const Analysis& analysis,
                                const space::ProfileSpace& space,
                                const std::vector<int>& by_block,
                                SegmentSwitch wanted_switch) {
  space::SegmentChoice choice(analysis.plan.segments.size(), 0);
  for (size_t s = 0; s < choice.size(); ++s) {
    const segmenter::Segment& segment = analysis.plan.segments[s];
    if (segment.first_block == segment.last_block) continue;
    const std::vector<int> wanted(by_block.begin() + segment.first_block,
                                  by_block.begin() + segment.last_block);
    const auto& configurations =
        space.types[analysis.type_of_segment[s]].configurations;
    std::optional<int> splits;  // of the first; others pin what is shared
    for (size_t c = 0; c < configurations.size(); ++c) {
      const space::Configuration& it = configurations[c];
      if (it.strategies != wanted || it.splits != splits.value_or(it.splits)) {
        continue;
      }
      const bool fits = !it.recompute && it.segment_switch == wanted_switch;
      if (!splits.has_value() || fits) choice[s] = static_cast<int>(c);
      splits = it.splits;
      if (fits) break;
    }
  }
  MakeConsistent(analysis, space, choice, wanted_switch);
  return choice;
}

void MakeConsistent(const Analysis& analysis, const space::ProfileSpace& space,
                    space::SegmentChoice& choice, SegmentSwitch wanted) {
  SharedUnifier(analysis, space, choice).Run();
  FitEnds(analysis, space, choice, wanted);
}

std::vector<NamedChoice> MakeBaselines(const Analysis& analysis,
                                       const space::ProfileSpace& space) {
  const std::vector<int> dp = segmenter::ChooseDataParallel(analysis);
  const auto plain = SegmentSwitch::kNone;
  std::vector<NamedChoice> baselines = {
      {"dp", FromBlocks(analysis, space, dp, plain)},
      {"tp", FromBlocks(analysis, space,
                        segmenter::ChooseTensorParallel(analysis), plain)}};
  const auto sharded = SegmentSwitch::kFullySharded;
  if (HasSwitch(space, sharded)) {
    baselines.push_back({"fsdp", FromBlocks(analysis, space, dp, sharded)});
  }
  return baselines;
}

std::vector<NamedChoice> MakeOpLevelBaselines(
    const Analysis& analysis, const space::ProfileSpace& space) {
  const AssumedDevice device = AssumeDevice(space.context.device_kind);
  std::vector<NamedChoice> baselines;
  const std::pair<const char*, intraop::CostKind> op_level[] = {
      {"alpa-like", intraop::CostKind::kCommunication},
      {"map", intraop::CostKind::kRoofline}};
  for (const auto& [name, cost] : op_level) {
    const auto plan =
        MakeOpLevelPlan(analysis, {.cost = cost, .device = device});
    if (!plan.ok() || !plan->answer.plan.has_value()) continue;
    baselines.push_back({name, FromBlocks(analysis, space, plan->by_block)});
  }
  return baselines;
}

}  // namespace meshwright::exporting
