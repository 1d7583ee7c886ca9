#include "coordinator/space/profile_space.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/ir/dim_links.h"
#include "coordinator/space/inputs.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;
using segmenter::Strategy;
using segmenter::StrategyKind;

class SpaceBuilder {
 public:
  SpaceBuilder(const Analysis& analysis, const KeyContext& context)
      : analysis_(analysis), mesh_(context.mesh) {
    space_.context = context;
    inputs_ = ArgumentInputs(analysis);
    strategy_axis_ = -1;
    for (size_t axis = 0; axis < mesh_.size(); ++axis) {
      if (mesh_[axis] > 1) strategy_axis_ = static_cast<int>(axis);
    }
  }

  ProfileSpace Build() {
    space_.types.resize(analysis_.types.size());
    FindShared();
    for (const bool with_blocks : {true, false}) {
      for (size_t t = 0; t < analysis_.types.size(); ++t) {
        const int segment = analysis_.types[t];
        if (HasBlocks(segment) != with_blocks) continue;
        if (with_blocks) {
          Combine(segment, space_.types[t]);
        } else {
          Vary(segment, space_.types[t]);
        }
      }
    }
    for (size_t t = 0; t < analysis_.types.size(); ++t) {
      MakePrograms(static_cast<int>(t));
    }
    FindBorders();
    return std::move(space_);
  }

 private:
  bool HasBlocks(int segment) const {
    const segmenter::Segment& it = analysis_.plan.segments[segment];
    return it.first_block < it.last_block;
  }
  const SegmentGraph& Graph(int segment) const {
    return analysis_.graphs[segment];
  }
  const SegmentType& TypeOf(int segment) const {
    return space_.types[analysis_.type_of_segment[segment]];
  }
  const ir::Shape& ShapeOf(const SegmentGraph& graph, int value) const {
    return analysis_.module.at(graph.values[value].origin).shape;
  }

  // ---- configurations of blocks ----

  // The strategy on an axis that is not searched: the batch.
  Strategy OuterStrategy(int block, int64_t parts) const {
    const auto& it = analysis_.blocks.blocks[block];
    const segmenter::StrategySet set =
        segmenter::StrategiesFor(analysis_.module, it, parts);
    if (set.strategies[0].kind == StrategyKind::kRows) return set.strategies[0];
    return {StrategyKind::kReplicated,
            std::vector<segmenter::RootSplit>(it.roots.size())};
  }

  AxisAnnotation Whole(const SegmentGraph& graph) const {
    return {std::vector<int>(graph.values.size(), kWhole), {}};
  }

  // One annotation per mesh axis; `strategies` and `pins` are those of the
  // searched axis.
  SegmentAnnotation Annotate(int segment,
                             const std::vector<const Strategy*>& strategies,
                             const std::map<int, int>& pins) {
    const SegmentGraph& graph = Graph(segment);
    const segmenter::Segment& it = analysis_.plan.segments[segment];
    SegmentAnnotation annotation;
    for (size_t axis = 0; axis < mesh_.size(); ++axis) {
      if (mesh_[axis] <= 1) {
        annotation.axes.push_back(Whole(graph));
      } else if (static_cast<int>(axis) == strategy_axis_) {
        annotation.axes.push_back(
            AnnotateAxis(analysis_, graph, strategies, mesh_[axis], pins));
      } else {
        std::vector<Strategy> outer;
        std::vector<const Strategy*> pointers;
        for (int b = it.first_block; b < it.last_block; ++b) {
          outer.push_back(OuterStrategy(b, mesh_[axis]));
        }
        for (const Strategy& strategy : outer) pointers.push_back(&strategy);
        annotation.axes.push_back(AnnotateAxis(
            analysis_, graph, pointers, mesh_[axis], OuterPins(segment, axis)));
      }
    }
    return annotation;
  }

