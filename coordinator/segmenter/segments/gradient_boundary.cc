#include "coordinator/segmenter/segments/gradient_boundary.h"

#include <unordered_map>

namespace meshwright::segmenter {
namespace {

constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

uint64_t Add(uint64_t a, uint64_t b) { return (a + b) % kPrime; }

uint64_t Multiply(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b % kPrime);
}

// Whether `next` does nothing but write `id` in fewer bytes.
bool Narrows(const ir::Module& module, ir::ValueId id, ir::ValueId next) {
  const ir::Instruction& it = module.at(next);
  return it.opcode == ir::Opcode::kConvert && it.operands[0] == id &&
         ir::CountElementBytes(it.shape.element_type) <
             ir::CountElementBytes(module.at(id).shape.element_type);
}

}  // namespace

std::optional<ir::ValueId> FindGradientBoundary(
    const ir::Module& module, const std::vector<ir::ValueId>& gap,
    const std::function<bool(ir::ValueId)>& enters,
    const std::function<bool(ir::ValueId)>& leaves,
    const std::function<bool(ir::ValueId)>& ends,
    const std::function<bool(ir::ValueId)>& reads_upper) {
  std::unordered_map<ir::ValueId, uint64_t> above;
  std::unordered_map<ir::ValueId, uint64_t> below;
  for (ir::ValueId id : gap) above[id] = below[id] = 0;
  // An operation that reads a value of the gap twice is one path.
  std::unordered_map<ir::ValueId, uint64_t> entries;
  for (ir::ValueId id : gap) {
    for (ir::ValueId operand : module.at(id).operands) {
      if (!above.contains(operand) && enters(operand)) ++entries[id];
    }
    if (entries.contains(id)) above[id] = Add(above[id], entries[id]);
    for (ir::ValueId user : module.at(id).users) {
      const auto inner = above.find(user);
      if (inner != above.end()) inner->second = Add(inner->second, above[id]);
    }
  }
  for (auto it = gap.rbegin(); it != gap.rend(); ++it) {
    uint64_t& count = below[*it];
    if (ends(*it)) count = Add(count, 1);
    for (ir::ValueId user : module.at(*it).users) {
      const auto inner = below.find(user);
      if (inner != below.end()) {
        count = Add(count, inner->second);
      } else if (leaves(user)) {
        count = Add(count, 1);
      }
    }
  }
  uint64_t total = 0;
  for (const auto& [id, edges] : entries) {
    total = Add(total, Multiply(edges, below[id]));
  }
  if (total == 0) return std::nullopt;
  // Vertices on every path follow one another; `level` counts how many of them
  // lie strictly above.
  std::vector<ir::ValueId> on_every_path;
  std::unordered_map<ir::ValueId, size_t> level;
  size_t wanted = 0;
  for (ir::ValueId id : gap) {
    size_t& own = level[id];
    for (ir::ValueId operand : module.at(id).operands) {
      const auto inner = level.find(operand);
      if (inner == level.end()) continue;
      const bool counts = !on_every_path.empty() && below[operand] != 0 &&
                          Multiply(above[operand], below[operand]) == total;
      own = std::max(own, inner->second + (counts ? 1 : 0));
    }
    if (below[id] != 0 && Multiply(above[id], below[id]) == total) {
      on_every_path.push_back(id);
    }
    if (reads_upper(id)) wanted = std::max(wanted, own);
  }
  if (on_every_path.empty()) return std::nullopt;
  size_t chosen = std::min(wanted, on_every_path.size() - 1);
  while (chosen + 1 < on_every_path.size() &&
         Narrows(module, on_every_path[chosen], on_every_path[chosen + 1])) {
    ++chosen;
  }
  return on_every_path[chosen];
}

}  // namespace meshwright::segmenter
