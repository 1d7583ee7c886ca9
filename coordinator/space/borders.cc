#include "coordinator/space/borders.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;

std::vector<BorderTensor> Crossing(const SegmentGraph& from,
                                   const SegmentGraph& to) {
  std::map<ir::ValueId, int> exits;
  for (const segmenter::BorderPair& exit : from.exits) {
    exits.emplace(from.values[exit.activation].origin, exit.activation);
  }
  std::vector<BorderTensor> tensors;
  for (const segmenter::BorderPair& entry : to.entries) {
    const auto exit = exits.find(to.values[entry.activation].origin);
    if (exit == exits.end()) continue;
    const auto known = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const BorderTensor& it) {
                                      return it.to_value == entry.activation;
                                    });
    if (known == tensors.end()) {
      tensors.push_back({exit->second, entry.activation, 1});
    } else {
      ++known->gradients;
    }
  }
  return tensors;
}

// Fills border.programs; returns the number of different pairs of shardings.
int MakePrograms(const Analysis& analysis,
                 const std::vector<Configuration>& sources,
                 const std::vector<Configuration>& targets,
                 const KeyContext& context, ProgramSet& programs,
                 Border& border) {
  const SegmentGraph& from = analysis.graphs[border.from_segment];
  border.programs.assign(sources.size(),
                         std::vector<std::vector<int>>(targets.size()));
  std::map<std::tuple<int, Sharding, Sharding>, int> made;
  for (size_t a = 0; a < sources.size(); ++a) {
    for (size_t b = 0; b < targets.size(); ++b) {
      for (size_t i = 0; i < border.tensors.size(); ++i) {
        const BorderTensor& tensor = border.tensors[i];
        const ir::Shape& shape =
            analysis.module.at(from.values[tensor.from_value].origin).shape;
        const Sharding before =
            sources[a].annotation.Of(tensor.from_value, shape, context.mesh);
        const Sharding after =
            targets[b].annotation.Of(tensor.to_value, shape, context.mesh);
        if (before == after) continue;
        const auto [found, added] =
            made.try_emplace({static_cast<int>(i), before, after}, -1);
        if (added) {
          found->second =
              programs.Keep(ReshardingProgram(shape, before, after,
                                              tensor.gradients, context),
                            absl::StrCat("resharding ", Describe(before),
                                         " to ", Describe(after)));
        }
        border.programs[a][b].push_back(found->second);
      }
    }
  }
  return static_cast<int>(made.size());
}

}  // namespace

Borders FindBorders(const Analysis& analysis,
                    const std::vector<SegmentType>& types,
                    const KeyContext& context, ProgramSet& programs) {
  Borders out;
  // By types and tensors: the ends reach several segments of one type, each
  // with tensors of its own.
  std::map<std::pair<std::pair<int, int>, std::vector<BorderTensor>>, int>
      known;
  const int count = static_cast<int>(analysis.graphs.size());
  for (int to = 0; to < count; ++to) {
    for (int from = 0; from < count; ++from) {
      if (from == to) continue;
      std::vector<BorderTensor> tensors =
          Crossing(analysis.graphs[from], analysis.graphs[to]);
      if (tensors.empty()) continue;
      const std::pair<int, int> pair = {analysis.type_of_segment[from],
                                        analysis.type_of_segment[to]};
      const auto [found, added] = known.emplace(
          std::pair(pair, tensors), static_cast<int>(out.borders.size()));
      if (added) {
        Border border{from, to, std::move(tensors), {}};
        out.resharding_programs += MakePrograms(
            analysis, types[pair.first].configurations,
            types[pair.second].configurations, context, programs, border);
        out.borders.push_back(std::move(border));
      }
      out.edges.push_back({{from, to}, found->second});
    }
  }
  return out;
}

}  // namespace meshwright::space