  void Combine(int segment, SegmentType& type) {
    const segmenter::Segment& it = analysis_.plan.segments[segment];
    std::vector<int> choice(it.last_block - it.first_block, 0);
    while (true) {
      Configuration configuration;
      configuration.strategies = choice;
      std::vector<const Strategy*> strategies;
      std::vector<std::string> names;
      for (size_t b = 0; b < choice.size(); ++b) {
        const auto& set = analysis_.strategies[it.first_block + b].strategies;
        strategies.push_back(&set[choice[b]]);
        names.push_back(segmenter::StrategyName(set[choice[b]].kind));
      }
      configuration.describe = absl::StrJoin(names, ", ");
      configuration.annotation = Annotate(segment, strategies, {});
      type.configurations.push_back(std::move(configuration));
      size_t at = choice.size();
      while (at > 0) {
        --at;
        const auto& set = analysis_.strategies[it.first_block + at].strategies;
        if (++choice[at] < static_cast<int>(set.size())) break;
        choice[at] = 0;
        if (at == 0) return;
      }
      if (choice.empty()) return;
    }
  }

  // ---- configurations of a prologue or epilogue ----

  // Border activations this segment has in common with `other`, as (value here,
  // value there).
  std::vector<std::pair<int, int>> CommonBorders(int segment, int other) const {
    std::vector<std::pair<int, int>> common;
    const auto match = [&](const auto& here, const auto& there) {
      for (const segmenter::BorderPair& a : here) {
        for (const segmenter::BorderPair& b : there) {
          if (Graph(segment).values[a.activation].origin ==
              Graph(other).values[b.activation].origin) {
            common.emplace_back(a.activation, b.activation);
          }
        }
      }
    };
    match(Graph(segment).exits, Graph(other).entries);
    match(Graph(segment).entries, Graph(other).exits);
    return common;
  }

  void FindShared() {
    const int count = static_cast<int>(analysis_.graphs.size());
    std::unordered_map<ir::ValueId, std::vector<std::pair<int, int>>> readers;
    for (int s = 0; s < count; ++s) {
      for (int i = 0; HasBlocks(s) && i < Graph(s).input_count; ++i) {
        readers[Graph(s).values[i].origin].emplace_back(s, i);
      }
    }
    for (int s = 0; s < count; ++s) {
      for (int i = 0; !HasBlocks(s) && i < Graph(s).input_count; ++i) {
        const ir::ValueId origin = Graph(s).values[i].origin;
        const ir::Instruction& it = analysis_.module.at(origin);
        if (it.opcode != ir::Opcode::kParameter || it.shape.is_scalar() ||
            analysis_.direction.roles[it.attributes().parameter_number()] !=
                segmenter::ArgumentRole::kParameter) {
          continue;
        }
        for (const auto& [segment, value] : readers[origin]) {
          space_.shared.push_back({s, segment, i, value});
        }
      }
    }
  }

  std::vector<std::pair<int, int>> CommonParameters(int segment,
                                                    int other) const {
    std::vector<std::pair<int, int>> common;
    for (const SharedParameter& it : space_.shared) {
      if (it.end_segment == segment && it.block_segment == other) {
        common.emplace_back(it.end_value, it.block_value);
      }
    }
    return common;
  }

  // The distinct ways the neighbour's configurations split what is common.
  std::set<std::map<int, int>> Variants(
      int other, const std::vector<std::pair<int, int>>& common) const {
    std::set<std::map<int, int>> variants;
    for (const Configuration& configuration : TypeOf(other).configurations) {
      std::map<int, int> pins;
      for (const auto& [here, there] : common) {
        pins[here] =
            strategy_axis_ < 0
                ? kWhole
                : configuration.annotation.axes[strategy_axis_].split[there];
      }
      variants.insert(std::move(pins));
    }
    return variants;
  }

