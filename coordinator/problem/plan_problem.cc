#include "coordinator/problem/plan_problem.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/estimation/measured_cost.h"
#include "coordinator/estimation/segment_tables.h"
#include "coordinator/problem/group_states.h"
#include "planner/problem/duration.h"

namespace meshwright::formulation {
namespace {

using segmenter::Analysis;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

class ProblemBuilder {
 public:
  ProblemBuilder(const Analysis& analysis, const space::ProfileSpace& space,
                 const store::Results& results,
                 const estimation::Estimates& estimates,
                 const ProblemOptions& options)
      : analysis_(analysis),
        space_(space),
        results_(results),
        estimates_(estimates),
        options_(options),
        tables_(analysis, space, results, out_.usable) {}

  absl::StatusOr<MeasuredProblem> Build(std::optional<int64_t> limit) {
    out_.problem.memory_limit_bytes = limit;
    for (SegmentTypeId t; t < space_.types.size(); ++t) {
      if (absl::Status status = AddType(t); !status.ok()) {
        return status;
      }
    }
    AddNodes();
    if (!options_.parts) TightenTransients();
    AddEdges();
    KeepGroupsInRuns();
    return std::move(out_);
  }

 private:
  // Of the problem, in the order of the step.
  struct NodePair {
    int from = 0;
    int to = 0;
    auto operator<=>(const NodePair&) const = default;
  };
  using EdgeTables = std::map<NodePair, problem::Table>;
  struct Cost {
    problem::Config config;
    int64_t copied_bytes = 0;  // of its persistent ones; 0 if it is estimated
  };

  absl::Status AddType(SegmentTypeId type) {
    problem::NodeType node_type;
    node_type.name = absl::StrCat("type ", type.value());
    const auto& configurations = space_.types[type].configurations;
    std::vector<std::optional<Cost>> costs;
    std::vector<char> known;
    for (size_t c = 0; c < configurations.size(); ++c) {
      costs.push_back(FindCost(type, static_cast<int>(c)));
      known.push_back(costs.back().has_value());
    }
    const int max_members =
        options_.groups
            ? CountMaxMembers(space::FindLongestRun(analysis_, type))
            : 0;
    std::vector<int>& usable = out_.usable.emplace_back();
    std::vector<int>& positions = out_.positions.emplace_back();
    std::vector<TimelineBytes>& timeline = out_.timeline.emplace_back();
    for (const GroupState& state :
         ListGroupStates(configurations, known, max_members)) {
      problem::Config config = costs[state.configuration]->config;
      config.transient_bytes += CountGroupTransientBytes(
          configurations[state.configuration], state.position);
      usable.push_back(state.configuration);
      positions.push_back(state.position);
      timeline.push_back(
          {.transient = config.transient_bytes,
           .reduced = estimation::FindReducedBytes(
               space_, configurations[state.configuration], results_),
           .copied = costs[state.configuration]->copied_bytes});
      node_type.configs.push_back(config);
    }
    if (usable.empty()) {
      return absl::UnavailableError(
          absl::StrCat("no configuration of segment type ", type.value(),
                       " was measured", FirstReason(type),
                       "; see `meshwright doctor`, or plan without --no-wait"));
    }
    out_.problem.types.push_back(std::move(node_type));
    return absl::OkStatus();
  }

  std::optional<Cost> FindCost(SegmentTypeId type, int c) const {
    const space::Configuration& configuration =
        space_.types[type].configurations[c];
    const std::optional<problem::Config> measured =
        estimation::FindMeasuredCost(space_, configuration, results_);
    if (measured.has_value()) {
      Cost cost{*measured};
      // The passes of a part update nothing in place.
      if (options_.parts) return cost;
      cost.copied_bytes =
          estimation::FindArgumentCopyBytes(space_, configuration, results_);
      cost.config.persistent_bytes += cost.copied_bytes;
      return cost;
    }
    const auto estimate = estimates_.find({type, c});
    if (estimate == estimates_.end()) return std::nullopt;
    Cost cost{estimation::KeepBytesOnly(configuration)};
    cost.config.time = estimate->second.time;
    cost.config.transient_bytes = estimate->second.transient_bytes;
    cost.config.noise = estimate->second.noise;
    return cost;
  }

  std::string FirstReason(SegmentTypeId type) const {
    for (const auto& configuration : space_.types[type].configurations) {
      if (!configuration.program.has_value()) continue;
      const auto found =
          results_.find(space_.programs[*configuration.program].key());
      if (found != results_.end()) {
        return absl::StrCat(" (", found->second.reason(), ")");
      }
    }
    return "";
  }

