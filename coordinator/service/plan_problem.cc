#include "coordinator/service/plan_problem.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "coordinator/service/group_states.h"
#include "coordinator/service/spreads.h"

namespace meshwright::service {
namespace {

using problem::Picoseconds;
using segmenter::Analysis;

constexpr int64_t kPicosecondsPerNanosecond = 1000;

const v1::ProfileResult* MeasuredRow(const space::ProfileSpace& space,
                                     const store::Results& results,
                                     int program) {
  const auto found = results.find(space.programs[program].key());
  if (found == results.end() || found->second.outcome() != v1::MEASURED) {
    return nullptr;
  }
  return &found->second;
}

problem::Config StaticCost(const space::Configuration& configuration) {
  problem::Config config;
  config.persistent_bytes = configuration.persistent_bytes;
  config.saved_bytes = configuration.saved_bytes;
  return config;
}

class ProblemBuilder {
 public:
  ProblemBuilder(const Analysis& analysis, const space::ProfileSpace& space,
                 const store::Results& results, const Estimates& estimates,
                 const ProblemOptions& options)
      : analysis_(analysis),
        space_(space),
        results_(results),
        estimates_(estimates),
        options_(options) {}

  absl::StatusOr<MeasuredProblem> Build(std::optional<int64_t> limit) {
    out_.problem.memory_limit_bytes = limit;
    for (size_t t = 0; t < space_.types.size(); ++t) {
      if (absl::Status status = AddType(static_cast<int>(t)); !status.ok()) {
        return status;
      }
    }
    FoldRuns();
    AddEdges();
    KeepGroupsInRuns();
    return std::move(out_);
  }

 private:
  const v1::ProfileResult* Measured(int program) const {
    return MeasuredRow(space_, results_, program);
  }

  absl::Status AddType(int type) {
    problem::NodeType node_type;
    node_type.name = absl::StrCat("type ", type);
    const auto& configurations = space_.types[type].configurations;
    std::vector<std::optional<problem::Config>> costs;
    std::vector<char> known;
    for (size_t c = 0; c < configurations.size(); ++c) {
      costs.push_back(CostOf(type, static_cast<int>(c)));
      known.push_back(costs.back().has_value());
    }
    const int most =
        options_.groups ? MostMembers(space::LongestRun(analysis_, type)) : 0;
    std::vector<int>& usable = out_.usable.emplace_back();
    std::vector<int>& positions = out_.positions.emplace_back();
    for (const GroupState& state : StatesOf(configurations, known, most)) {
      problem::Config config = *costs[state.configuration];
      config.transient_bytes +=
          TransientOfGroup(configurations[state.configuration], state.position);
      usable.push_back(state.configuration);
      positions.push_back(state.position);
      node_type.configs.push_back(config);
    }
    if (usable.empty()) {
      return absl::UnavailableError(
          absl::StrCat("no configuration of segment type ", type,
                       " was measured", FirstReason(type),
                       "; see `meshwright doctor`, or plan without --no-wait"));
    }
    out_.problem.types.push_back(std::move(node_type));
    return absl::OkStatus();
  }

  std::optional<problem::Config> CostOf(int type, int c) const {
    const space::Configuration& configuration =
        space_.types[type].configurations[c];
    std::optional<problem::Config> config =
        MeasuredCost(space_, configuration, results_);
    const auto estimate = estimates_.find({type, c});
    if (config.has_value() || estimate == estimates_.end()) return config;
    config = StaticCost(configuration);
    config->time = estimate->second.time;
    config->transient_bytes = estimate->second.transient_bytes;
    config->spread = estimate->second.spread;
    return config;
  }

  std::string FirstReason(int type) const {
    for (const auto& configuration : space_.types[type].configurations) {
      if (configuration.program < 0) continue;
      const auto found =
          results_.find(space_.programs[configuration.program].key());
      if (found != results_.end()) {
        return absl::StrCat(" (", found->second.reason(), ")");
      }
    }
    return "";
  }

