#include "coordinator/launch/stage_modules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::launch {
namespace {

using ir::ValueId;
using segmenter::Analysis;
using segmenter::SegmentIndex;

bool IsBackward(Pass pass) {
  return pass == Pass::kBackward || pass == Pass::kBackwardWeight;
}

// When a module runs for the first time, beside the others.
struct PassOrder {
  int group = 0;
  int within = 0;
  auto operator<=>(const PassOrder&) const = default;
};

// Forward passes, then backward passes from the last stage on, then updates.
PassOrder GetOrder(const Place& place) {
  switch (place.pass) {
    case Pass::kForward:
      return {0, place.stage};
    case Pass::kBackward:
      return {1, -place.stage};
    case Pass::kBackwardWeight:
      return {2, -place.stage};
    case Pass::kUpdate:
      break;
  }
  return {3 + place.round, place.stage};
}

std::optional<int> FindIndex(const std::vector<ValueId>& rising, ValueId id) {
  const auto found = std::lower_bound(rising.begin(), rising.end(), id);
  if (found == rising.end() || *found != id) return std::nullopt;
  return static_cast<int>(found - rising.begin());
}

class ModuleFinder {
 public:
  ModuleFinder(const Analysis& analysis,
               const std::vector<std::optional<Place>>& places,
               const std::vector<space::Rematerialization>& rematerializations,
               int micro_batches)
      : analysis_(analysis),
        module_(analysis.module),
        places_(places),
        micro_batches_(micro_batches),
        recomputed_(module_.size(), 0) {
    for (SegmentIndex s; s < rematerializations.size(); ++s) {
      if (rematerializations[s].empty()) continue;
      const auto& values = analysis.graphs[s].values;
      for (size_t i = 0; i < values.size(); ++i) {
        const ValueId id = values[i].origin;
        if (analysis.plan.owner[id] != s) continue;
        recomputed_[id] = rematerializations[s].recomputed[i];
      }
    }
  }

  absl::StatusOr<std::vector<StageModule>> Run() {
    for (const ValueId id : module_.ids()) {
      if (!places_[id].has_value()) continue;
      boundaries_.try_emplace(*places_[id]);
      for (const ValueId operand : module_.at(id).operands) {
        Read(*places_[id], analysis_.plan.owner[id], operand);
      }
    }
    const absl::Status ends = AddOutputs();
    if (!ends.ok()) return ends;
    std::vector<StageModule> modules;
    for (auto& [place, boundary] : boundaries_) {
      if (boundary.leaving.empty() && boundary.summed.empty()) continue;
      modules.push_back({place, MakePart(boundary)});
    }
    std::sort(modules.begin(), modules.end(), [](const auto& a, const auto& b) {
      return GetOrder(a.place) < GetOrder(b.place);
    });
    return modules;
  }

 private:
  struct Boundary {
    std::set<ValueId> entering;
    std::set<ValueId> leaving;
    std::set<ValueId> summed;
    std::set<ValueId> seen;                      // computed again, or nobody's
    std::vector<std::pair<ValueId, int>> state;  // and its argument
  };

  // `reader` is the segment in which the module reads the value.
  struct Reading {
    segmenter::Owner reader;
    ValueId id;
  };

  // Adds what the module takes in order to read a value. Of a value that the
  // module computes itself, that is what the value is computed from.
  void Read(const Place& place, segmenter::Owner reader, ValueId id) {
    Boundary& boundary = boundaries_[place];
    std::vector<Reading> stack = {{reader, id}};
    while (!stack.empty()) {
      const Reading next = stack.back();
      stack.pop_back();
      const std::optional<Place>& made = places_[next.id];
      if (FindArgument(module_, next.id).has_value()) {
        boundary.entering.insert(next.id);
      } else if (made.has_value() && *made != place &&
                 !IsMadeAgain(place, next)) {
        Enter(place, next.id);
      } else if (made != place && boundary.seen.insert(next.id).second) {
        const segmenter::Owner owner = analysis_.plan.owner[next.id];
        const auto& operands = module_.at(next.id).operands;
        for (size_t i = operands.size(); i-- > 0;) {
          stack.push_back(
              {owner.IsSegment() ? owner : next.reader, operands[i]});
        }
      }
    }
  }

