#include "coordinator/ir/load/load.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/ir/checks/verify.h"
#include "coordinator/ir/load/inline_calls.h"
#include "coordinator/ir/load/outside_calls.h"
#include "coordinator/ir/load/parse.h"
#include "coordinator/ir/load/resolve.h"
#include "coordinator/ir/rewrite/tidy.h"

namespace meshwright::ir {
namespace {

absl::Status ReadAliases(const hlo::HloModuleProto& proto, Module& module) {
  for (const auto& entry : proto.input_output_alias().entries()) {
    const int64_t parameter = entry.parameter_number();
    // A root that is no tuple is named by the empty index.
    if (entry.output_shape_index_size() > 1 ||
        entry.parameter_shape_index_size() > 0) {
      continue;  // nested tuples carry no state we could follow
    }
    const int64_t output =
        entry.output_shape_index_size() == 0 ? 0 : entry.output_shape_index(0);
    if (parameter < 0 ||
        parameter >= static_cast<int64_t>(module.parameters.size()) ||
        output < 0 || output >= static_cast<int64_t>(module.outputs.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("the alias of output ", output, " and parameter ",
                       parameter, " names one that does not exist"));
    }
    module.aliases.push_back(
        {static_cast<int>(output), static_cast<int>(parameter)});
  }
  return absl::OkStatus();
}

// A donor may become any output of its shape. Like JAX, each takes the first
// one left.
absl::Status ReadDonors(const hlo::HloModuleProto& proto, Module& module) {
  std::vector<char> has_parameter(module.outputs.size());
  std::vector<char> is_donated(module.parameters.size());
  for (const Alias& alias : module.aliases) {
    has_parameter[alias.output] = is_donated[alias.parameter] = 1;
  }
  using Key = std::pair<std::vector<int64_t>, int>;
  std::map<Key, std::deque<int>> outputs;
  const auto make_key = [&](ValueId id) {
    const Shape& shape = module.at(id).shape;
    return Key(shape.dims, static_cast<int>(shape.element_type));
  };
  for (size_t i = 0; i < module.outputs.size(); ++i) {
    if (has_parameter[i]) continue;
    outputs[make_key(module.outputs[i])].push_back(static_cast<int>(i));
  }
  for (const auto& entry : proto.buffer_donor().entries()) {
    const int64_t parameter = entry.parameter_number();
    if (entry.parameter_shape_index_size() > 0) continue;  // as above
    if (parameter < 0 ||
        parameter >= static_cast<int64_t>(module.parameters.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("the buffer donor ", parameter,
                       " is a parameter that does not exist"));
    }
    if (std::exchange(is_donated[parameter], 1)) continue;
    std::deque<int>& fitting = outputs[make_key(module.parameters[parameter])];
    if (fitting.empty()) continue;  // nothing can use it
    module.aliases.push_back({fitting.front(), static_cast<int>(parameter)});
    fitting.pop_front();
  }
  std::sort(module.aliases.begin(), module.aliases.end(),
            [](const Alias& a, const Alias& b) { return a.output < b.output; });
  return absl::OkStatus();
}

// A map, which each process writes in an order of its own. The keys of programs
// are made of these bytes.
void SortFrontendAttributes(hlo::HloInstructionProto& it) {
  if (it.frontend_attributes().empty()) return;
  hlo::FrontendAttributes sorted;
  if (!sorted.ParseFromString(it.frontend_attributes())) return;
  std::sort(sorted.mutable_map()->pointer_begin(),
            sorted.mutable_map()->pointer_end(),
            [](const auto* a, const auto* b) { return a->key() < b->key(); });
  it.set_frontend_attributes(sorted.SerializeAsString());
}

// Where operations came from is long, is read of arguments only, and would be
// copied into every program.
void Normalize(hlo::HloModuleProto& proto) {
  for (hlo::HloComputationProto& computation : *proto.mutable_computations()) {
    for (hlo::HloInstructionProto& it : *computation.mutable_instructions()) {
      if (it.opcode() != "parameter") it.clear_metadata();
      SortFrontendAttributes(it);
    }
  }
}

// `proto` lives in `arena`.
absl::StatusOr<Module> Build(hlo::HloModuleProto& proto,
                             std::shared_ptr<google::protobuf::Arena> arena) {
  RETURN_IF_ERROR(RefuseManualSharding(proto));
  ASSIGN_OR_RETURN(const ResolvedModule resolved, Resolve(proto));
  ASSIGN_OR_RETURN(Module module, Flatten(proto, resolved));
  module.arena = std::move(arena);
  for (const ValueId id : module.ids()) {
    RETURN_IF_ERROR(VerifyShape(module, id));
  }
  ReplaceKeptConstraints(proto, module);
  module.host_calls = ListHostCalls(module);
  LeaveOutKeptHostCalls(proto, module);
  Tidy(module);
  RETURN_IF_ERROR(RefuseHostCalls(module));
  RETURN_IF_ERROR(ReadAliases(proto, module));
  RETURN_IF_ERROR(ReadDonors(proto, module));
  return module;
}

}  // namespace

absl::StatusOr<hlo::HloModuleProto> ParseModule(std::string_view bytes) {
  google::protobuf::Arena arena;
  ASSIGN_OR_RETURN(hlo::HloModuleProto* const proto, ParseInto(bytes, arena));
  return std::move(*proto);
}

absl::StatusOr<Module> BuildModule(hlo::HloModuleProto proto) {
  auto arena = std::make_shared<google::protobuf::Arena>();
  auto* const kept = new hlo::HloModuleProto(std::move(proto));
  arena->Own(kept);
  Normalize(*kept);
  return Build(*kept, std::move(arena));
}

absl::StatusOr<Module> LoadModule(std::string_view bytes) {
  google::protobuf::ArenaOptions options;
  // protobuf keeps its cleanup list at a block's end: whole words only.
  options.start_block_size =
      std::clamp<size_t>(bytes.size(), 4096, 1 << 20) / 8 * 8;
  options.max_block_size = 1 << 20;
  auto arena = std::make_shared<google::protobuf::Arena>(options);
  ASSIGN_OR_RETURN(hlo::HloModuleProto* const proto, ParseInto(bytes, *arena));
  Normalize(*proto);
  return Build(*proto, std::move(arena));
}

}  // namespace meshwright::ir
