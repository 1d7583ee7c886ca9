#include "planner/intraop/costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/problem/duration.h"

namespace meshwright::intraop {
namespace {

using layout::Spec;
using problem::Picoseconds;
using problem::SaturatingAdd;
using problem::SaturatingMultiply;

// Nearest, held at the longest time.
int64_t FromSeconds(double seconds) {
  const double max_seconds = problem::ToSeconds(problem::kMaxTime);
  return seconds < max_seconds ? std::llrint(seconds * 1e12)
                               : problem::kMaxTime.count();
}

int64_t Held(int64_t time) { return std::min(time, problem::kMaxTime.count()); }

int64_t Divide(const Share& share, const Strategy& strategy, const Mesh& mesh) {
  const int64_t parts = Parts(strategy, mesh, share.indices);
  return share.amount / parts + (share.amount % parts != 0);
}

int64_t Divide(const std::vector<Share>& shares, const Strategy& strategy,
               const Mesh& mesh) {
  int64_t sum = 0;
  for (const Share& share : shares) {
    sum = SaturatingAdd(sum, Divide(share, strategy, mesh));
  }
  return sum;
}

// Of a step along one axis. Alpa's costs are of bytes alone: what is left when
// the time of none is taken away.
double Seconds(const Machine& machine, layout::Op op, int axis, int64_t bytes) {
  const layout::AxisSet axes = layout::AxisSet{1} << axis;
  const double all =
      machine.links->Seconds(op, axes, machine.mesh[axis], bytes);
  return machine.cost == CostKind::kRoofline
             ? all
             : all - machine.links->Seconds(op, axes, machine.mesh[axis], 0);
}

double AllReduce(const Machine& machine, int axis, int64_t bytes) {
  const int64_t devices = machine.mesh[axis];
  return 2 * Seconds(machine, layout::Op::kAllGather, axis,
                     bytes / devices + (bytes % devices != 0));
}

// Axes that leave a dimension gather it, or move to another by an all-to-all;
// those that only join cut.
int64_t MovedTime(const Edge& edge, const Spec& from, const Spec& to,
                  const Machine& machine) {
  const int axes = static_cast<int>(machine.mesh.size());
  std::vector<std::optional<int>> before(axes), after(axes);  // dimensions
  for (size_t dim = 0; dim < edge.dims.size(); ++dim) {
    for (int axis : from[dim]) before[axis] = static_cast<int>(dim);
    for (int axis : to[dim]) after[axis] = static_cast<int>(dim);
  }
  double bytes = static_cast<double>(edge.elem_bytes);
  for (int64_t dim : edge.dims) bytes *= static_cast<double>(dim);
  for (int axis = 0; axis < axes; ++axis) {
    if (before[axis].has_value()) {
      bytes /= static_cast<double>(machine.mesh[axis]);
    }
  }
  double seconds = 0;
  for (int axis = 0; axis < axes; ++axis) {
    if (machine.mesh[axis] < 2 || !before[axis].has_value() ||
        before[axis] == after[axis]) {
      continue;
    }
    const bool gathers = !after[axis].has_value();
    const auto held = static_cast<int64_t>(std::min(bytes, 9e18));
    seconds += Seconds(machine,
                       gathers ? layout::Op::kAllGather : layout::Op::kAllToAll,
                       axis, held);
    if (gathers) bytes *= static_cast<double>(machine.mesh[axis]);
  }
  return FromSeconds(seconds);
}

// The specs that strategies give one tensor: many give the same.
struct Specs {
  Specs(const std::vector<Strategy>& strategies,
        const std::vector<int>& indices) {
    std::map<Spec, size_t> known;
    for (const Strategy& strategy : strategies) {
      Spec spec = MakeSpec(strategy, indices);
      const auto [entry, is_new] = known.try_emplace(spec, distinct.size());
      if (is_new) distinct.push_back(std::move(spec));
      of.push_back(entry->second);
    }
  }

  std::vector<Spec> distinct;
  std::vector<size_t> of;  // by strategy
};

class Conversions {
 public:
  Conversions(const Edge& edge, const Machine& machine,
              layout::LayoutPlanner& planner)
      : edge_(edge), machine_(machine), planner_(planner) {
    problem_.shape = edge.dims;
    problem_.elem_bytes = edge.elem_bytes;
    problem_.mesh = machine.mesh;
    problem_.links = machine.links;
  }