  void AddNodes() {
    out_.runs = FoldRuns(analysis_, space_);
    for (const SegmentRun& run : out_.runs) {
      node_of_.insert(node_of_.end(), run.count,
                      static_cast<int>(out_.problem.nodes.size()));
      problem::Node& node = out_.problem.nodes.emplace_back();
      node.type = static_cast<int>(GetType(run.first_segment));
      node.repeat = run.count;
    }
  }

  void TightenTransients() {
    auto& types = out_.problem.types;
    std::vector<int64_t> least_saved;
    for (const problem::NodeType& type : types) {
      const auto least =
          std::min_element(type.configs.begin(), type.configs.end(),
                           [](const auto& a, const auto& b) {
                             return a.saved_bytes < b.saved_bytes;
                           });
      least_saved.push_back(least->saved_bytes);
    }
    std::vector<std::optional<int64_t>> behind(types.size());
    int64_t saved = 0;
    const auto& nodes = out_.problem.nodes;
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      if (!behind[node->type].has_value()) behind[node->type] = saved;
      saved = problem::SaturatingAdd(
          saved,
          problem::SaturatingMultiply(least_saved[node->type], node->repeat));
    }
    for (size_t t = 0; t < types.size(); ++t) {
      for (problem::Config& config : types[t].configs) {
        config.transient_bytes = std::max<int64_t>(
            0, config.transient_bytes - behind[t].value_or(0));
      }
    }
  }

  SegmentTypeId GetType(SegmentIndex segment) const {
    return analysis_.type_of_segment[segment];
  }

  SegmentTypeId TypeOfNode(int node) const {
    return SegmentTypeId(out_.problem.nodes[node].type);
  }

  void AddEdges() {
    // Several boundaries between one pair of nodes add up in one table.
    EdgeTables tables;
    std::map<SegmentTypeId, problem::Table> selves;  // by type
    for (const auto& [pair, boundary] : space_.edges) {
      const auto [from, to] = pair;
      if (node_of_[from] == node_of_[to]) {
        if (selves.contains(GetType(from))) continue;
        problem::Table& table = selves[GetType(from)];
        table = tables_.BuildBoundaryTable(from, to, boundary);
        WalkGroups(GetType(from), table);
        continue;
      }
      // An edge of the problem leads from the earlier node to the later, which
      // ever of the two makes the tensor.
      problem::Table table = tables_.BuildBoundaryTable(from, to, boundary);
      if (from > to) table = estimation::Transpose(table);
      const NodePair ends = {node_of_[std::min(from, to)],
                             node_of_[std::max(from, to)]};
      const auto [found, added] = tables.try_emplace(ends, table);
      if (!added) estimation::AddTo(found->second, table);
    }
    for (const space::SharedParameter& it : space_.shared) {
      const SegmentIndex from = std::min(it.end_segment, it.block_segment);
      const SegmentIndex to = std::max(it.end_segment, it.block_segment);
      problem::Table& table = tables[{node_of_[from], node_of_[to]}];
      if (table.entries.empty()) table = tables_.BuildFreeTable(from, to);
      tables_.ForbidSplits(it, table);
    }
    AddLinks(tables, selves);
    for (auto& [type, table] : selves) {
      out_.problem.self_edges.push_back(
          {static_cast<int>(type), Keep(std::move(table))});
    }
    for (auto& [ends, table] : tables) {
      EndGroups(TypeOfNode(ends.from), TypeOfNode(ends.to), table);
      out_.problem.edges.push_back(
          {ends.from, ends.to, Keep(std::move(table))});
    }
  }

  void AddLinks(EdgeTables& tables,
                std::map<SegmentTypeId, problem::Table>& selves) const {
    std::set<SegmentTypeId> done;
    for (const space::ParameterLink& link : space_.links) {
      if (!options_.links) continue;
      const int from = node_of_[link.from_segment];
      const int to = node_of_[link.to_segment];
      const SegmentTypeId type = GetType(link.from_segment);
      if (from == to && !done.insert(type).second) continue;
      problem::Table& table = from == to ? selves[type] : tables[{from, to}];
      if (table.entries.empty()) {
        table = tables_.BuildFreeTable(link.from_segment, link.to_segment);
      }
      tables_.ForbidUnlike(link, table);
    }
  }

  const space::Configuration& At(SegmentTypeId type, int state) const {
    return space_.types[type].configurations[out_.usable[type][state]];
  }