  void Vary(int segment, SegmentType& type) {
    std::vector<std::map<int, int>> pins = {{}};
    if (!IsFree(analysis_, Graph(segment))) {
      const int count = static_cast<int>(analysis_.graphs.size());
      for (const bool parameters : {false, true}) {
        for (int other = 0; other < count; ++other) {
          if (!HasBlocks(other)) continue;
          const auto common = parameters ? CommonParameters(segment, other)
                                         : CommonBorders(segment, other);
          if (common.empty() || pins[0].contains(common[0].first)) continue;
          std::vector<std::map<int, int>> product;
          for (const auto& base : pins) {
            for (const auto& variant : Variants(other, common)) {
              product.push_back(base);
              product.back().insert(variant.begin(), variant.end());
            }
          }
          pins = std::move(product);
        }
      }
    }
    for (const std::map<int, int>& variant : pins) {
      Configuration configuration;
      configuration.annotation = Annotate(segment, {}, variant);
      std::vector<std::string> parts;
      for (const auto& [value, dim] : variant) {
        const ir::Instruction& it =
            analysis_.module.at(Graph(segment).values[value].origin);
        parts.push_back(absl::StrCat(
            it.opcode == ir::Opcode::kParameter ? "shared " : "border ",
            dim < 0 ? std::string("whole") : absl::StrCat("dim ", dim)));
      }
      configuration.describe = absl::StrJoin(parts, ", ");
      type.configurations.push_back(std::move(configuration));
    }
  }

  // On an axis that is not searched the neighbour has one way only.
  std::map<int, int> OuterPins(int segment, size_t axis) const {
    std::map<int, int> pins;
    if (HasBlocks(segment)) return pins;
    for (size_t other = 0; other < analysis_.graphs.size(); ++other) {
      if (!HasBlocks(static_cast<int>(other))) continue;
      const auto& configurations =
          TypeOf(static_cast<int>(other)).configurations;
      if (configurations.empty()) continue;
      for (const auto& [here, there] :
           CommonBorders(segment, static_cast<int>(other))) {
        pins.emplace(here,
                     configurations[0].annotation.axes[axis].split[there]);
      }
    }
    return pins;
  }

  // ---- programs ----

  int Keep(v1::Program program, const std::string& label) {
    const auto [found, added] = by_key_.emplace(
        program.key(), static_cast<int>(space_.programs.size()));
    if (added) {
      program.set_label(label);
      space_.programs.push_back(std::move(program));
    }
    return found->second;
  }

  void MakePrograms(int type) {
    const int segment = analysis_.types[type];
    const SegmentGraph& graph = Graph(segment);
    const bool free = IsFree(analysis_, graph);
    for (Configuration& configuration : space_.types[type].configurations) {
      CountBytes(graph, configuration);
      if (free) continue;
      ++space_.segment_programs;
      configuration.program =
          Keep(SegmentProgram(analysis_, graph, configuration.annotation,
                              inputs_, space_.context),
               absl::StrCat("type ", type, ": ", configuration.describe));
    }
  }

  void CountBytes(const SegmentGraph& graph,
                  Configuration& configuration) const {
    const auto bytes = [&](int value) {
      const ir::Shape& shape = ShapeOf(graph, value);
      return BytesPerDevice(
          shape, configuration.annotation.Of(value, shape, mesh_), mesh_);
    };
    for (const auto& [argument, updated] : graph.state) {
      configuration.persistent_bytes += bytes(argument);
    }
    const auto& direction = analysis_.direction;
    for (int i = 0; i < static_cast<int>(graph.values.size()); ++i) {
      const ir::ValueId origin = graph.values[i].origin;
      const ir::Instruction& it = analysis_.module.at(origin);
      if (!direction.forward[origin] || direction.recomputable[origin] ||
          it.opcode == ir::Opcode::kParameter) {
        continue;
      }
      // What the backward pass reads is kept, unless it only moves or spreads
      // what is kept already.
      const bool kept =
          graph.is_input(i) ||
          (!ir::IsLayout(it.opcode) && it.opcode != ir::Opcode::kBroadcast);
      if (kept && ReachesBackward(graph, i)) {
        configuration.saved_bytes += bytes(i);
      }
    }
  }

  // Whether the backward pass reads the value, as it is or rearranged.
  bool ReachesBackward(const SegmentGraph& graph, int value) const {
    std::vector<int> stack = {value};
    while (!stack.empty()) {
      const int at = stack.back();
      stack.pop_back();
      for (int user : graph.values[at].users) {
        const ir::ValueId origin = graph.values[user].origin;
        if (!analysis_.direction.forward[origin]) return true;
        const ir::Opcode opcode = analysis_.module.at(origin).opcode;
        if (ir::IsLayout(opcode) || opcode == ir::Opcode::kBroadcast) {
          stack.push_back(user);
        }
      }
    }
    return false;
  }

  // ---- borders ----

