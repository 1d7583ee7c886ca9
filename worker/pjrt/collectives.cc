#include "worker/pjrt/collectives.h"

#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "worker/pjrt/element_type.h"

namespace meshwright::worker::pjrt {
namespace {

constexpr absl::string_view kKinds[] = {
    "all-reduce",          "all-gather",        "reduce-scatter",
    "all-to-all",          "ragged-all-to-all", "collective-permute",
    "collective-broadcast"};

// The kind of a collective, empty for any other instruction.
absl::string_view FindKind(absl::string_view opcode) {
  for (const absl::string_view kind : kKinds) {
    if (absl::StripSuffix(opcode, "-start") == kind) return kind;
  }
  return {};
}

int64_t ResultBytes(const hlo::HloInstructionProto& instruction,
                    absl::string_view kind) {
  const hlo::ShapeProto& shape = instruction.shape();
  // The start of a gather or permute carries (operands, results, ...).
  if (absl::EndsWith(instruction.opcode(), "-start") && kind != "all-reduce" &&
      shape.tuple_shapes_size() >= 2) {
    return CountShapeBytes(shape.tuple_shapes(1));
  }
  return CountShapeBytes(shape);
}

int64_t GroupSize(const hlo::HloInstructionProto& instruction,
                  absl::string_view kind, int device_count) {
  if (kind == "collective-permute") return device_count;
  if (instruction.has_collective_device_list()) {
    const auto& list = instruction.collective_device_list();
    if (list.iota_replica_group_list().num_devices_per_group() > 0) {
      return list.iota_replica_group_list().num_devices_per_group();
    }
    if (list.replica_groups_size() > 0) {
      return list.replica_groups(0).replica_ids_size();
    }
  }
  if (instruction.replica_groups_size() > 0 &&
      instruction.replica_groups(0).replica_ids_size() > 0) {
    return instruction.replica_groups(0).replica_ids_size();
  }
  return device_count;
}

// XLA writes {"known_trip_count":{"n":"4"},...} on loops it has understood.
int64_t TripCount(const hlo::HloInstructionProto& loop) {
  absl::string_view text(loop.backend_config());
  const size_t key = text.find("\"known_trip_count\"");
  if (key == absl::string_view::npos) return 1;
  text.remove_prefix(key + std::string_view("\"known_trip_count\"").size());
  const size_t first = text.find_first_of("0123456789");
  if (first == absl::string_view::npos) return 1;
  text.remove_prefix(first);
  int64_t count = 1;
  return absl::SimpleAtoi(text.substr(0, text.find_first_not_of("0123456789")),
                          &count)
             ? count
             : 1;
}

class Counter {
 public:
  Counter(const hlo::HloModuleProto& module, int device_count)
      : device_count_(device_count) {
    for (const auto& computation : module.computations()) {
      computations_[computation.id()] = &computation;
    }
  }

  // XLA's call graph has no cycles; the depth bound holds for any bytes.
  void Visit(int64_t computation_id, int64_t times, int depth) {
    const auto computation = computations_.find(computation_id);
    if (computation == computations_.end() || depth > 64) return;
    for (const auto& instruction : computation->second->instructions()) {
      const absl::string_view kind = FindKind(instruction.opcode());
      if (!kind.empty()) {
        counts_[{std::string(kind), ResultBytes(instruction, kind),
                 GroupSize(instruction, kind, device_count_)}] += times;
        continue;
      }
      // Bodies of these are scalar or elementwise.
      if (absl::StartsWith(instruction.opcode(), "reduce") ||
          instruction.opcode() == "fusion" || instruction.opcode() == "sort" ||
          instruction.opcode() == "scatter" || instruction.opcode() == "map") {
        continue;
      }
      const int64_t trips =
          instruction.opcode() == "while" ? TripCount(instruction) : 1;
      for (const int64_t called : instruction.called_computation_ids()) {
        Visit(called, times * trips, depth + 1);
      }
    }
  }

  std::vector<v1::Collective> Take() const {
    std::vector<v1::Collective> collectives;
    for (const auto& [key, count] : counts_) {
      v1::Collective& collective = collectives.emplace_back();
      collective.set_kind(std::get<0>(key));
      collective.set_bytes(std::get<1>(key));
      collective.set_group_size(std::get<2>(key));
      collective.set_count(count);
    }
    return collectives;
  }

 private:
  int device_count_;
  std::unordered_map<int64_t, const hlo::HloComputationProto*> computations_;
  std::map<std::tuple<std::string, int64_t, int64_t>, int64_t> counts_;
};

}  // namespace

std::vector<v1::Collective> FindCollectives(const hlo::HloModuleProto& module,
                                            int device_count) {
  Counter counter(module, device_count);
  counter.Visit(module.entry_computation_id(), 1, 0);
  return counter.Take();
}

std::set<std::string> NameCollectives(const hlo::HloModuleProto& module) {
  std::set<std::string> names;
  for (const hlo::HloComputationProto& computation : module.computations()) {
    for (const auto& instruction : computation.instructions()) {
      if (!FindKind(absl::StripSuffix(instruction.opcode(), "-done")).empty()) {
        names.insert(instruction.name());
      }
    }
  }
  return names;
}

}  // namespace meshwright::worker::pjrt
