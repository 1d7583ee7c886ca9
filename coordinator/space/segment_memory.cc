#include "coordinator/space/segment_memory.h"

#include <vector>

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;

// Whether the backward pass reads the value, as it is or rearranged.
bool ReachesBackward(const Analysis& analysis, const SegmentGraph& graph,
                     int value) {
  std::vector<int> stack = {value};
  while (!stack.empty()) {
    const int at = stack.back();
    stack.pop_back();
    for (int user : graph.values[at].users) {
      const ir::ValueId origin = graph.values[user].origin;
      if (!analysis.direction.forward[origin]) return true;
      const ir::Opcode opcode = analysis.module.at(origin).opcode;
      if (ir::IsLayout(opcode) || opcode == ir::Opcode::kBroadcast) {
        stack.push_back(user);
      }
    }
  }
  return false;
}

}  // namespace

void CountBytes(const Analysis& analysis, const SegmentGraph& graph,
                const Mesh& mesh, Configuration& configuration) {
  const auto bytes = [&](int value) {
    const ir::Shape& shape =
        analysis.module.at(graph.values[value].origin).shape;
    return BytesPerDevice(
        shape, configuration.annotation.Of(value, shape, mesh), mesh);
  };
  for (const auto& [argument, updated] : graph.state) {
    configuration.persistent_bytes += bytes(argument);
  }
  const auto& direction = analysis.direction;
  for (int i = 0; i < static_cast<int>(graph.values.size()); ++i) {
    const ir::ValueId origin = graph.values[i].origin;
    const ir::Instruction& it = analysis.module.at(origin);
    if (!direction.forward[origin] || direction.recomputable[origin] ||
        it.opcode == ir::Opcode::kParameter) {
      continue;
    }
    // What the backward pass reads is kept, unless it only moves or spreads
    // what is kept already.
    const bool kept =
        graph.is_input(i) ||
        (!ir::IsLayout(it.opcode) && it.opcode != ir::Opcode::kBroadcast);
    if (kept && ReachesBackward(analysis, graph, i)) {
      configuration.saved_bytes += bytes(i);
    }
  }
}

}  // namespace meshwright::space
