#include "coordinator/launch/stage_modules.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::launch {
namespace {

using ir::ValueId;
using segmenter::Analysis;

bool IsBackward(Pass pass) {
  return pass == Pass::kBackward || pass == Pass::kBackwardWeight;
}

// Forward passes, then backward passes from the last stage on, then updates.
std::pair<int, int> GetOrder(const Place& place) {
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

class ModuleFinder {
 public:
  ModuleFinder(const Analysis& analysis,
               const std::vector<std::optional<Place>>& places,
               const std::vector<space::Rematerialization>& replays,
               int micro_batches)
      : analysis_(analysis),
        module_(analysis.module),
        places_(places),
        replays_(replays),
        micro_batches_(micro_batches) {}

  absl::StatusOr<std::vector<StageModule>> Run() {
    for (ValueId id = 0; id < module_.size(); ++id) {
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

  // `reader` is the segment in which the module reads it.
  void Read(const Place& place, int reader, ValueId id) {
    Boundary& boundary = boundaries_[place];
    if (FindArgument(module_, id).has_value()) {
      boundary.entering.insert(id);
      return;
    }
    const std::optional<Place>& made = places_[id];
    if (made == place) return;
    if (!made.has_value() || IsMadeAgain(place, reader, id)) {
      if (!boundary.seen.insert(id).second) return;
      const int owner = analysis_.plan.owner[id];
      for (const ValueId operand : module_.at(id).operands) {
        Read(place, owner >= 0 ? owner : reader, operand);
      }
      return;
    }
    boundary.entering.insert(id);
    const bool sums = micro_batches_ > 1 && place.pass == Pass::kUpdate &&
                      IsBackward(made->pass) &&
                      ir::IsFloating(module_.at(id).shape.element_type);
    Boundary& maker = boundaries_[*made];
    auto& ends = sums ? maker.summed : maker.leaving;
    ends.insert(id);
  }

  bool IsMadeAgain(const Place& place, int reader, ValueId id) const {
    const Place& made = *places_[id];
    if (made.pass != Pass::kForward || made.stage != place.stage ||
        !IsBackward(place.pass)) {
      return false;
    }
    const ir::Instruction& it = module_.at(id);
    if (it.loop == ir::kNoLoop && stages::IsForm(it)) return true;
    const int owner = analysis_.plan.owner[id];
    if (owner != reader || replays_[owner].empty()) return false;
    const auto& values = analysis_.graphs[owner].values;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].origin == id) return replays_[owner].recomputed[i] != 0;
    }
    return false;
  }

  absl::Status AddOutputs() {
    std::map<int, int> argument_of;  // by output that is state
    for (size_t p = 0; p < module_.parameters.size(); ++p) {
      const int output = analysis_.passes.state_output[p];
      if (output >= 0) argument_of[output] = static_cast<int>(p);
    }
    for (size_t k = 0; k < module_.outputs.size(); ++k) {
      const ValueId id = module_.outputs[k];
      if (FindArgument(module_, id).has_value()) continue;
      const Place place = places_[id].value_or(Place{0, Pass::kUpdate, 0});
      Boundary& boundary = boundaries_[place];
      if (!places_[id].has_value()) Read(place, 0, id);
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
      const auto output =
          std::find(part.leaving.begin(), part.leaving.end(), id);
      const auto parameter =
          std::find(part.entering.begin(), part.entering.end(),
                    module_.parameters[argument]);
      const auto number = static_cast<int>(output - part.leaving.begin());
      if (parameter == part.entering.end() || !taken.insert(number).second) {
        continue;
      }
      part.aliases.push_back(
          {number, static_cast<int>(parameter - part.entering.begin())});
    }
    return part;
  }

  const Analysis& analysis_;
  const ir::Module& module_;
  const std::vector<std::optional<Place>>& places_;
  const std::vector<space::Rematerialization>& replays_;
  const int micro_batches_;
  std::map<Place, Boundary> boundaries_;
};

}  // namespace

absl::StatusOr<std::vector<StageModule>> FindModules(
    const Analysis& analysis, const std::vector<std::optional<Place>>& places,
    const std::vector<space::Rematerialization>& replays, int micro_batches) {
  return ModuleFinder(analysis, places, replays, micro_batches).Run();
}

}  // namespace meshwright::launch