  // What a segment and the next have in common: the border, and what they share
  // (nothing: empty).
  struct Step {
    int border = -1;
    std::vector<std::pair<int, int>> shared;
    bool operator==(const Step&) const = default;
  };

  // Runs end where an edge leaves other than to the next equal segment, and
  // where a step is another than from the first copy of the type to the second.
  void FoldRuns() {
    const int count = static_cast<int>(analysis_.graphs.size());
    std::set<int> starts = {0};
    std::vector<Step> steps(count);  // by the segment they begin at
    const auto join = [&](int from, int to) -> Step* {
      if (to == from + 1 && TypeOf(from) == TypeOf(to)) return &steps[from];
      starts.insert({from + 1, to});
      return nullptr;
    };
    for (const auto& [pair, border] : space_.edges) {
      Step* const step = join(pair.first, pair.second);
      if (step != nullptr) step->border = border;
    }
    for (const space::ParameterLink& link : space_.links) {
      Step* const step = join(link.from_segment, link.to_segment);
      if (step != nullptr) step->shared = link.values;
    }
    std::map<int, Step> usual;  // by type
    for (int s = 0; s + 1 < count; ++s) {
      if (TypeOf(s) != TypeOf(s + 1)) continue;
      const auto [first, added] = usual.try_emplace(TypeOf(s), steps[s]);
      if (first->second != steps[s]) starts.insert(s + 1);
    }
    for (const space::SharedParameter& it : space_.shared) {
      for (int segment : {it.end_segment, it.block_segment}) {
        starts.insert({segment, segment + 1});
      }
    }
    for (int s = 0; s < count; ++s) {
      const bool starts_here = starts.contains(s) || TypeOf(s) != TypeOf(s - 1);
      if (starts_here) {
        out_.runs.push_back({s, 0});
        problem::Node node;
        node.type = TypeOf(s);
        node.repeat = 0;
        out_.problem.nodes.push_back(node);
      }
      ++out_.runs.back().count;
      ++out_.problem.nodes.back().repeat;
      node_of_.push_back(static_cast<int>(out_.runs.size()) - 1);
    }
  }

  int TypeOf(int segment) const { return analysis_.type_of_segment[segment]; }

  void AddEdges() {
    // Several borders between one pair of nodes add up in one table.
    std::map<std::pair<int, int>, problem::Table> tables;
    std::map<int, problem::Table> selves;  // by type
    for (const auto& [pair, border] : space_.edges) {
      const auto [from, to] = pair;
      if (node_of_[from] == node_of_[to]) {
        if (selves.contains(TypeOf(from))) continue;
        problem::Table& table = selves[TypeOf(from)];
        table = BorderTable(from, to, border);
        WalkGroups(TypeOf(from), table);
        continue;
      }
      // An edge of the problem leads from the earlier node to the later, which
      // ever of the two makes the tensor.
      problem::Table table = BorderTable(from, to, border);
      if (from > to) table = Transposed(table);
      const std::pair<int, int> ends = {node_of_[std::min(from, to)],
                                        node_of_[std::max(from, to)]};
      const auto [found, added] = tables.try_emplace(ends, table);
      if (!added) AddTo(found->second, table);
    }
    for (const space::SharedParameter& it : space_.shared) {
      const int from = std::min(it.end_segment, it.block_segment);
      const int to = std::max(it.end_segment, it.block_segment);
      problem::Table& table = tables[{node_of_[from], node_of_[to]}];
      if (table.entries.empty()) table = EmptyTable(from, to);
      ForbidSplits(it, table);
    }
    AddLinks(tables, selves);
    for (auto& [type, table] : selves) {
      out_.problem.self_edges.push_back({type, Keep(std::move(table))});
    }
    for (auto& [pair, table] : tables) {
      EndGroups(out_.problem.nodes[pair.first].type,
                out_.problem.nodes[pair.second].type, table);
      out_.problem.edges.push_back(
          {pair.first, pair.second, Keep(std::move(table))});
    }
  }

