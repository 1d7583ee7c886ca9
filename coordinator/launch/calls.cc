#include "coordinator/launch/calls.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace meshwright::launch {
namespace {

using ir::ValueId;

// "F_3" and its like: the passes it stands for, and the micro-batch.
struct Operation {
  std::vector<Pass> passes;
  int micro_batch = 0;
};

std::optional<Operation> ReadOperation(const std::string& text) {
  static const std::map<std::string, std::vector<Pass>> kPasses = {
      {"F", {Pass::kForward}},
      {"B", {Pass::kBackward, Pass::kBackwardWeight}},
      {"BI", {Pass::kBackward}},
      {"BW", {Pass::kBackwardWeight}}};
  const std::vector<std::string> parts = absl::StrSplit(text, '_');
  const auto found = kPasses.find(parts[0]);
  Operation operation;
  if (parts.size() != 2 || found == kPasses.end() ||
      !absl::SimpleAtoi(parts[1], &operation.micro_batch)) {
    return std::nullopt;
  }
  operation.passes = found->second;
  return operation;
}

class CallFinder {
 public:
  explicit CallFinder(Launch& launch) : launch_(launch) {
    for (size_t m = 0; m < launch.modules.size(); ++m) {
      const LaunchModule& it = launch.modules[m];
      by_place_[it.place] = static_cast<int>(m);
      for (const ValueId id : it.part.summed) summed_.insert(id);
      if (it.place.pass != Pass::kUpdate) continue;
      for (const ValueId id : it.part.leaving) once_.insert(id);
    }
  }

  absl::Status Run(const v1::Plan& plan) {
    const auto& orders = plan.pipeline().order();
    if (orders.size() != plan.stages_size()) return Bad();
    std::vector<int> next(orders.size(), 0);
    for (bool moved = true; std::exchange(moved, false);) {
      for (int stage = 0; stage < orders.size(); ++stage) {
        const auto& operations = orders[stage].operations();
        while (next[stage] < operations.size()) {
          const auto operation = ReadOperation(operations[next[stage]]);
          if (!operation.has_value()) return Bad();
          if (!Try(stage, *operation)) break;
          ++next[stage];
          moved = true;
        }
      }
    }
    for (int stage = 0; stage < orders.size(); ++stage) {
      if (next[stage] < orders[stage].operations_size()) return Bad();
    }
    for (size_t m = 0; m < launch_.modules.size(); ++m) {
      const LaunchModule& it = launch_.modules[m];
      if (it.place.pass != Pass::kUpdate) continue;
      if (!IsReady(it, 0)) return Bad();
      Call(static_cast<int>(m), 0);
    }
    return AddResults();
  }

 private:
  static absl::Status Bad() {
    return absl::InvalidArgumentError(
        "the order of the plan's pipeline is none that its stages can run; "
        "it was made for another model");
  }

  // Runs what the operation stands for, if all it needs is there.
  bool Try(int stage, const Operation& operation) {
    for (const Pass pass : operation.passes) {
      const auto found = by_place_.find({stage, pass, 0});
      if (found == by_place_.end()) continue;
      if (done_.contains({found->second, operation.micro_batch})) continue;
      if (!IsReady(launch_.modules[found->second], operation.micro_batch)) {
        return false;
      }
      Call(found->second, operation.micro_batch);
      done_.insert({found->second, operation.micro_batch});
    }
    return true;
  }

  std::optional<int> Argument(ValueId id) const {
    return FindArgument(launch_.analysis.module, id);
  }

  struct MicroBatchValue {
    ValueId value;
    int micro_batch = 0;
    auto operator<=>(const MicroBatchValue&) const = default;
  };

  struct ModuleRun {
    int module = 0;
    int micro_batch = 0;
    auto operator<=>(const ModuleRun&) const = default;
  };

  // The key of a value as a module reads it.
  MicroBatchValue Key(const Place& place, ValueId id, int micro_batch) const {
    const std::optional<int> argument = Argument(id);
    const bool once = argument.has_value() ? !launch_.IsOfMicroBatch(*argument)
                                           : once_.contains(id);
    if (once) return {id, 0};
    // An update reads the last.
    const bool update = place.pass == Pass::kUpdate;
    return {id, update ? launch_.micro_batches - 1 : micro_batch};
  }

  bool ReadsSum(const Place& place, ValueId id) const {
    return place.pass == Pass::kUpdate && summed_.contains(id);
  }

  bool IsReady(const LaunchModule& module, int micro_batch) const {
    return std::all_of(
        module.part.entering.begin(), module.part.entering.end(),
        [&](ValueId id) {
          return Argument(id).has_value() ||
                 (ReadsSum(module.place, id)
                      ? sums_.contains(id)
                      : slots_.contains(Key(module.place, id, micro_batch)));
        });
  }

  int Input(const LaunchModule& module, ValueId id, int micro_batch) {
    if (ReadsSum(module.place, id)) return sums_.at(id);
    const auto key = Key(module.place, id, micro_batch);
    const auto [slot, added] = slots_.try_emplace(key, next_slot_);
    if (added) {
      ++next_slot_;  // an argument: all else is there
      launch_.inputs.push_back({slot->second, Argument(id), key.micro_batch});
    }
    return slot->second;
  }

  void Call(int number, int micro_batch) {
    const LaunchModule& module = launch_.modules[number];
    LaunchCall call;
    call.module = number;
    call.micro_batch = micro_batch;
    for (const ValueId id : module.part.entering) {
      call.inputs.push_back(Input(module, id, micro_batch));
    }
    for (const ValueId id : module.part.summed) {
      const auto [sum, added] = sums_.try_emplace(id, next_slot_);
      if (added) {
        ++next_slot_;
        launch_.inputs.push_back({.slot = sum->second});
      }
      call.inputs.push_back(sum->second);
    }
    for (const ValueId id : module.part.leaving) {
      const int of = once_.contains(id) ? 0 : micro_batch;
      call.outputs.push_back(slots_[{id, of}] = next_slot_++);
    }
    for (const ValueId id : module.part.summed) {
      call.outputs.push_back(sums_[id] = next_slot_++);
    }
    launch_.calls.push_back(std::move(call));
  }

  absl::Status AddResults() {
    const ir::Module& module = launch_.analysis.module;
    for (size_t k = 0; k < module.outputs.size(); ++k) {
      const ValueId id = module.outputs[k];
      if (Argument(id).has_value()) continue;
      const int times = once_.contains(id) ? 1 : launch_.micro_batches;
      for (int m = 0; m < times; ++m) {
        const auto slot = slots_.find({id, m});
        if (slot == slots_.end()) return Bad();
        launch_.results.push_back({static_cast<int>(k), m, slot->second});
      }
    }
    return absl::OkStatus();
  }

  Launch& launch_;
  std::map<Place, int> by_place_;
  std::set<ValueId> summed_;
  std::set<ValueId> once_;  // made by an update
  std::map<MicroBatchValue, int> slots_;
  std::map<ValueId, int> sums_;
  std::set<ModuleRun> done_;
  int next_slot_ = 0;
};

}  // namespace

absl::Status FindCalls(const v1::Plan& plan, Launch& launch) {
  return CallFinder(launch).Run(plan);
}

}  // namespace meshwright::launch