  // There, and back for the gradient.
  absl::StatusOr<std::optional<int64_t>> Between(const Spec& from,
                                                 const Spec& to) {
    ASSIGN_OR_RETURN(std::optional<int64_t> time, OneWay(from, to));
    if (time.has_value() && edge_.gradient) {
      ASSIGN_OR_RETURN(const std::optional<int64_t> back, OneWay(to, from));
      time = back.has_value()
                 ? std::optional<int64_t>(SaturatingAdd(*time, *back))
                 : std::nullopt;
    }
    if (time.has_value()) {
      time = Held(SaturatingMultiply(*time, edge_.times));
    }
    return time;
  }

 private:
  absl::StatusOr<std::optional<int64_t>> OneWay(const Spec& from,
                                                const Spec& to) {
    if (from == to) return std::optional<int64_t>(0);
    if (machine_.cost == CostKind::kCommunication) {
      return std::optional<int64_t>(MovedTime(edge_, from, to, machine_));
    }
    problem_.source = from;
    problem_.target = to;
    ASSIGN_OR_RETURN(const auto conversion, planner_.Convert(problem_));
    if (!conversion->path.has_value()) return std::optional<int64_t>();
    return std::optional<int64_t>(conversion->path->time.count());
  }

  const Edge& edge_;
  const Machine& machine_;
  layout::LayoutPlanner& planner_;
  layout::LayoutProblem problem_;
};

}  // namespace

absl::Status Validate(const Machine& machine) {
  if (machine.mesh.empty() ||
      machine.mesh.size() > static_cast<size_t>(layout::kMaxAxes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("mesh has ", machine.mesh.size(), " axes, not 1 to ",
                     layout::kMaxAxes));
  }
  for (size_t axis = 0; axis < machine.mesh.size(); ++axis) {
    if (machine.mesh[axis] < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "mesh[", axis, "] is ", machine.mesh[axis], ", below 1"));
    }
  }
  if (machine.links == nullptr ||
      machine.links->axis_count() != static_cast<int>(machine.mesh.size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "links are not those of the ", machine.mesh.size(), " axes of mesh"));
  }
  return absl::OkStatus();
}

Picoseconds ComputeCommunication(const Operator& it, const Strategy& strategy,
                                 const Machine& machine) {
  int64_t time = 0;
  for (const Partial& partial : it.partials) {
    const int64_t bytes = Divide(partial.bytes, strategy, machine.mesh);
    for (int axis = 0; axis < static_cast<int>(machine.mesh.size()); ++axis) {
      if (!strategy[axis].has_value() || machine.mesh[axis] < 2 ||
          std::find(partial.summed.begin(), partial.summed.end(),
                    *strategy[axis]) == partial.summed.end()) {
        continue;
      }
      time = SaturatingAdd(
          time, SaturatingMultiply(FromSeconds(AllReduce(machine, axis, bytes)),
                                   partial.times));
    }
  }
  return Picoseconds(Held(time));
}

problem::Config ComputeCost(const Operator& it, const Strategy& strategy,
                            const Machine& machine) {
  problem::Config config;
  const int64_t compute = machine.cost == CostKind::kRoofline
                              ? Divide(it.time, strategy, machine.mesh)
                              : 0;
  config.time = Picoseconds(Held(SaturatingAdd(
      compute, ComputeCommunication(it, strategy, machine).count())));
  config.persistent_bytes = Divide(it.persistent, strategy, machine.mesh);
  config.saved_bytes = Divide(it.saved, strategy, machine.mesh);
  config.transient_bytes = Divide(it.transient, strategy, machine.mesh);
  return config;
}

absl::StatusOr<problem::Table> MakeReshardingTable(
    const Edge& edge, const std::vector<Strategy>& from,
    const std::vector<Strategy>& to, const Machine& machine,
    layout::LayoutPlanner& planner) {
  const Specs sources(from, edge.from_indices);
  const Specs targets(to, edge.to_indices);
  Conversions conversions(edge, machine, planner);
  std::vector<std::optional<Picoseconds>> between;  // by source and target
  for (const Spec& source : sources.distinct) {
    for (const Spec& target : targets.distinct) {
      ASSIGN_OR_RETURN(const std::optional<int64_t> time,
                       conversions.Between(source, target));
      between.emplace_back();
      if (time.has_value()) between.back() = Picoseconds(*time);
    }
  }
  problem::Table table;
  table.rows = static_cast<int>(from.size());
  table.columns = static_cast<int>(to.size());
  for (const size_t source : sources.of) {
    for (const size_t target : targets.of) {
      table.entries.push_back(
          between[source * targets.distinct.size() + target]);
    }
  }
  return table;
}

}  // namespace meshwright::intraop