  void AddLinks(std::map<std::pair<int, int>, problem::Table>& tables,
                std::map<int, problem::Table>& selves) const {
    std::set<int> done;
    for (const space::ParameterLink& link : space_.links) {
      if (!options_.links) continue;
      const int from = node_of_[link.from_segment];
      const int to = node_of_[link.to_segment];
      const int type = TypeOf(link.from_segment);
      if (from == to && !done.insert(type).second) continue;
      problem::Table& table = from == to ? selves[type] : tables[{from, to}];
      if (table.entries.empty()) {
        table = EmptyTable(link.from_segment, link.to_segment);
      }
      ForbidUnlike(link, table);
    }
  }

  const space::Configuration& At(int type, int state) const {
    return space_.types[type].configurations[out_.usable[type][state]];
  }

  static void Forbid(int row, int column, problem::Table& table) {
    const size_t at = static_cast<size_t>(row) * table.columns + column;
    table.entries[at].reset();
    table.spreads[at] = {};
  }

  // From one copy to the next equal one.
  void WalkGroups(int type, problem::Table& table) const {
    const auto& configurations = space_.types[type].configurations;
    const auto state = [&](int i) {
      return GroupState{out_.usable[type][i], out_.positions[type][i]};
    };
    for (int a = 0; a < table.rows; ++a) {
      for (int b = 0; b < table.columns; ++b) {
        if (!MayFollow(configurations, state(a), state(b))) {
          Forbid(a, b, table);
        }
      }
    }
  }

