#include "coordinator/space/configurations/end_configurations.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/space/annotation/state_sharding.h"
#include "coordinator/space/configurations/block_configurations.h"
#include "coordinator/space/configurations/switches.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;
using Common = std::vector<std::pair<int, int>>;  // value here, value there

class EndVariants {
 public:
  EndVariants(const Analysis& analysis, int segment,
              const std::vector<SegmentType>& types,
              const std::vector<SharedParameter>& shared, const Mesh& mesh)
      : analysis_(analysis),
        segment_(segment),
        types_(types),
        shared_(shared),
        mesh_(mesh) {}

  SegmentType Run() {
    std::vector<ParameterPins> pins = {{}};
    if (!IsFree(analysis_, Graph(segment_))) {
      const int count = static_cast<int>(analysis_.graphs.size());
      for (const bool parameters : {false, true}) {
        for (int other = 0; other < count; ++other) {
          if (!HasBlocks(analysis_, other)) continue;
          const Common common =
              parameters ? CommonParameters(other) : CommonBoundaries(other);
          if (common.empty() || pins[0].contains(common[0].first)) continue;
          std::vector<ParameterPins> product;
          for (const ParameterPins& base : pins) {
            for (const ParameterPins& variant : Variants(other, common)) {
              product.push_back(base);
              product.back().insert(variant.begin(), variant.end());
            }
          }
          pins = std::move(product);
        }
      }
    }
    SegmentType type;
    for (const ParameterPins& variant : pins) {
      AppendVariants(analysis_, Graph(segment_), {}, Make(variant), mesh_,
                     type);
    }
    return type;
  }

 private:
  const SegmentGraph& Graph(int segment) const {
    return analysis_.graphs[segment];
  }
  const std::vector<Configuration>& GetConfigurations(int segment) const {
    return types_[analysis_.type_of_segment[segment]].configurations;
  }

  // Boundary activations this segment has in common with `other`.
  Common CommonBoundaries(int other) const {
    Common common;
    const auto match = [&](const auto& here, const auto& there) {
      for (const segmenter::BoundaryPair& a : here) {
        for (const segmenter::BoundaryPair& b : there) {
          const std::pair<int, int> pair = {a.activation, b.activation};
          if (Graph(segment_).values[pair.first].origin ==
                  Graph(other).values[pair.second].origin &&
              std::find(common.begin(), common.end(), pair) == common.end()) {
            common.push_back(pair);
          }
        }
      }
    };
    match(Graph(segment_).exits, Graph(other).entries);
    match(Graph(segment_).entries, Graph(other).exits);
    return common;
  }

  Common CommonParameters(int other) const {
    Common common;
    for (const SharedParameter& it : shared_) {
      if (it.end_segment == segment_ && it.block_segment == other) {
        common.emplace_back(it.end_value, it.block_value);
      }
    }
    return common;
  }

  // The distinct ways the neighbour's configurations split what is common.
  std::set<ParameterPins> Variants(int other, const Common& common) const {
    std::set<ParameterPins> variants;
    for (const Configuration& configuration : GetConfigurations(other)) {
      ParameterPins pins;
      for (const auto& [here, there] : common) {
        for (size_t axis = 0; axis < mesh_.size(); ++axis) {
          const int split = configuration.annotation.axes[axis].split[there];
          pins[here].push_back(
              IsArgument(here) &&
                      IsShardedState(other, configuration, there, axis)
                  ? kWhole
                  : split);
        }
      }
      variants.insert(std::move(pins));
    }
    return variants;
  }

  // Whether it is the neighbour's switch that splits its parameter: the end's
  // own does the same.
  bool IsShardedState(int other, const Configuration& configuration, int value,
                      size_t axis) const {
    if (configuration.segment_switch !=
        segmenter::SegmentSwitch::kFullySharded) {
      return false;
    }
    const int reader = FirstReader(analysis_, Graph(other), value);
    if (reader < 0) return false;
    const int block = analysis_.plan.segments[other].first_block + reader;
    const segmenter::Strategy& strategy =
        analysis_.strategies[block]
            .strategies[configuration.strategies[reader]];
    return strategy.axes[axis].kind == segmenter::StrategyKind::kRows;
  }

  bool IsArgument(int value) const {
    return analysis_.module.at(Graph(segment_).values[value].origin).opcode ==
           ir::Opcode::kParameter;
  }

  Configuration Make(const ParameterPins& variant) const {
    Configuration configuration;
    configuration.annotation =
        AnnotateSegment(analysis_, segment_, {}, mesh_, variant);
    std::vector<std::string> parts;
    for (const auto& [value, sharding] : variant) {
      parts.push_back(absl::StrCat(IsArgument(value) ? "shared " : "boundary ",
                                   SplitText(sharding, mesh_)));
    }
    configuration.describe = absl::StrJoin(parts, ", ");
    return configuration;
  }

  const Analysis& analysis_;
  const int segment_;
  const std::vector<SegmentType>& types_;
  const std::vector<SharedParameter>& shared_;
  const Mesh& mesh_;
};

}  // namespace

bool HasBlocks(const Analysis& analysis, int segment) {
  const segmenter::Segment& it = analysis.plan.segments[segment];
  return it.first_block < it.last_block;
}

bool IsFree(const Analysis& analysis, const SegmentGraph& graph) {
  if (HasBlocks(analysis, graph.segment)) return false;
  for (int i = graph.input_count; i < static_cast<int>(graph.values.size());
       ++i) {
    if (!analysis.module.at(graph.values[i].origin).shape.is_scalar()) {
      return false;
    }
  }
  return true;
}

std::vector<SharedParameter> FindSharedParameters(const Analysis& analysis) {
  std::vector<SharedParameter> shared;
  const int count = static_cast<int>(analysis.graphs.size());
  const auto graph = [&](int s) -> const SegmentGraph& {
    return analysis.graphs[s];
  };
  std::unordered_map<ir::ValueId, Common> readers;
  for (int s = 0; s < count; ++s) {
    for (int i = 0; HasBlocks(analysis, s) && i < graph(s).input_count; ++i) {
      readers[graph(s).values[i].origin].emplace_back(s, i);
    }
  }
  for (int s = 0; s < count; ++s) {
    for (int i = 0; !HasBlocks(analysis, s) && i < graph(s).input_count; ++i) {
      const ir::ValueId origin = graph(s).values[i].origin;
      const ir::Instruction& it = analysis.module.at(origin);
      if (it.opcode != ir::Opcode::kParameter || it.shape.is_scalar() ||
          analysis.passes.roles[it.attributes().parameter_number()] !=
              segmenter::ArgumentRole::kParameter) {
        continue;
      }
      for (const auto& [segment, value] : readers[origin]) {
        shared.push_back({s, segment, i, value});
      }
    }
  }
  return shared;
}

SegmentType EndConfigurations(const Analysis& analysis, int segment,
                              const std::vector<SegmentType>& types,
                              const std::vector<SharedParameter>& shared,
                              const Mesh& mesh) {
  return EndVariants(analysis, segment, types, shared, mesh).Run();
}

}  // namespace meshwright::space