  void FindBorders() {
    std::map<std::pair<int, int>, int> known;  // by types and tensors
    const int count = static_cast<int>(analysis_.graphs.size());
    for (int to = 0; to < count; ++to) {
      for (int from = 0; from < count; ++from) {
        if (from == to) continue;
        const std::vector<BorderTensor> tensors = Crossing(from, to);
        if (tensors.empty()) continue;
        const std::pair<int, int> types = {analysis_.type_of_segment[from],
                                           analysis_.type_of_segment[to]};
        const auto [found, added] =
            known.emplace(types, static_cast<int>(space_.borders.size()));
        if (added) AddBorder(from, to, tensors);
        space_.edges.push_back({{from, to}, found->second});
      }
    }
  }

  std::vector<BorderTensor> Crossing(int from, int to) const {
    std::vector<BorderTensor> tensors;
    for (const segmenter::BorderPair& entry : Graph(to).entries) {
      for (const segmenter::BorderPair& exit : Graph(from).exits) {
        if (Graph(to).values[entry.activation].origin ==
            Graph(from).values[exit.activation].origin) {
          tensors.push_back({exit.activation, entry.activation, true});
        }
      }
    }
    return tensors;
  }

  void AddBorder(int from, int to, const std::vector<BorderTensor>& tensors) {
    Border border;
    border.from_segment = from;
    border.to_segment = to;
    border.tensors = tensors;
    const auto& sources = TypeOf(from).configurations;
    const auto& targets = TypeOf(to).configurations;
    border.programs.assign(sources.size(),
                           std::vector<std::vector<int>>(targets.size()));
    std::map<std::tuple<int, Sharding, Sharding>, int> made;
    for (size_t a = 0; a < sources.size(); ++a) {
      for (size_t b = 0; b < targets.size(); ++b) {
        for (size_t i = 0; i < tensors.size(); ++i) {
          const ir::Shape& shape = ShapeOf(Graph(from), tensors[i].from_value);
          const Sharding before =
              sources[a].annotation.Of(tensors[i].from_value, shape, mesh_);
          const Sharding after =
              targets[b].annotation.Of(tensors[i].to_value, shape, mesh_);
          if (before == after) continue;
          const auto [found, added] =
              made.try_emplace({static_cast<int>(i), before, after}, -1);
          if (added) {
            ++space_.resharding_programs;
            found->second =
                Keep(ReshardingProgram(shape, before, after,
                                       tensors[i].gradient, space_.context),
                     absl::StrCat("resharding ", Describe(before), " to ",
                                  Describe(after)));
          }
          border.programs[a][b].push_back(found->second);
        }
      }
    }
    space_.borders.push_back(std::move(border));
  }

  const Analysis& analysis_;
  const Mesh& mesh_;
  int strategy_axis_ = -1;
  std::vector<v1::InputSpec> inputs_;
  std::unordered_map<std::string, int> by_key_;
  ProfileSpace space_;
};

}  // namespace

bool SplitAlike(const Analysis& analysis, const ProfileSpace& space,
                const SharedParameter& shared, int end_configuration,
                int block_configuration) {
  const auto sharding = [&](int segment, int configuration, int value) {
    const int type = analysis.type_of_segment[segment];
    const ir::ValueId origin = analysis.graphs[segment].values[value].origin;
    return space.types[type].configurations[configuration].annotation.Of(
        value, analysis.module.at(origin).shape, space.context.mesh);
  };
  return sharding(shared.end_segment, end_configuration, shared.end_value) ==
         sharding(shared.block_segment, block_configuration,
                  shared.block_value);
}

bool IsFree(const Analysis& analysis, const SegmentGraph& graph) {
  const segmenter::Segment& segment = analysis.plan.segments[graph.segment];
  if (segment.first_block < segment.last_block) return false;
  for (int i = graph.input_count; i < static_cast<int>(graph.values.size());
       ++i) {
    if (!analysis.module.at(graph.values[i].origin).shape.is_scalar()) {
      return false;
    }
  }
  return true;
}

ProfileSpace BuildProfileSpace(const Analysis& analysis,
                               const KeyContext& context) {
  return SpaceBuilder(analysis, context).Build();
}

}  // namespace meshwright::space
