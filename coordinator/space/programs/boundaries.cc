#include "coordinator/space/programs/boundaries.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "coordinator/space/configurations/end_configurations.h"
#include "coordinator/space/programs/resharding_program.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

// The segments that make what enters.
std::set<SegmentIndex> Makers(const Analysis& analysis,
                              const SegmentGraph& to) {
  std::set<SegmentIndex> makers;
  for (int input = 0; input < to.input_count; ++input) {
    const segmenter::Owner owner = analysis.plan.owner[to.values[input].origin];
    if (owner.IsSegment() && owner != to.segment) {
      makers.insert(owner.segment());
    }
  }
  return makers;
}

std::vector<BoundaryTensor> WithGradients(const SegmentGraph& from,
                                          const SegmentGraph& to) {
  std::map<ir::ValueId, int> exits;
  for (const segmenter::BoundaryPair& exit : from.exits) {
    exits.emplace(from.values[exit.activation].origin, exit.activation);
  }
  std::vector<BoundaryTensor> tensors;
  std::map<int, size_t> known;  // by the value in `to`
  for (const segmenter::BoundaryPair& entry : to.entries) {
    const auto exit = exits.find(to.values[entry.activation].origin);
    if (exit == exits.end()) continue;
    const auto [tensor, added] =
        known.emplace(entry.activation, tensors.size());
    if (added) tensors.push_back({exit->second, entry.activation, 0});
    ++tensors[tensor->second].gradients;
  }
  return tensors;
}

// Forward values that enter beside `tensors`.
std::vector<BoundaryTensor> Others(const Analysis& analysis,
                                   const SegmentGraph& from,
                                   const SegmentGraph& to,
                                   const std::vector<BoundaryTensor>& tensors) {
  std::vector<BoundaryTensor> others;
  std::map<ir::ValueId, int> outputs;
  for (int output : from.outputs) {
    outputs.emplace(from.values[output].origin, output);
  }
  std::set<int> with_gradients;
  for (const BoundaryTensor& it : tensors) with_gradients.insert(it.to_value);
  for (int input = 0; input < to.input_count; ++input) {
    const ir::ValueId origin = to.values[input].origin;
    const auto output = outputs.find(origin);
    if (output == outputs.end() || !analysis.passes.forward[origin] ||
        with_gradients.contains(input)) {
      continue;
    }
    others.push_back({output->second, input, 0});
  }
  return others;
}

// Whether every device has what it needs.
bool IsSliced(const Sharding& before, const Sharding& after) {
  for (size_t axis = 0; axis < before.size(); ++axis) {
    if (before[axis] != kWhole && before[axis] != after[axis]) return false;
  }
  return true;
}

// The shardings that a value has in any configuration.
std::set<Sharding> ListShardings(const Analysis& analysis,
                                 const SegmentGraph& graph, int value,
                                 const SegmentType& type, const Mesh& mesh) {
  std::set<Sharding> shardings;
  const ir::Shape& shape = analysis.module.at(graph.values[value].origin).shape;
  for (const Configuration& it : type.configurations) {
    shardings.insert(it.annotation.GetSharding(value, shape, mesh));
  }
  return shardings;
}

// Fills boundary.programs; returns the number of different pairs of shardings.
int MakePrograms(const Analysis& analysis,
                 const std::vector<Configuration>& sources,
                 const std::vector<Configuration>& targets,
                 const KeyContext& context, ProgramSet& programs,
                 Boundary& boundary) {
  const SegmentGraph& from = analysis.graphs[boundary.from_segment];
  boundary.programs.assign(sources.size(),
                           std::vector<std::vector<ProgramId>>(targets.size()));
  std::map<std::tuple<int, Sharding, Sharding>, ProgramId> made;
  for (size_t a = 0; a < sources.size(); ++a) {
    for (size_t b = 0; b < targets.size(); ++b) {
      for (size_t i = 0; i < boundary.tensors.size(); ++i) {
        const BoundaryTensor& tensor = boundary.tensors[i];
        const ir::Shape& shape =
            analysis.module.at(from.values[tensor.from_value].origin).shape;
        const Sharding before = sources[a].annotation.GetSharding(
            tensor.from_value, shape, context.mesh);
        const Sharding after = targets[b].annotation.GetSharding(
            tensor.to_value, shape, context.mesh);
        if (before == after) continue;
        if (tensor.gradients == 0 && IsSliced(before, after)) continue;
        const auto [found, added] =
            made.try_emplace({static_cast<int>(i), before, after});
        if (added) {
          found->second =
              programs.Keep(MakeReshardingProgram(shape, before, after,
                                                  tensor.gradients, context),
                            absl::StrCat("resharding ", Describe(before),
                                         " to ", Describe(after)));
        }
        boundary.programs[a][b].push_back(found->second);
      }
    }
  }
  return static_cast<int>(made.size());
}

// Tensors with gradients, then those that some configurations must send.
std::vector<BoundaryTensor> Crossing(const Analysis& analysis,
                                     SegmentIndex from, SegmentIndex to,
                                     const std::vector<SegmentType>& types,
                                     const Mesh& mesh) {
  const SegmentGraph& maker = analysis.graphs[from];
  const SegmentGraph& reader = analysis.graphs[to];
  std::vector<BoundaryTensor> tensors = WithGradients(maker, reader);
  // Values of the prologue for all layers (masks) are small, and would keep
  // every layer apart in the search.
  if (from > to || !HasBlocks(analysis, from)) return tensors;
  const auto shardings = [&](SegmentIndex segment, int value) {
    return ListShardings(analysis, analysis.graphs[segment], value,
                         types[analysis.type_of_segment[segment]], mesh);
  };
  for (const BoundaryTensor& it : Others(analysis, maker, reader, tensors)) {
    const std::set<Sharding> wanted = shardings(to, it.to_value);
    for (const Sharding& before : shardings(from, it.from_value)) {
      if (std::all_of(wanted.begin(), wanted.end(), [&](const auto& after) {
            return IsSliced(before, after);
          })) {
        continue;
      }
      tensors.push_back(it);
      break;
    }
  }
  return tensors;
}

// The ends reach several segments of one type, each with tensors of its own.
struct BoundaryKind {
  SegmentTypeId from_type;
  SegmentTypeId to_type;
  std::vector<BoundaryTensor> tensors;
  auto operator<=>(const BoundaryKind&) const = default;
};

}  // namespace

Boundaries FindBoundaries(const Analysis& analysis,
                          const std::vector<SegmentType>& types,
                          const KeyContext& context, ProgramSet& programs) {
  Boundaries out;
  std::map<BoundaryKind, int> known;
  for (SegmentIndex to; to < analysis.graphs.size(); ++to) {
    for (const SegmentIndex from : Makers(analysis, analysis.graphs[to])) {
      const BoundaryKind kind = {
          .from_type = analysis.type_of_segment[from],
          .to_type = analysis.type_of_segment[to],
          .tensors = Crossing(analysis, from, to, types, context.mesh)};
      if (kind.tensors.empty()) continue;
      const auto [found, added] =
          known.emplace(kind, static_cast<int>(out.boundaries.size()));
      if (added) {
        Boundary boundary{from, to, kind.tensors, {}};
        out.resharding_programs += MakePrograms(
            analysis, types[kind.from_type].configurations,
            types[kind.to_type].configurations, context, programs, boundary);
        out.boundaries.push_back(std::move(boundary));
      }
      out.edges.push_back({{from, to}, found->second});
    }
  }
  return out;
}

}  // namespace meshwright::space