  // No group reaches into another node.
  void EndGroups(int from, int to, problem::Table& table) const {
    for (int a = 0; a < table.rows; ++a) {
      for (int b = 0; b < table.columns; ++b) {
        if (At(from, a).role.hands_on || At(to, b).role.handed) {
          Forbid(a, b, table);
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
      const int type = out_.problem.nodes[n].type;
      for (size_t i = 0; i < out_.usable[type].size(); ++i) {
        const int state = static_cast<int>(i);
        if (!At(type, state).role.InGroup()) continue;
        out_.problem.forbidden[n].push_back(state);
      }
    }
  }

  static problem::Table Transposed(const problem::Table& table) {
    problem::Table turned;
    turned.rows = table.columns;
    turned.columns = table.rows;
    for (int b = 0; b < table.columns; ++b) {
      for (int a = 0; a < table.rows; ++a) {
        turned.entries.push_back(
            table.entries[static_cast<size_t>(a) * table.columns + b]);
        turned.spreads.push_back(table.SpreadAt(a, b));
      }
    }
    return turned;
  }

  // What one of the two forbids stays forbidden. The same program may be in
  // both, so that their spreads add up.
  static void AddTo(problem::Table& sum, const problem::Table& table) {
    for (size_t i = 0; i < sum.entries.size(); ++i) {
      auto& entry = sum.entries[i];
      if (!entry.has_value() || !table.entries[i].has_value()) {
        entry.reset();
        sum.spreads[i] = {};
      } else {
        *entry += *table.entries[i];
        sum.spreads[i].below += table.spreads[i].below;
        sum.spreads[i].above += table.spreads[i].above;
      }
    }
  }

  problem::Table EmptyTable(int from, int to) const {
    problem::Table table;
    table.rows = static_cast<int>(out_.usable[TypeOf(from)].size());
    table.columns = static_cast<int>(out_.usable[TypeOf(to)].size());
    table.entries.assign(static_cast<size_t>(table.rows) * table.columns,
                         Picoseconds(0));
    table.spreads.resize(table.entries.size());
    return table;
  }

  problem::Table BorderTable(int from, int to, int border) const {
    problem::Table table = EmptyTable(from, to);
    const auto& tensors = space_.borders[border].tensors;
    const int64_t trips = segmenter::TripsAround(
        analysis_, analysis_.graphs[from].values[tensors[0].from_value].origin);
    for (int a = 0; a < table.rows; ++a) {
      for (int b = 0; b < table.columns; ++b) {
        const size_t at = static_cast<size_t>(a) * table.columns + b;
        auto& entry = table.entries[at];
        IndependentSpreads spread;
        for (int program :
             space_.borders[border].programs[out_.usable[TypeOf(from)][a]]
                                            [out_.usable[TypeOf(to)][b]]) {
          const v1::ProfileResult* result = Measured(program);
          if (result == nullptr) {
            entry.reset();
            break;
          }
          *entry += Picoseconds(result->measurement().minimum_ns() *
                                kPicosecondsPerNanosecond * trips);
          spread.Add(SpreadNs(result->measurement()) *
                     static_cast<double>(trips));
        }
        if (entry.has_value()) table.spreads[at] = spread.Around(*entry);
      }
    }
    return table;
  }

  void ForbidSplits(const space::SharedParameter& shared,
                    problem::Table& table) const {
    const auto& ends = out_.usable[TypeOf(shared.end_segment)];
    const auto& blocks = out_.usable[TypeOf(shared.block_segment)];
    const bool end_first = shared.end_segment < shared.block_segment;
    for (size_t i = 0; i < ends.size(); ++i) {
      for (size_t j = 0; j < blocks.size(); ++j) {
        if (SplitAlike(analysis_, space_, shared, ends[i], blocks[j])) continue;
        const size_t row = end_first ? i : j;
        const size_t column = end_first ? j : i;
        const size_t at = row * table.columns + column;
        table.entries[at].reset();
        table.spreads[at] = {};
      }
    }
  }

  // By configuration of the problem how it splits what a link shares.
  std::vector<std::vector<space::Sharding>> SplitsAt(
      int segment, const std::vector<int>& values) const {
    std::vector<std::vector<space::Sharding>> splits;
    const int type = TypeOf(segment);
    const int count = static_cast<int>(out_.usable[type].size());
    for (int state = 0; state < count; ++state) {
      splits.push_back(SplitsOf(analysis_, segment, At(type, state), values,
                                space_.context.mesh));
    }
    return splits;
  }

  void ForbidUnlike(const space::ParameterLink& link,
                    problem::Table& table) const {
    std::vector<int> values[2];
    for (const auto& [from, to] : link.values) {
      values[0].push_back(from);
      values[1].push_back(to);
    }
    const auto rows = SplitsAt(link.from_segment, values[0]);
    const auto columns = SplitsAt(link.to_segment, values[1]);
    for (int a = 0; a < table.rows; ++a) {
      for (int b = 0; b < table.columns; ++b) {
        if (rows[a] != columns[b]) Forbid(a, b, table);
      }
    }
  }

  // Equal tables are one, so that its entries are measured once for all edges.
  int Keep(problem::Table table) {
    auto& tables = out_.problem.tables;
    for (size_t i = 0; i < tables.size(); ++i) {
      if (tables[i].columns == table.columns &&
          tables[i].entries == table.entries &&
          tables[i].spreads == table.spreads) {
        return static_cast<int>(i);
      }
    }
    tables.push_back(std::move(table));
    return static_cast<int>(out_.problem.tables.size()) - 1;
  }

  const Analysis& analysis_;
  const space::ProfileSpace& space_;
  const store::Results& results_;
  const Estimates& estimates_;
  const ProblemOptions options_;
  std::vector<int> node_of_;
  MeasuredProblem out_;
};

// The configuration of the problem.
std::optional<int> StateOf(const MeasuredProblem& measured, int type,
                           int configuration, int position) {
  const auto& usable = measured.usable[type];
  for (size_t i = 0; i < usable.size(); ++i) {
    if (usable[i] == configuration && measured.positions[type][i] == position) {
      return static_cast<int>(i);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<problem::Config> MeasuredCost(
    const space::ProfileSpace& space, const space::Configuration& configuration,
    const store::Results& results) {
  problem::Config config = StaticCost(configuration);
  if (configuration.program < 0) return config;
  const v1::ProfileResult* result =
      MeasuredRow(space, results, configuration.program);
  if (result == nullptr) return std::nullopt;
  const v1::Measurement& measurement = result->measurement();
  double nanoseconds =
      configuration.weight * static_cast<double>(measurement.minimum_ns());
  IndependentSpreads spread;
  spread.Add(configuration.weight * SpreadNs(measurement));
  for (const space::Correction& correction : configuration.corrections) {
    const v1::ProfileResult* other =
        MeasuredRow(space, results, correction.program);
    if (other == nullptr) return std::nullopt;
    nanoseconds += correction.weight *
                   static_cast<double>(other->measurement().minimum_ns());
    spread.Add(correction.weight * SpreadNs(other->measurement()));
  }
  // The difference of two noisy times must not make a loop free.
  nanoseconds = std::clamp(nanoseconds,
                           static_cast<double>(measurement.minimum_ns()), 1e15);
  config.time = Picoseconds(static_cast<int64_t>(nanoseconds) *
                            kPicosecondsPerNanosecond);
  config.spread = spread.Around(config.time);
  const int64_t kept = configuration.saved_bytes - configuration.given_bytes;
  config.transient_bytes =
      std::max<int64_t>(0, measurement.memory().temporary_bytes() - kept);
  return config;
}

std::optional<problem::Config> MainCost(
    const space::ProfileSpace& space, const space::Configuration& configuration,
    const store::Results& results) {
  space::Configuration main = configuration;
  main.corrections.clear();
  return MeasuredCost(space, main, results);
}

absl::StatusOr<MeasuredProblem> BuildProblem(
    const Analysis& analysis, const space::ProfileSpace& space,
    const store::Results& results, std::optional<int64_t> memory_limit_bytes,
    const Estimates& estimates, const ProblemOptions& options) {
  return ProblemBuilder(analysis, space, results, estimates, options)
      .Build(memory_limit_bytes);
}

exporting::SegmentChoice ToSegments(const Analysis& analysis,
                                    const MeasuredProblem& measured,
                                    const problem::Choice& choice) {
  exporting::SegmentChoice segments(analysis.graphs.size(), 0);
  for (size_t node = 0; node < measured.runs.size(); ++node) {
    const SegmentRun& run = measured.runs[node];
    for (int copy = 0; copy < run.count; ++copy) {
      const int segment = run.first_segment + copy;
      segments[segment] =
          measured
              .usable[analysis.type_of_segment[segment]][choice[node][copy]];
    }
  }
  return segments;
}

absl::StatusOr<problem::Choice> FromSegments(
    const Analysis& analysis, const space::ProfileSpace& space,
    const MeasuredProblem& measured, const exporting::SegmentChoice& choice) {
  problem::Choice result;
  for (const SegmentRun& run : measured.runs) {
    std::vector<int>& copies = result.emplace_back();
    int position = 0;
    for (int copy = 0; copy < run.count; ++copy) {
      const int segment = run.first_segment + copy;
      const int type = analysis.type_of_segment[segment];
      const space::GroupRole& role =
          space.types[type].configurations[choice[segment]].role;
      position = role.handed ? position + 1 : 0;
      const std::optional<int> state =
          StateOf(measured, type, choice[segment], position);
      if (!state.has_value()) {
        return absl::NotFoundError(absl::StrCat(
            "configuration ", choice[segment], " of segment ", segment,
            position > 0
                ? " was not measured, or its group has too many members"
                : " was not measured"));
      }
      copies.push_back(*state);
    }
  }
  return result;
}

}  // namespace meshwright::service
