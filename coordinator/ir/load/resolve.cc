#include "coordinator/ir/load/resolve.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::ir {
namespace {

// Whatever recurses over computations later relies on it.
constexpr int kMaxHeight = 100;

absl::Status Bad(const std::string& what) {
  return absl::InvalidArgumentError(what);
}

// Positions by id: a plain array where the ids lie close together, as those of
// one computation do, else a sorted list.
class PositionTable {
 public:
  explicit PositionTable(const hlo::HloComputationProto& computation) {
    const auto& instructions = computation.instructions();
    if (instructions.empty()) return;
    const auto [least, most] = std::minmax_element(
        instructions.begin(), instructions.end(),
        [](const auto& a, const auto& b) { return a.id() < b.id(); });
    min_id_ = least->id();
    const uint64_t span = Offset(most->id());
    dense_ = span < 4 * static_cast<uint64_t>(instructions.size());
    if (dense_) {
      positions_.assign(span + 1, -1);
      return;
    }
    sorted_.reserve(instructions.size());
    for (int i = 0; i < instructions.size(); ++i) {
      sorted_.emplace_back(instructions[i].id(), i);
    }
    std::sort(sorted_.begin(), sorted_.end());
  }

  // Takes the ids in the order of their positions; false if one is taken.
  bool Define(int64_t id, int32_t position) {
    if (dense_) {
      int32_t& place = positions_[Offset(id)];
      if (place >= 0) return false;
      place = position;
      return true;
    }
    return LowerBound(id)->second == position;
  }

  // -1 for an id that none of the first `defined` instructions has.
  int32_t Find(int64_t id, int32_t defined) const {
    if (dense_) {
      const uint64_t offset = Offset(id);
      return offset < positions_.size() ? positions_[offset] : -1;
    }
    const auto found = LowerBound(id);
    return found != sorted_.end() && found->first == id &&
                   found->second < defined
               ? found->second
               : -1;
  }

 private:
  uint64_t Offset(int64_t id) const {
    return static_cast<uint64_t>(id) - static_cast<uint64_t>(min_id_);
  }
  std::vector<std::pair<int64_t, int32_t>>::const_iterator LowerBound(
      int64_t id) const {
    return std::lower_bound(sorted_.begin(), sorted_.end(),
                            std::pair<int64_t, int32_t>(id, -1));
  }

  bool dense_ = false;
  int64_t min_id_ = 0;
  std::vector<int32_t> positions_;
  std::vector<std::pair<int64_t, int32_t>> sorted_;
};

class Resolver {
 public:
  explicit Resolver(const hlo::HloModuleProto& module) : module_(module) {}

  absl::StatusOr<ResolvedModule> Run() {
    if (module_.computations().empty()) {
      return Bad("the file holds no HLO module");
    }
    resolved_.entry = module_.entry_computation_id();
    for (const auto& computation : module_.computations()) {
      ASSIGN_OR_RETURN(ResolvedComputation made, Computation(computation));
      const int64_t id = computation.id();
      if (!resolved_.computations.emplace(id, std::move(made)).second) {
        return Bad(absl::StrCat("computation ", computation.name(),
                                " has an id that is taken already"));
      }
    }
    if (!resolved_.computations.contains(resolved_.entry)) {
      return Bad("the module has no entry computation");
    }
    return std::move(resolved_);
  }

 private:
  absl::StatusOr<ResolvedComputation> Computation(
      const hlo::HloComputationProto& message) {
    ResolvedComputation made;
    made.message = &message;
    PositionTable table(message);
    std::vector<char> numbers;  // of parameters: which are taken
    int parameters = 0;
    for (int32_t i = 0; i < message.instructions_size(); ++i) {
      const hlo::HloInstructionProto& it = message.instructions(i);
      for (int64_t operand : it.operand_ids()) {
        const int32_t position = table.Find(operand, i);
        if (position < 0) {
          return Bad(absl::StrCat(Where(it, message), " uses id ", operand,
                                  ", which no instruction before it defines"));
        }
        made.operands.push_back(position);
      }
      if (!table.Define(it.id(), i)) {
        return Bad(absl::StrCat(Where(it, message),
                                " has an id that is taken already"));
      }
      RETURN_IF_ERROR(Callees(it, message, made));
      if (it.opcode() != "parameter") continue;
      ++parameters;
      const int64_t number = it.parameter_number();
      if (number < 0 || number >= message.instructions_size()) {
        return Bad(absl::StrCat(Where(it, message), " skips to number ", number,
                                " of the parameters"));
      }
      if (number >= static_cast<int64_t>(numbers.size())) {
        numbers.resize(number + 1, 0);
      }
      if (std::exchange(numbers[number], 1) != 0) {
        return Bad(absl::StrCat(Where(it, message),
                                " repeats parameter number ", number));
      }
    }
    if (static_cast<size_t>(parameters) != numbers.size()) {
      return Bad(absl::StrCat("computation ", message.name(),
                              " skips a parameter number"));
    }
    made.root = table.Find(message.root_id(), message.instructions_size());
    if (made.root < 0) {
      return Bad(absl::StrCat("computation ", message.name(),
                              " has no root instruction"));
    }
    return made;
  }

  // Callees stand before their callers, so that none can call itself.
  absl::Status Callees(const hlo::HloInstructionProto& it,
                       const hlo::HloComputationProto& message,
                       ResolvedComputation& made) const {
    for (int64_t callee : it.called_computation_ids()) {
      const auto found = resolved_.computations.find(callee);
      if (found == resolved_.computations.end()) {
        return Bad(absl::StrCat(
            Where(it, message), " calls computation ", callee,
            ", which the module does not define before ", message.name()));
      }
      made.height = std::max(made.height, found->second.height + 1);
      if (made.height > kMaxHeight) {
        return Bad(absl::StrCat(Where(it, message),
                                " nests computations deeper than ",
                                kMaxHeight));
      }
    }
    return absl::OkStatus();
  }

  static std::string Where(const hlo::HloInstructionProto& it,
                           const hlo::HloComputationProto& computation) {
    return absl::StrCat("instruction ", it.name(), " of ", computation.name());
  }

  const hlo::HloModuleProto& module_;
  ResolvedModule resolved_;
};

}  // namespace

absl::StatusOr<ResolvedModule> Resolve(const hlo::HloModuleProto& module) {
  return Resolver(module).Run();
}

}  // namespace meshwright::ir
