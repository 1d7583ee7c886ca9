#include "coordinator/segmenter/direction/state_search.h"

#include <algorithm>
#include <utility>

#include "coordinator/ir/opcode.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::ValueId;

// So many looks at a value, per value of the module, find state.
constexpr int64_t kMaxLooks = 64;

std::vector<char> MarkDonated(const Module& module) {
  std::vector<char> donated(module.parameters.size(), 0);
  for (const ir::Alias& alias : module.aliases) donated[alias.parameter] = 1;
  return donated;
}

}  // namespace

StateSearch::StateSearch(const Module& module, const std::vector<char>& taken)
    : module_(module),
      output_at_(module.size()),
      next_output_(module.outputs.size()),
      is_end_(module.size(), 0),
      seen_by_(module.size()),
      looks_left_(kMaxLooks * module.size()) {
  for (size_t i = module.outputs.size(); i-- > 0;) {
    const ValueId id = module.outputs[i];
    if (!taken.empty() && taken[i]) {
      is_end_[id] = 1;
      continue;
    }
    next_output_[i] = std::exchange(output_at_[id], static_cast<int>(i));
  }
}

std::optional<int> StateSearch::Claim(int number) {
  const ValueId argument = module_.parameters[number];
  const ir::Shape& shape = module_.at(argument).shape;
  std::vector<ValueId> frontier = {argument};
  while (!frontier.empty() && looks_left_ > 0) {
    const ValueId id = frontier.back();
    frontier.pop_back();
    if (id != argument && output_at_[id].has_value()) {
      const int output = *output_at_[id];
      output_at_[id] = next_output_[output];
      return output;
    }
    if (id != argument && is_end_[id]) continue;
    for (ValueId user : module_.at(id).users) {
      --looks_left_;
      if (ir::IsElementwise(module_.at(user).opcode) &&
          module_.at(user).shape == shape &&
          std::exchange(seen_by_[user], number) != number) {
        frontier.push_back(user);
      }
    }
  }
  return std::nullopt;
}

std::vector<int> ListKeptTensors(const Module& module) {
  const std::vector<char> donated = MarkDonated(module);
  std::vector<int> kept;
  for (size_t number = 0; number < donated.size(); ++number) {
    const ir::Shape& shape = module.at(module.parameters[number]).shape;
    if (!donated[number] && !shape.is_tuple() && !shape.is_scalar() &&
        ir::IsFloating(shape.element_type)) {
      kept.push_back(static_cast<int>(number));
    }
  }
  return kept;
}

void PairDonations(Module& module) {
  const std::vector<int> kept = ListKeptTensors(module);
  if (module.aliases.empty() || kept.empty()) return;
  StateSearch search(module);
  std::vector<std::optional<int>> donor(module.outputs.size());
  std::vector<std::optional<int>> own(module.parameters.size());
  for (const ir::Alias& alias : module.aliases) {
    donor[alias.output] = alias.parameter;
    if (!own[alias.parameter].has_value()) {
      own[alias.parameter] = search.Claim(alias.parameter);
    }
  }
  bool is_mispaired = false;
  for (const int number : kept) {
    const std::optional<int> output = search.Claim(number);
    is_mispaired |= output.has_value() && donor[*output].has_value() &&
                    own[*donor[*output]].has_value();
    own[number] = output;
  }
  if (!is_mispaired) return;
  std::vector<char> is_own(module.outputs.size(), 0);
  for (const std::optional<int>& output : own) {
    if (output.has_value()) is_own[*output] = 1;
  }
  // A donor without a new state keeps its output where that is nobody's.
  std::vector<ir::Alias> paired;
  for (const ir::Alias& alias : module.aliases) {
    const std::optional<int>& output = own[alias.parameter];
    if (output.has_value()) {
      paired.push_back({*output, alias.parameter});
    } else if (!is_own[alias.output]) {
      paired.push_back(alias);
    }
  }
  std::sort(paired.begin(), paired.end(),
            [](const ir::Alias& a, const ir::Alias& b) {
              return a.output < b.output;
            });
  module.aliases = std::move(paired);
}

}  // namespace meshwright::segmenter