  // From one copy to the next equal one.
  void WalkGroups(SegmentTypeId type, problem::Table& table) const {
    const auto& configurations = space_.types[type].configurations;
    const auto state = [&](int i) {
      return GroupState{out_.usable[type][i], out_.positions[type][i]};
    };
    for (int a = 0; a < table.rows; ++a) {
      for (int b = 0; b < table.columns; ++b) {
        if (!MayFollow(configurations, state(a), state(b))) {
          estimation::Forbid(a, b, table);
        }
      }
    }
  }

  // No group reaches into another node.
  void EndGroups(SegmentTypeId from, SegmentTypeId to,
                 problem::Table& table) const {
    for (int a = 0; a < table.rows; ++a) {
      for (int b = 0; b < table.columns; ++b) {
        if (At(from, a).role.hands_on || At(to, b).role.handed) {
          estimation::Forbid(a, b, table);
        }
      }
    }
  }

  // Where no table says that a group begins or ends, there is none.
  void KeepGroupsInRuns() {
    std::set<int> entered;
    std::set<int> left;
    for (const problem::Edge& edge : out_.problem.edges) {
      left.insert(edge.from);
      entered.insert(edge.to);
    }
    for (int n = 0; n < static_cast<int>(out_.problem.nodes.size()); ++n) {
      if (entered.contains(n) && left.contains(n)) continue;
      const SegmentTypeId type = TypeOfNode(n);
      for (size_t i = 0; i < out_.usable[type].size(); ++i) {
        const int state = static_cast<int>(i);
        if (!At(type, state).role.InGroup()) continue;
        out_.problem.forbidden[n].push_back(state);
      }
    }
  }

  // Equal tables are one, so that its entries are measured once for all edges.
  int Keep(problem::Table table) {
    auto& tables = out_.problem.tables;
    for (size_t i = 0; i < tables.size(); ++i) {
      if (tables[i].columns == table.columns &&
          tables[i].entries == table.entries &&
          tables[i].noise == table.noise) {
        return static_cast<int>(i);
      }
    }
    tables.push_back(std::move(table));
    return static_cast<int>(out_.problem.tables.size()) - 1;
  }

  const Analysis& analysis_;
  const space::ProfileSpace& space_;
  const store::Results& results_;
  const estimation::Estimates& estimates_;
  const ProblemOptions options_;
  std::vector<int> node_of_;
  MeasuredProblem out_;
  const estimation::SegmentTables tables_;
};

// The configuration of the problem.
std::optional<int> FindState(const MeasuredProblem& measured,
                             SegmentTypeId type, int configuration,
                             int position) {
  const auto& usable = measured.usable[type];
  for (size_t i = 0; i < usable.size(); ++i) {
    if (usable[i] == configuration && measured.positions[type][i] == position) {
      return static_cast<int>(i);
    }
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<MeasuredProblem> BuildProblem(
    const Analysis& analysis, const space::ProfileSpace& space,
    const store::Results& results, std::optional<int64_t> memory_limit_bytes,
    const estimation::Estimates& estimates, const ProblemOptions& options) {
  return ProblemBuilder(analysis, space, results, estimates, options)
      .Build(memory_limit_bytes);
}

space::SegmentChoice ToSegments(const Analysis& analysis,
                                const MeasuredProblem& measured,
                                const problem::Choice& choice) {
  space::SegmentChoice segments(analysis.graphs.size(), 0);
  for (size_t node = 0; node < measured.runs.size(); ++node) {
    const SegmentRun& run = measured.runs[node];
    for (int copy = 0; copy < run.count; ++copy) {
      const SegmentIndex segment(run.first_segment + copy);
      segments[segment] =
          measured
              .usable[analysis.type_of_segment[segment]][choice[node][copy]];
    }
  }
  return segments;
}

absl::StatusOr<problem::Choice> FromSegments(
    const Analysis& analysis, const space::ProfileSpace& space,
    const MeasuredProblem& measured, const space::SegmentChoice& choice) {
  problem::Choice result;
  for (const SegmentRun& run : measured.runs) {
    std::vector<int>& copies = result.emplace_back();
    int position = 0;
    for (int copy = 0; copy < run.count; ++copy) {
      const SegmentIndex segment(run.first_segment + copy);
      const SegmentTypeId type = analysis.type_of_segment[segment];
      const space::GroupRole& role =
          space.types[type].configurations[choice[segment]].role;
      position = role.handed ? position + 1 : 0;
      const std::optional<int> state =
          FindState(measured, type, choice[segment], position);
      if (!state.has_value()) {
        return absl::NotFoundError(absl::StrCat(
            "configuration ", choice[segment], " of segment ", segment.value(),
            position > 0
                ? " was not measured, or its group has too many members"
                : " was not measured"));
      }
      copies.push_back(*state);
    }
  }
  return result;
}

}  // namespace meshwright::formulation
