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
#include "coordinator/space/configurations/frozen_weights.h"
#include "coordinator/space/configurations/switches.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

// One tensor, as value indices of the end's graph and of its neighbour's.
struct CommonValue {
  int here = 0;
  int there = 0;
  auto operator<=>(const CommonValue&) const = default;
};
using Common = std::vector<CommonValue>;

// Ways to split what an end has in common with its neighbours.
constexpr size_t kMaxEndVariants = 256;

class EndVariants {
 public:
  EndVariants(const Analysis& analysis, SegmentIndex segment,
              const std::vector<SegmentType>& types,
              const std::vector<SharedParameter>& shared, const Mesh& mesh)
      : analysis_(analysis), segment_(segment), types_(types), mesh_(mesh) {
    for (const SharedParameter& it : shared) {
      if (it.end_segment != segment) continue;
      parameters_[it.block_segment].push_back({it.end_value, it.block_value});
    }
    exits_ = IndexActivations(Graph(segment).exits);
    entries_ = IndexActivations(Graph(segment).entries);
  }

  SegmentType Run() {
    SegmentType type;
    for (const ParameterPins& variant : ListPins(type.cut_short)) {
      AppendVariants(analysis_, Graph(segment_), {}, Make(variant), mesh_,
                     type);
    }
    return type;
  }

 private:
  // Of boundary pairs: their numbers, by the activation's origin.
  using Index = std::unordered_map<ir::ValueId, std::vector<int>>;

  // A neighbour, and what this segment has in common with it.
  struct Neighbour {
    SegmentIndex segment;
    Common common;
  };

  const SegmentGraph& Graph(SegmentIndex segment) const {
    return analysis_.graphs[segment];
  }

  Index IndexActivations(
      const std::vector<segmenter::BoundaryPair>& pairs) const {
    Index index;
    for (size_t i = 0; i < pairs.size(); ++i) {
      const ir::ValueId origin =
          Graph(segment_).values[pairs[i].activation].origin;
      index[origin].push_back(static_cast<int>(i));
    }
    return index;
  }

  // Every way to split what is common with the neighbours; where these are too
  // many, neighbours of one type split alike, and `cut_short` says so.
  std::vector<ParameterPins> ListPins(std::string& cut_short) const {
    if (IsFree(analysis_, Graph(segment_))) return {{}};
    std::vector<Neighbour> neighbours;
    std::set<int> pinned;  // the first value of each
    for (const bool parameters : {false, true}) {
      for (SegmentIndex other; other < analysis_.graphs.size(); ++other) {
        if (!HasBlocks(analysis_, other)) continue;
        Common common =
            parameters ? CommonParameters(other) : CommonBoundaries(other);
        if (common.empty() || pinned.contains(common[0].here)) continue;
        for (const auto& [here, there] : common) pinned.insert(here);
        neighbours.push_back({other, std::move(common)});
      }
    }
    std::vector<std::vector<Neighbour>> alone;
    std::map<SegmentTypeId, std::vector<Neighbour>> by_type;
    for (const Neighbour& it : neighbours) {
      alone.push_back({it});
      by_type[analysis_.type_of_segment[it.segment]].push_back(it);
    }
    std::vector<ParameterPins> pins = Multiply(alone);
    if (!pins.empty()) return pins;
    std::vector<std::vector<Neighbour>> tied;
    tied.reserve(by_type.size());
    for (auto& [type, members] : by_type) tied.push_back(std::move(members));
    const size_t all = tied.size();
    while ((pins = Multiply(tied)).empty()) {
      tied.pop_back();  // as the annotation of the rest has it
    }
    cut_short = absl::StrCat(
        "its neighbours split in more than ", kMaxEndVariants,
        " ways together: equal neighbours are taken as split alike");
    if (tied.size() < all) {
      absl::StrAppend(&cut_short, ", and ", all - tied.size(), " of ", all,
                      " kinds of neighbours are not asked");
    }
    return pins;
  }

  // Variants of every group, combined; none where there are too many.
  std::vector<ParameterPins> Multiply(
      const std::vector<std::vector<Neighbour>>& groups) const {
    std::vector<ParameterPins> pins = {{}};
    for (const std::vector<Neighbour>& group : groups) {
      const std::set<ParameterPins> variants = Variants(group);
      if (pins.size() * variants.size() > kMaxEndVariants) return {};
      std::vector<ParameterPins> product;
      for (const ParameterPins& base : pins) {
        for (const ParameterPins& variant : variants) {
          product.push_back(base);
          product.back().insert(variant.begin(), variant.end());
        }
      }
      pins = std::move(product);
    }
    return pins;
  }

  const std::vector<Configuration>& GetConfigurations(
      SegmentIndex segment) const {
    return types_[analysis_.type_of_segment[segment]].configurations;
  }

