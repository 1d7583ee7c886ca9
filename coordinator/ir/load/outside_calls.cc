#include "coordinator/ir/load/outside_calls.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace meshwright::ir {
namespace {

// Of GSPMD, and of Shardy.
constexpr std::string_view kManualSharding[] = {
    "SPMDFullToShardShape", "SPMDShardToFullShape",
    "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"};

// Of with_sharding_constraint, and of what Shardy leaves where it was written
// out as HLO.
constexpr std::string_view kConstraints[] = {
    "Sharding", "xla.sdy.FuncResultSharding", "xla.sdy.PropagationBarrier"};

bool IsOneOf(std::string_view target, std::span<const std::string_view> names) {
  return !target.empty() &&
         std::find(names.begin(), names.end(), target) != names.end();
}

// Keeps name, id, shape and operand.
void MakeCopy(hlo::HloInstructionProto& it) {
  hlo::HloInstructionProto copy;
  copy.set_opcode("copy");
  copy.set_name(it.name());
  copy.set_id(it.id());
  *copy.mutable_shape() = it.shape();
  *copy.mutable_operand_ids() = it.operand_ids();
  it = copy;
}

// "xla_ffi_python_cpu_callback", and its kin of other platforms and versions.
bool IsHostCall(const hlo::HloInstructionProto& it) {
  const std::string& target = it.custom_call_target();
  return absl::StrContains(target, "python") &&
         absl::StrContains(target, "callback");
}

bool HasHostCall(const hlo::HloComputationProto& computation) {
  return std::any_of(computation.instructions().begin(),
                     computation.instructions().end(), IsHostCall);
}

// By position: host calls, and elements of what they return, that nothing
// reads.
std::vector<char> FindUnread(const hlo::HloComputationProto& computation) {
  std::unordered_set<int64_t> read = {computation.root_id()};
  std::vector<char> unread(computation.instructions_size(), 0);
  for (int i = computation.instructions_size(); i-- > 0;) {
    const hlo::HloInstructionProto& it = computation.instructions(i);
    if (!read.contains(it.id()) &&
        (IsHostCall(it) || it.opcode() == "get-tuple-element")) {
      unread[i] = 1;
      continue;
    }
    read.insert(it.operand_ids().begin(), it.operand_ids().end());
  }
  return unread;
}

// Every computation that the module's instructions and loops call.
std::vector<int64_t> ListCalled(const Module& module) {
  std::vector<int64_t> called;
  std::unordered_set<int64_t> seen;
  const auto call = [&](int64_t id) {
    if (module.computations.contains(id) && seen.insert(id).second) {
      called.push_back(id);
    }
  };
  const auto call_all = [&](const hlo::HloInstructionProto& it) {
    for (const int64_t id : it.called_computation_ids()) call(id);
  };
  for (const ValueId id : module.ids()) call_all(module.at(id).attributes());
  for (const Loop& loop : module.loops) call(loop.condition);
  for (size_t i = 0; i < called.size(); ++i) {
    for (const auto& it : module.computations.at(called[i])->instructions()) {
      call_all(it);
    }
  }
  return called;
}

absl::Status RefuseHostCall(const std::string& name) {
  return absl::InvalidArgumentError(absl::StrCat(
      "instruction \"", name,
      "\" gives the result of a host callback, which no worker can run; "
      "compute it on the devices, or before the step"));
}

}  // namespace

absl::Status RefuseManualSharding(const hlo::HloModuleProto& proto) {
  for (const hlo::HloComputationProto& computation : proto.computations()) {
    for (const hlo::HloInstructionProto& it : computation.instructions()) {
      if (!IsOneOf(it.custom_call_target(), kManualSharding)) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "instruction \"", it.name(),
          "\" is a border of manual sharding (shard_map), which leaves no "
          "sharding to plan; take the shard_map out of the step"));
    }
  }
  return absl::OkStatus();
}

bool IsShardingConstraint(const hlo::HloInstructionProto& it,
                          const Shape& operand) {
  if (it.opcode() != "custom-call" || it.operand_ids_size() != 1 ||
      !IsOneOf(it.custom_call_target(), kConstraints)) {
    return false;
  }
  const auto shape = ShapeFromProto(it.shape());
  return shape.ok() && *shape == operand;
}

void ReplaceKeptConstraints(hlo::HloModuleProto& proto, Module& module) {
  for (hlo::HloComputationProto& computation : *proto.mutable_computations()) {
    if (!module.computations.contains(computation.id())) continue;
    std::unordered_map<int64_t, const hlo::HloInstructionProto*> by_id;
    for (hlo::HloInstructionProto& it : *computation.mutable_instructions()) {
      by_id[it.id()] = &it;
      if (it.operand_ids_size() != 1 ||
          !IsOneOf(it.custom_call_target(), kConstraints)) {
        continue;
      }
      const auto operand = by_id.find(it.operand_ids(0));
      if (operand == by_id.end()) continue;
      const auto shape = ShapeFromProto(operand->second->shape());
      if (!shape.ok() || !IsShardingConstraint(it, *shape)) continue;
      module.constraints.push_back(it.name());
      MakeCopy(it);
    }
  }
}

std::vector<std::string> ListHostCalls(const Module& module) {
  std::vector<std::string> names;
  for (const ValueId id : module.ids()) {
    if (IsHostCall(module.at(id).attributes()))
      names.push_back(module.at(id).name());
  }
  return names;
}

void LeaveOutKeptHostCalls(hlo::HloModuleProto& proto, Module& module) {
  for (hlo::HloComputationProto& computation : *proto.mutable_computations()) {
    if (!module.computations.contains(computation.id()) ||
        !HasHostCall(computation)) {
      continue;
    }
    const std::vector<char> unread = FindUnread(computation);
    auto& instructions = *computation.mutable_instructions();
    int kept = 0;
    for (int i = 0; i < instructions.size(); ++i) {
      if (!unread[i]) {
        instructions.SwapElements(i, kept++);
      } else if (IsHostCall(instructions.Get(i))) {
        module.host_calls.push_back(instructions.Get(i).name());
      }
    }
    // An instruction of the module may name one of them as its source.
    std::vector<hlo::HloInstructionProto*> left(instructions.size() - kept);
    instructions.ExtractSubrange(kept, static_cast<int>(left.size()),
                                 left.data());
    for (hlo::HloInstructionProto* const it : left) module.arena->Own(it);
  }
}

absl::Status RefuseHostCalls(const Module& module) {
  const std::vector<std::string> names = ListHostCalls(module);
  if (!names.empty()) return RefuseHostCall(names.front());
  for (const int64_t id : ListCalled(module)) {
    for (const auto& it : module.computations.at(id)->instructions()) {
      if (IsHostCall(it)) return RefuseHostCall(it.name());
    }
  }
  return absl::OkStatus();
}

}  // namespace meshwright::ir
