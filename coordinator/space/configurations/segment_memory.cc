#include "coordinator/space/configurations/segment_memory.h"

#include <algorithm>
#include <map>
#include <vector>

#include "coordinator/space/rematerialization/groups.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;

// Whether the backward pass reads the value, as it is or rearranged.
bool ReachesBackward(const Analysis &analysis, const SegmentGraph &graph,
                     int value) {
  std::vector<int> stack = {value};
  while (!stack.empty()) {
    const int at = stack.back();
    stack.pop_back();
    for (int user : graph.values[at].users) {
      const ir::ValueId origin = graph.values[user].origin;
      if (!analysis.passes.forward[origin]) return true;
      const ir::Opcode opcode = analysis.module.at(origin).opcode;
      if (ir::IsLayout(opcode) || opcode == ir::Opcode::kBroadcast) {
        stack.push_back(user);
      }
    }
  }
  return false;
}

// Operations whose result only moves or spreads what is there already.
bool Rearranges(const ir::Instruction &it) {
  return ir::IsLayout(it.opcode) || it.opcode == ir::Opcode::kBroadcast;
}

// What of a forward value lives until the backward pass reads it: itself, and
// copies in other splits that both passes read.
int64_t SavedBytes(const Analysis &analysis, const SegmentGraph &graph,
                   const SegmentAnnotation &annotation, const Mesh &mesh,
                   int value) {
  struct Readers {
    bool forward = false;
    bool backward = false;
  };
  const ir::Instruction &it = analysis.module.at(graph.values[value].origin);
  const Sharding own = annotation.GetSharding(value, it.shape, mesh);
  std::map<Sharding, Readers> readers;
  for (int user : graph.values[value].users) {
    const ir::ValueId origin = graph.values[user].origin;
    const bool forward = analysis.passes.forward[origin];
    const bool backward = !forward || (Rearranges(analysis.module.at(origin)) &&
                                       ReachesBackward(analysis, graph, user));
    const auto &operands = graph.values[user].operands;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k] != value) continue;
      Readers &of = readers[annotation.GetDemanded(user, static_cast<int>(k),
                                                   value, it.shape, mesh)];
      of.forward |= forward;
      of.backward |= backward;
    }
  }
  int64_t bytes = 0;
  bool keeps_own = readers.contains(own) && readers.at(own).backward;
  for (const auto &[sharding, of] : readers) {
    if (sharding == own || !of.backward) continue;
    if (of.forward) {
      bytes += BytesPerDevice(it.shape, sharding, mesh);
    } else {
      keeps_own = true;
    }
  }
  // An argument is state or the step's input, counted elsewhere.
  if (keeps_own && it.opcode != ir::Opcode::kParameter) {
    bytes += BytesPerDevice(it.shape, own, mesh);
  }
  return bytes;
}

// Of one device; an argument is counted elsewhere.
int64_t ValueBytes(const Analysis &analysis, const SegmentGraph &graph,
                   const SegmentAnnotation &annotation, const Mesh &mesh,
                   int value) {
  const ir::Instruction &it = analysis.module.at(graph.values[value].origin);
  if (it.opcode == ir::Opcode::kParameter) return 0;
  return BytesPerDevice(it.shape, annotation.GetSharding(value, it.shape, mesh),
                        mesh);
}

// What lives from a segment's rematerialization until its backward pass, with
// what links hand to it.
int64_t CountRematerializedBytes(const Analysis &analysis,
                                 const SegmentGraph &graph,
                                 const SegmentAnnotation &annotation,
                                 const Mesh &mesh,
                                 const Rematerialization &rematerialization) {
  std::vector<char> linked(graph.values.size(), false);
  for (const GroupLink &link : FindLinks(analysis, graph.segment)) {
    linked[link.entry] = true;
  }
  int64_t bytes = 0;
  for (int i = 0; i < static_cast<int>(graph.values.size()); ++i) {
    const ir::ValueId origin = graph.values[i].origin;
    if (!rematerialization.recomputed[i] && !rematerialization.entrance[i])
      continue;
    if (!analysis.passes.forward[origin]) continue;
    if (!graph.is_input(i) && Rearranges(analysis.module.at(origin))) continue;
    const int64_t saved = SavedBytes(analysis, graph, annotation, mesh, i);
    const int64_t own = ValueBytes(analysis, graph, annotation, mesh, i);
    if (linked[i]) {
      bytes += std::max(saved, own);
    } else {
      // What is kept anyway counts there.
      bytes += rematerialization.entrance[i] ? std::max<int64_t>(0, saved - own)
                                             : saved;
    }
  }
  return bytes;
}

// What a loop that is looked through carries from trip to trip for the segment:
// the sum of its gradients.
bool IsSumOverTrips(const Analysis &analysis, ir::ValueId id) {
  const ir::Instruction &it = analysis.module.at(id);
  return it.opcode == ir::Opcode::kCarry &&
         !analysis.plan.kept_loops[it.boundary] && !analysis.passes.forward[id];
}

}  // namespace

void CountBytes(const Analysis &analysis, const SegmentGraph &graph,
                const Mesh &mesh, Configuration &configuration) {
  const SegmentAnnotation &annotation = configuration.annotation;
  for (const auto &[argument, updated] : graph.state) {
    const ir::Shape &shape =
        analysis.module.at(graph.values[argument].origin).shape;
    configuration.persistent_bytes += BytesPerDevice(
        shape, annotation.GetSharding(argument, shape, mesh), mesh);
  }
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (!IsSumOverTrips(analysis, graph.values[i].origin)) continue;
    const ir::Shape &shape = analysis.module.at(graph.values[i].origin).shape;
    configuration.summed_bytes += BytesPerDevice(
        shape, annotation.GetSharding(static_cast<int>(i), shape, mesh), mesh);
  }
  configuration.given_bytes += configuration.summed_bytes;
  const Rematerialization rematerialization =
      configuration.recompute
          ? FindRematerializationInRole(analysis, graph, configuration.role)
          : Rematerialization();
  for (size_t i = 0; i < rematerialization.entrance.size(); ++i) {
    if (!rematerialization.entrance[i] || rematerialization.handed[i]) continue;
    configuration.given_bytes +=
        ValueBytes(analysis, graph, annotation, mesh, static_cast<int>(i));
  }
  if (configuration.role.InGroup()) {
    configuration.rematerialized_bytes = CountRematerializedBytes(
        analysis, graph, annotation, mesh, rematerialization);
  }
  configuration.saved_bytes += configuration.given_bytes;
  const auto &direction = analysis.passes;
  for (int i = 0; i < static_cast<int>(graph.values.size()); ++i) {
    const ir::ValueId origin = graph.values[i].origin;
    if (!direction.forward[origin] || direction.recomputable[origin]) continue;
    if (!rematerialization.empty() &&
        (rematerialization.recomputed[i] || rematerialization.entrance[i]))
      continue;
    if (!graph.is_input(i) && Rearranges(analysis.module.at(origin))) continue;
    configuration.saved_bytes +=
        SavedBytes(analysis, graph, annotation, mesh, i);
  }
}

}  // namespace meshwright::space
