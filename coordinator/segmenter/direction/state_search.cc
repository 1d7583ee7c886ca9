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

// Updates of narrow floats are often computed in wider ones.
bool UpdatesElementwise(const Module& module, ValueId user,
                        const ir::Shape& shape) {
  const ir::Shape& made = module.at(user).shape;
  const bool are_floats =
      ir::IsFloating(made.element_type) && ir::IsFloating(shape.element_type);
  return ir::IsElementwise(module.at(user).opcode) &&
         (made == shape || (are_floats && made.dims == shape.dims));
}

// Whether donors reach the outputs that they are paired with.
class PairSearch {
 public:
  explicit PairSearch(const Module& module)
      : module_(module),
        is_paired_(module.size(), 0),
        seen_by_(module.size()),
        looks_left_(kMaxLooks * module.size()) {
    for (const ir::Alias& alias : module.aliases) {
      is_paired_[module.outputs[alias.output]] = 1;
    }
  }

  // Elementwise, and not through the output of another pair: an optimizer's
  // state reaches the new parameter through its own new state. Also true where
  // the bound ends the search.
  bool IsReached(const ir::Alias& alias) {
    const ValueId argument = module_.parameters[alias.parameter];
    const ValueId output = module_.outputs[alias.output];
    const ir::Shape& shape = module_.at(argument).shape;
    if (output == argument) return true;
    std::vector<ValueId> frontier = {argument};
    while (!frontier.empty()) {
      const ValueId id = frontier.back();
      frontier.pop_back();
      for (ValueId user : module_.at(id).users) {
        if (--looks_left_ < 0) return true;
        if (!UpdatesElementwise(module_, user, shape)) continue;
        if (user == output) return true;
        if (is_paired_[user]) continue;
        if (std::exchange(seen_by_[user], alias.output) != alias.output) {
          frontier.push_back(user);
        }
      }
    }
    return false;
  }

 private:
  const Module& module_;
  std::vector<char> is_paired_;              // by ValueId
  std::vector<std::optional<int>> seen_by_;  // by ValueId: the last output
  int64_t looks_left_;
};

// Gives each argument its own new state, by output number in `own`. A donor
// without one keeps its output where that is nobody's. Else it takes the first
// output of its shape that a donor left.
std::vector<ir::Alias> PairOwn(const Module& module,
                               const std::vector<std::optional<int>>& own) {
  std::vector<char> is_own(module.outputs.size(), 0);
  for (const std::optional<int>& output : own) {
    if (output.has_value()) is_own[*output] = 1;
  }
  std::vector<ir::Alias> paired;
  std::vector<int> unpaired;      // donors
  std::vector<int> left_outputs;  // by donors
  for (const ir::Alias& alias : module.aliases) {
    const std::optional<int>& output = own[alias.parameter];
    if (output.has_value()) {
      paired.push_back({*output, alias.parameter});
      if (!is_own[alias.output]) left_outputs.push_back(alias.output);
    } else if (!is_own[alias.output]) {
      paired.push_back(alias);
    } else {
      unpaired.push_back(alias.parameter);
    }
  }
  for (const int number : unpaired) {
    const ir::Shape& shape = module.at(module.parameters[number]).shape;
    const auto fitting =
        std::find_if(left_outputs.begin(), left_outputs.end(), [&](int output) {
          return module.at(module.outputs[output]).shape == shape;
        });
    if (fitting == left_outputs.end()) continue;
    paired.push_back({*fitting, number});
    left_outputs.erase(fitting);
  }
  std::sort(paired.begin(), paired.end(),
            [](const ir::Alias& a, const ir::Alias& b) {
              return a.output < b.output;
            });
  return paired;
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
  std::vector<ValueId> met = {argument};
  for (size_t i = 0; i < met.size() && looks_left_ > 0; ++i) {
    const ValueId id = met[i];
    if (id != argument && output_at_[id].has_value() &&
        module_.at(id).shape == shape) {
      const int output = *output_at_[id];
      output_at_[id] = next_output_[output];
      return output;
    }
    if (id != argument && is_end_[id]) continue;
    for (ValueId user : module_.at(id).users) {
      --looks_left_;
      if (UpdatesElementwise(module_, user, shape) &&
          std::exchange(seen_by_[user], number) != number) {
        met.push_back(user);
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
  if (module.aliases.empty()) return;
  StateSearch search(module);
  PairSearch pairs(module);
  bool is_mispaired = false;
  std::vector<std::optional<int>> donor(module.outputs.size());
  std::vector<std::optional<int>> own(module.parameters.size());
  for (const ir::Alias& alias : module.aliases) {
    donor[alias.output] = alias.parameter;
    std::optional<int>& output = own[alias.parameter];
    if (!output.has_value()) output = search.Claim(alias.parameter);
    is_mispaired |=
        output.has_value() && output != alias.output && !pairs.IsReached(alias);
  }
  for (const int number : ListKeptTensors(module)) {
    const std::optional<int> output = search.Claim(number);
    is_mispaired |= output.has_value() && donor[*output].has_value() &&
                    own[*donor[*output]].has_value();
    own[number] = output;
  }
  if (is_mispaired) module.aliases = PairOwn(module, own);
}

}  // namespace meshwright::segmenter
