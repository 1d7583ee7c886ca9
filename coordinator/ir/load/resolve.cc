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
    std::unordered_map<int64_t, int32_t> positions;  // by id
    positions.reserve(message.instructions_size());
    std::vector<char> numbers;  // of parameters: which are taken
    int parameters = 0;
    for (int32_t i = 0; i < message.instructions_size(); ++i) {
      const hlo::HloInstructionProto& it = message.instructions(i);
      for (int64_t operand : it.operand_ids()) {
        const auto found = positions.find(operand);
        if (found == positions.end()) {
          return Bad(absl::StrCat(Where(it, message), " uses id ", operand,
                                  ", which no instruction before it defines"));
        }
        made.operands.push_back(found->second);
      }
      if (!positions.emplace(it.id(), i).second) {
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
    const auto root = positions.find(message.root_id());
    if (root == positions.end()) {
      return Bad(absl::StrCat("computation ", message.name(),
                              " has no root instruction"));
    }
    made.root = root->second;
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
