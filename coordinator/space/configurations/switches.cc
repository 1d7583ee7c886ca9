#include "coordinator/space/configurations/switches.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/space/annotation/grouped_sums.h"
#include "coordinator/space/annotation/respecify.h"
#include "coordinator/space/annotation/sequence_split.h"
#include "coordinator/space/annotation/state_sharding.h"
#include "coordinator/space/rematerialization/groups.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;
using segmenter::SegmentSwitch;
using segmenter::Strategy;

// Calls visit(argument number, value) for every argument the segment reads.
template <typename Visit>
void ForEachArgument(const Analysis& analysis, const SegmentGraph& graph,
                     Visit visit) {
  for (int i = 0; i < graph.input_count; ++i) {
    const ir::Instruction& it = analysis.module.at(graph.values[i].origin);
    if (it.opcode != ir::Opcode::kParameter) continue;
    visit(static_cast<int>(it.attributes().parameter_number()), i);
  }
}

// A pinned argument comes and goes as pinned, and is used as it would be.
void PinArguments(const Analysis& analysis, const SegmentGraph& graph,
                  const Mesh& mesh, SegmentAnnotation& annotation) {
  const auto& pinned = analysis.allowed.pinned_arguments;
  if (pinned.empty()) return;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (mesh[axis] < 2) continue;
    Respecifier respecifier(analysis, graph, annotation, static_cast<int>(axis),
                            mesh);
    ForEachArgument(analysis, graph, [&](int number, int value) {
      const auto found = pinned.find(number);
      if (found != pinned.end()) respecifier.Change(value, found->second[axis]);
    });
    annotation.axes[axis] = respecifier.Finish();
  }
}

bool IsForbidden(const Analysis& analysis, const SegmentGraph& graph,
                 const Mesh& mesh, const SegmentAnnotation& annotation) {
  const auto& forbidden = analysis.allowed.forbidden_arguments;
  if (forbidden.empty()) return false;
  bool found = false;
  ForEachArgument(analysis, graph, [&](int number, int value) {
    const ir::Shape& shape =
        analysis.module.at(graph.values[value].origin).shape;
    for (const auto& [argument, sharding] : forbidden) {
      found |= argument == number &&
               annotation.GetSharding(value, shape, mesh) == sharding;
    }
  });
  return found;
}

void NoteKeptWhole(SegmentSwitch which, const std::vector<int>& values,
                   SegmentType& type) {
  std::set<int> known;
  for (const KeptWhole& it : type.kept_whole) {
    if (it.segment_switch == which) known.insert(it.value);
  }
  for (int value : values) {
    if (known.insert(value).second) type.kept_whole.push_back({which, value});
  }
}

void Describe(const std::string& name, Configuration& configuration) {
  absl::StrAppend(&configuration.describe,
                  configuration.describe.empty() ? "" : "; ", name);
}

// The roles that a segment may have in a group.
void AppendGrouped(const Analysis& analysis, const SegmentGraph& graph,
                   const Configuration& plain, SegmentType& type) {
  if (FindLinks(analysis, graph.segment).empty()) return;
  for (const GroupRole role : {GroupRole{false, true}, GroupRole{true, true},
                               GroupRole{true, false}}) {
    Configuration grouped = plain;
    grouped.recompute = true;
    grouped.role = role;
    Describe(NameRole(role), grouped);
    type.configurations.push_back(std::move(grouped));
  }
}

}  // namespace

void AppendVariants(const Analysis& analysis, const SegmentGraph& graph,
                    const std::vector<const Strategy*>& strategies,
                    const Configuration& plain, const Mesh& mesh,
                    SegmentType& type) {
  const size_t first = type.configurations.size();
  const int splits = first == 0 ? 0 : type.configurations.back().splits + 1;
  std::vector<SegmentSwitch> switches =
      segmenter::ListSwitches(analysis, graph.segment);
  const bool recompute = std::erase(switches, SegmentSwitch::kRecompute) > 0 &&
                         !strategies.empty() &&
                         !FindRematerialization(analysis, graph).empty();
  const bool only_recompute = recompute && switches.empty();
  if (switches.empty()) switches.push_back(SegmentSwitch::kNone);
  for (const SegmentSwitch which : switches) {
    Configuration variant = plain;
    variant.segment_switch = which;
    variant.splits = splits;
    if (which == SegmentSwitch::kFullySharded ||
        which == SegmentSwitch::kOptimizerSharded) {
      std::vector<int> kept_whole;
      variant.annotation =
          ShardState(analysis, graph, strategies, plain.annotation,
                     which == SegmentSwitch::kFullySharded, mesh, &kept_whole);
      NoteKeptWhole(which, kept_whole, type);
    } else if (which == SegmentSwitch::kSequence) {
      variant.annotation =
          SplitSequence(analysis, graph, strategies, plain.annotation, mesh);
    }
    if (variant.annotation.axes == plain.annotation.axes) {
      variant.segment_switch = SegmentSwitch::kNone;
    }
    PinArguments(analysis, graph, mesh, variant.annotation);
    SpreadGroupedSums(analysis, graph, mesh, variant.annotation);
    if (IsForbidden(analysis, graph, mesh, variant.annotation)) continue;
    const bool known =
        std::any_of(type.configurations.begin() + first,
                    type.configurations.end(), [&](const Configuration& it) {
                      return it.annotation.axes == variant.annotation.axes;
                    });
    if (known) continue;
    if (variant.segment_switch != SegmentSwitch::kNone) {
      Describe(segmenter::NameSwitch(variant.segment_switch), variant);
    }
    if (recompute) {
      Configuration again = variant;
      again.recompute = true;
      Describe(segmenter::NameSwitch(SegmentSwitch::kRecompute), again);
      const auto& grouped = analysis.request.grouped;
      if (std::count(grouped.begin(), grouped.end(), again.describe) > 0) {
        AppendGrouped(analysis, graph, variant, type);
      }
      type.configurations.push_back(std::move(again));
      if (only_recompute) continue;
    }
    type.configurations.push_back(std::move(variant));
  }
}

std::vector<int> FindPlainConfigurations(const SegmentType& type) {
  std::map<int, int> first;
  std::vector<int> plain;
  for (const Configuration& it : type.configurations) {
    plain.push_back(
        first.emplace(it.splits, static_cast<int>(plain.size())).first->second);
  }
  return plain;
}

}  // namespace meshwright::space