  // The value leaves the module that makes it, and enters this one.
  void Enter(const Place& place, ValueId id) {
    boundaries_[place].entering.insert(id);
    const Place& made = *places_[id];
    const bool sums = micro_batches_ > 1 && place.pass == Pass::kUpdate &&
                      IsBackward(made.pass) &&
                      ir::IsFloating(module_.at(id).shape.element_type);
    Boundary& maker = boundaries_[made];
    auto& ends = sums ? maker.summed : maker.leaving;
    ends.insert(id);
  }

  bool IsMadeAgain(const Place& place, const Reading& reading) const {
    const Place& made = *places_[reading.id];
    if (made.pass != Pass::kForward || made.stage != place.stage ||
        !IsBackward(place.pass)) {
      return false;
    }
    const ir::Instruction& it = module_.at(reading.id);
    if (!it.loop.has_value() && stages::IsForm(it)) return true;
    return analysis_.plan.owner[reading.id] == reading.reader &&
           recomputed_[reading.id] != 0;
  }

  absl::Status AddOutputs() {
    std::map<int, int> argument_of;  // by output that is state
    for (size_t p = 0; p < module_.parameters.size(); ++p) {
      const std::optional<int> output = analysis_.passes.state_output[p];
      if (output.has_value()) argument_of[*output] = static_cast<int>(p);
    }
    for (size_t k = 0; k < module_.outputs.size(); ++k) {
      const ValueId id = module_.outputs[k];
      if (FindArgument(module_, id).has_value()) continue;
      const Place place = places_[id].value_or(Place{0, Pass::kUpdate, 0});
      Boundary& boundary = boundaries_[place];
      if (!places_[id].has_value()) Read(place, SegmentIndex(0), id);
      boundary.leaving.insert(id);
      const auto state = argument_of.find(static_cast<int>(k));
      if (state == argument_of.end()) continue;
      boundary.state.emplace_back(id, state->second);
      if (micro_batches_ > 1 && place.pass != Pass::kUpdate) {
        return absl::UnimplementedError(absl::StrCat(
            "output ", k, " is state that the ", NamePlace(place),
            " pass writes, and with ", micro_batches_,
            " micro-batches it is not said what becomes of it; plan with "
            "--micro-batches 1"));
      }
    }
    return absl::OkStatus();
  }

  exporting::StepPart MakePart(const Boundary& boundary) const {
    exporting::StepPart part;
    part.entering.assign(boundary.entering.begin(), boundary.entering.end());
    part.leaving.assign(boundary.leaving.begin(), boundary.leaving.end());
    part.summed.assign(boundary.summed.begin(), boundary.summed.end());
    std::set<int> taken;  // by outputs and by parameters
    for (const auto& [id, argument] : boundary.state) {
      const auto output = FindIndex(part.leaving, id);
      const auto parameter =
          FindIndex(part.entering, module_.parameters[argument]);
      if (!output.has_value() || !parameter.has_value() ||
          !taken.insert(*output).second) {
        continue;
      }
      part.aliases.push_back({*output, *parameter});
    }
    return part;
  }

  const Analysis& analysis_;
  const ir::Module& module_;
  const std::vector<std::optional<Place>>& places_;
  const int micro_batches_;
  std::vector<char> recomputed_;  // by ValueId, in the segment that owns it
  std::map<Place, Boundary> boundaries_;
};

}  // namespace

absl::StatusOr<std::vector<StageModule>> FindModules(
    const Analysis& analysis, const std::vector<std::optional<Place>>& places,
    const std::vector<space::Rematerialization>& rematerializations,
    int micro_batches) {
  return ModuleFinder(analysis, places, rematerializations, micro_batches)
      .Run();
}

}  // namespace meshwright::launch