  // Boundary activations this segment has in common with `other`.
  Common CommonBoundaries(SegmentIndex other) const {
    Common common;
    std::set<CommonValue> known;
    const auto match = [&](const Index& index, const auto& here,
                           const auto& there) {
      struct Match {  // numbers of boundary pairs
        int here = 0;
        int there = 0;
        auto operator<=>(const Match&) const = default;
      };
      std::vector<Match> matched;
      for (size_t b = 0; b < there.size(); ++b) {
        const auto found =
            index.find(Graph(other).values[there[b].activation].origin);
        if (found == index.end()) continue;
        for (int a : found->second) matched.push_back({a, static_cast<int>(b)});
      }
      std::sort(matched.begin(), matched.end());
      for (const auto& [a, b] : matched) {
        const CommonValue it = {here[a].activation, there[b].activation};
        if (known.insert(it).second) common.push_back(it);
      }
    };
    match(exits_, Graph(segment_).exits, Graph(other).entries);
    match(entries_, Graph(segment_).entries, Graph(other).exits);
    return common;
  }

  Common CommonParameters(SegmentIndex other) const {
    const auto found = parameters_.find(other);
    return found == parameters_.end() ? Common() : found->second;
  }

  // The distinct ways the configurations of neighbours of one type, all of
  // which take the same one, split what is common.
  std::set<ParameterPins> Variants(const std::vector<Neighbour>& group) const {
    std::set<ParameterPins> variants;
    for (const Configuration& configuration :
         GetConfigurations(group.front().segment)) {
      ParameterPins pins;
      for (const auto& [other, common] : group) {
        ParameterPins own;
        for (const auto& [here, there] : common) {
          own.emplace(here, Split(other, configuration, here, there));
        }
        pins.insert(own.begin(), own.end());
      }
      variants.insert(std::move(pins));
    }
    return variants;
  }

  Sharding Split(SegmentIndex other, const Configuration& configuration,
                 int here, int there) const {
    Sharding sharding;
    for (size_t axis = 0; axis < mesh_.size(); ++axis) {
      const int split = configuration.annotation.axes[axis].split[there];
      sharding.push_back(
          IsParameter(here) && IsShardedState(other, configuration, there, axis)
              ? kWhole
              : split);
    }
    return sharding;
  }

  // Whether it is the neighbour's switch that splits its parameter: the end's
  // own does the same.
  bool IsShardedState(SegmentIndex other, const Configuration& configuration,
                      int value, size_t axis) const {
    if (configuration.segment_switch !=
        segmenter::SegmentSwitch::kFullySharded) {
      return false;
    }
    const auto [readers, added] = first_readers_.try_emplace(
        analysis_.type_of_segment[other], std::vector<std::optional<int>>());
    if (added) readers->second = FindFirstReaders(analysis_, Graph(other));
    const std::optional<int>& reader = readers->second[value];
    if (!reader.has_value()) return false;
    const int block = analysis_.plan.segments[other].first_block + *reader;
    const segmenter::Strategy& strategy =
        analysis_.strategies[block]
            .strategies[configuration.strategies[*reader]];
    return strategy.axes[axis].kind == segmenter::StrategyKind::kRows;
  }

  bool IsArgument(int value) const {
    return analysis_.module.at(Graph(segment_).values[value].origin).opcode ==
           ir::Opcode::kParameter;
  }

  bool IsParameter(int value) const {
    const ir::Instruction& it =
        analysis_.module.at(Graph(segment_).values[value].origin);
    return it.opcode == ir::Opcode::kParameter &&
           analysis_.passes.roles[it.attributes().parameter_number()] ==
               segmenter::ArgumentRole::kParameter;
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
  const SegmentIndex segment_;
  const std::vector<SegmentType>& types_;
  const Mesh& mesh_;
  std::map<SegmentIndex, Common> parameters_;  // by segment with blocks
  Index exits_;
  Index entries_;
  mutable std::map<SegmentTypeId, std::vector<std::optional<int>>>
      first_readers_;
};

}  // namespace

bool HasBlocks(const Analysis& analysis, SegmentIndex segment) {
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
  const size_t count = analysis.graphs.size();
  const auto graph = [&](SegmentIndex s) -> const SegmentGraph& {
    return analysis.graphs[s];
  };
  struct Reader {
    SegmentIndex segment;
    int value = 0;
  };
  std::unordered_map<ir::ValueId, std::vector<Reader>> readers;
  for (SegmentIndex s; s < count; ++s) {
    for (int i = 0; HasBlocks(analysis, s) && i < graph(s).input_count; ++i) {
      readers[graph(s).values[i].origin].push_back({s, i});
    }
  }
  for (SegmentIndex s; s < count; ++s) {
    for (int i = 0; !HasBlocks(analysis, s) && i < graph(s).input_count; ++i) {
      const ir::ValueId origin = graph(s).values[i].origin;
      const ir::Instruction& it = analysis.module.at(origin);
      if (it.opcode != ir::Opcode::kParameter || it.shape.is_scalar() ||
          !IsWeight(analysis,
                    static_cast<int>(it.attributes().parameter_number()))) {
        continue;
      }
      for (const auto& [segment, value] : readers[origin]) {
        shared.push_back({s, segment, i, value});
      }
    }
  }
  return shared;
}

SegmentType EndConfigurations(const Analysis& analysis, SegmentIndex segment,
                              const std::vector<SegmentType>& types,
                              const std::vector<SharedParameter>& shared,
                              const Mesh& mesh) {
  return EndVariants(analysis, segment, types, shared, mesh).Run();
}

}  // namespace meshwright::space
