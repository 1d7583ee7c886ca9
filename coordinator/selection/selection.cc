#include "coordinator/selection/selection.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "coordinator/export/baselines.h"
#include "coordinator/selection/choice_programs.h"
#include "coordinator/selection/memory_multiplier.h"
#include "coordinator/selection/optimistic_plan.h"

namespace meshwright::selection {
namespace {

using segmenter::SegmentTypeId;
using space::Configuration;

constexpr double kPicosecondsPerSecond = 1e12;
constexpr double kBytesPerGib = 1 << 30;

std::string Milliseconds(double seconds) {
  return absl::StrFormat("%.4g ms", seconds * 1e3);
}

}  // namespace

// The decisions that one set of rows leads to.
class Selection::Round {
 public:
  // `is_last`: nothing more may be measured.
  Round(const Selection& selection, const store::Results& results,
        bool is_last = false)
      : selection_(selection),
        space_(selection.space_),
        halves_(*selection.halves_),
        plans_(selection.plans_),
        results_(results),
        is_last_(is_last) {}

  absl::StatusOr<Decision> Run() {
    for (const auto& [type, configuration] : selection_.baselines_) {
      Want(type, configuration);
    }
    estimated_ = estimation::EstimateTimes(space_, halves_, plans_, results_);
    // A configuration with all its rows and an estimate has failed.
    std::erase_if(estimated_.estimates, [&](const auto& it) {
      return HasRow(it.first.type, it.first.configuration);
    });
    estimation::Estimates known = estimated_.estimates;
    for (SegmentTypeId t; t < space_.types.size(); ++t) {
      for (size_t c = 0; c < space_.types[t].configurations.size(); ++c) {
        PlaceUnknown(t, static_cast<int>(c), known);
      }
    }
    // Configurations in groups are measured anyway, and exclude no others.
    auto built = Problem(known, {.groups = false});
    // Nothing can be known of some type: the plan says why.
    if (!built.ok()) return std::move(decision_);
    problem_ = *std::move(built);
    if (selection_.memory_limit_bytes_.has_value()) {
      ASSIGN_OR_RETURN(multiplier_,
                       FindMemoryMultiplier(problem_.problem,
                                            *selection_.memory_limit_bytes_,
                                            selection_.options_));
    }
    FindStandings();
    if (multiplier_ > 0) {
      // With what joins the readers of a weight.
      ASSIGN_OR_RETURN(optimistic_, FindOptimisticPlan(
                                        problem_.problem, standings_, Margins(),
                                        *selection_.memory_limit_bytes_,
                                        selection_.options_));
    }
    if (!space_.links.empty()) {
      ASSIGN_OR_RETURN(problem_,
                       Problem(known, {.groups = false, .links = false}));
    }
    PruneAll();
    return std::move(decision_);
  }

 private:
  absl::StatusOr<formulation::MeasuredProblem> Problem(
      const estimation::Estimates& known,
      const formulation::ProblemOptions& options) const {
    return formulation::BuildProblem(selection_.analysis_, space_, results_,
                                     std::nullopt, known, options);
  }

  const Configuration& At(SegmentTypeId type, int configuration) const {
    return space_.types[type].configurations[configuration];
  }
  bool HasRow(SegmentTypeId type, int configuration) const {
    const auto programs = ListPrograms(At(type, configuration));
    return std::all_of(
        programs.begin(), programs.end(), [&](space::ProgramId program) {
          return results_.contains(space_.programs[program].key());
        });
  }
  // Its programs that nobody has asked for.
  int Missing(SegmentTypeId type, int configuration) const {
    int missing = 0;
    for (const space::ProgramId index : ListPrograms(At(type, configuration))) {
      const std::string& key = space_.programs[index].key();
      missing += !results_.contains(key) && !wanted_.contains(key);
    }
    return missing;
  }
  void Want(SegmentTypeId type, int configuration) {
    if (is_last_) return;
    for (const space::ProgramId index : ListPrograms(At(type, configuration))) {
      const v1::Program& program = space_.programs[index];
      if (results_.contains(program.key())) continue;
      if (wanted_.insert(program.key()).second) {
        decision_.measure.push_back(&program);
      }
    }
  }

  // A configuration with no row and no estimate. It costs nothing until it is
  // known, so that it stays in the problem, and it excludes no others.
  void PlaceUnknown(SegmentTypeId type, int configuration,
                    estimation::Estimates& known) {
    const estimation::ConfigurationRef at = {type, configuration};
    if (HasRow(type, configuration) || known.contains(at)) return;
    const v1::ProfileResult* failure =
        halves_.IsCut(type) ? halves_.Failure(type, configuration, results_)
                            : nullptr;
    if (failure != nullptr) {
      v1::PlanFailed& failed = decision_.failed.emplace_back();
      Name(type, configuration, failed);
      failed.set_reason(absl::StrCat(
          "one of its halves failed: ", v1::Outcome_Name(failure->outcome()),
          ", ", failure->reason()));
      return;
    }
    known[at] = {};
    unknown_.insert(at);
    if (SumFailed(type, configuration) || ProxyFailed(type, configuration) ||
        SwitchFailed(type, configuration)) {
      Want(type, configuration);
    }
  }

  // All that its sum takes has a row, and yet there is no sum.
  bool SumFailed(SegmentTypeId type, int configuration) const {
    const auto& sums = plans_[type].sums;
    if (sums.empty() || sums[configuration].empty()) return false;
    return std::all_of(
        sums[configuration].begin(), sums[configuration].end(),
        [&](const estimation::SumTerm& term) {
          const space::ProgramId program =
              *At(type, term.configuration).program;
          return results_.contains(space_.programs[program].key());
        });
  }

  // Its proxy's was measured, and yet there is no cost.
  bool ProxyFailed(SegmentTypeId type, int configuration) const {
    const std::optional<SegmentTypeId> proxy = plans_[type].proxy;
    return proxy.has_value() && !At(type, configuration).role.InGroup() &&
           HasRow(*proxy, configuration);
  }

  // The switch's own terms have rows, or what they are added to will have none.
  bool SwitchFailed(SegmentTypeId type, int configuration) const {
    const estimation::SwitchEstimation* const it =
        plans_[type].Switched(configuration);
    return it != nullptr && HasRow(type, it->reference) &&
           HasRow(type, it->reference_plain) &&
           (HasRow(type, it->plain) ||
            (halves_.IsCut(type) &&
             halves_.Failure(type, it->plain, results_) != nullptr));
  }

  Standing FindStanding(SegmentTypeId type, int configuration) const {
    if (unknown_.contains({type, configuration})) return Standing::kUnknown;
    return estimated_.estimates.contains({type, configuration})
               ? Standing::kEstimated
               : Standing::kMeasured;
  }

  void FindStandings() {
    for (SegmentTypeId t; t < problem_.usable.size(); ++t) {
      std::vector<Standing>& row = standings_.emplace_back();
      for (int c : problem_.usable[t]) {
        row.push_back(FindStanding(t, c));
      }
    }
  }
  std::vector<double> Margins() const {
    std::vector<double> margins;
    for (const estimation::Calibration& it : estimated_.calibrations) {
      margins.push_back(it.margin);
    }
    return margins;
  }

  void PruneAll() {
    const std::vector<double> margins = Margins();
    AddEstimates();
    const formulation::SharedParameterGroups groups =
        formulation::FindSharedParameterGroups(selection_.analysis_, space_,
                                               problem_.usable);
    Pruning pruning =
        Prune(problem_.problem, standings_, margins, multiplier_, groups);
    for (const Exclusion& it : pruning.excluded) Exclude(it);
    // The optimistic plan first. The others leave a quarter of the programs, so
    // that the plan of the next round can be measured too.
    const auto is_optimistic = [&](const OpenConfiguration& it) {
      return optimistic_.contains({it.type, it.configuration});
    };
    std::stable_partition(pruning.open.begin(), pruning.open.end(),
                          is_optimistic);
    int left = is_last_ ? 0 : Left();
    const int kept = optimistic_.empty() ? 0 : left / 4;
    for (const OpenConfiguration& it : pruning.open) {
      const int configuration = problem_.usable[it.type][it.configuration];
      const int missing = Missing(it.type, configuration);
      if (left >= missing &&
          (is_optimistic(it) || (it.next && left - missing >= kept))) {
        left -= missing;
        Want(it.type, configuration);
      } else {
        GiveUp(it, configuration, margins[it.type]);
      }
    }
  }

  void AddEstimates() {
    for (SegmentTypeId t; t < space_.types.size(); ++t) {
      const size_t count = space_.types[t].configurations.size();
      if (plans_[t].required.size() == count) continue;
      const estimation::Calibration& calibration = estimated_.calibrations[t];
      v1::PlanEstimates& it = decision_.estimates.emplace_back();
      it.set_type(static_cast<int>(t));
      it.set_configurations(static_cast<int>(count));
      it.set_from_halves(halves_.IsCut(t));
      if (plans_[t].proxy.has_value()) it.set_from_type(*plans_[t].proxy);
      it.set_compared(calibration.compared);
      it.set_scale(calibration.scale);
      it.set_deviation(calibration.deviation);
      it.set_margin(calibration.margin);
    }
  }

  // Configurations of a type that are measured, however few programs are left.
  int MinMeasured(SegmentTypeId type) const {
    if (plans_[type].proxy.has_value()) return kMinMeasuredOfProxied;
    const bool from_blocks = !plans_[type].sums.empty() &&
                             space::HasBlocks(selection_.analysis_,
                                              selection_.analysis_.types[type]);
    return halves_.IsCut(type) || from_blocks ? kMinMeasuredWhole : 0;
  }

  // The same where a step has too many types for the number of programs anyway.
  int MinMeasuredOfMany(SegmentTypeId type) const {
    if (!plans_[type].proxy.has_value()) return MinMeasured(type);
    // Types that cost far from the same as their proxy hold work beside their
    // blocks.
    const double scale = estimated_.calibrations[type].scale;
    const bool alike = scale * kMaxProxyScale >= 1 && scale <= kMaxProxyScale;
    return alike ? kMinMeasuredOfProxied
                 : static_cast<int>(space_.types[type].configurations.size());
  }

  // How many more programs may be measured.
  int Left() const {
    std::unordered_set<std::string> first;
    for (const v1::Program* program : selection_.First()) {
      first.insert(program->key());
    }
    int min_of_one = 0;
    int min_of_many = 0;
    std::unordered_set<std::string> whole = wanted_;
    for (SegmentTypeId t; t < space_.types.size(); ++t) {
      const auto& configurations = space_.types[t].configurations;
      min_of_one += MinMeasured(t);
      min_of_many += MinMeasuredOfMany(t);
      for (const Configuration& it : configurations) {
        for (const space::ProgramId program : ListPrograms(it)) {
          const std::string& key = space_.programs[program].key();
          if (results_.contains(key) && !first.contains(key)) whole.insert(key);
        }
      }
    }
    const int remaining =
        selection_.MaxPrograms() - static_cast<int>(first.size());
    const int allowed = remaining >= min_of_one || !selection_.reduced_.empty()
                            ? remaining
                            : min_of_many;
    return allowed - static_cast<int>(whole.size());
  }

  template <typename Verdict>
  void Name(SegmentTypeId type, int configuration, Verdict& verdict) const {
    verdict.set_type(static_cast<int>(type));
    verdict.set_config(configuration);
    verdict.set_describe(At(type, configuration).describe);
  }

  // Of a configuration that is neither measured nor unknown.
  const estimation::Estimate& FindEstimate(SegmentTypeId type,
                                           int configuration) const {
    return estimated_.estimates.at({type, configuration});
  }

  void Exclude(const Exclusion& exclusion) {
    const SegmentTypeId type = exclusion.type;
    const auto& usable = problem_.usable[type];
    const Configuration& rival = At(type, usable[exclusion.rival]);
    v1::PlanExcluded& excluded = decision_.excluded.emplace_back();
    Name(type, usable[exclusion.configuration], excluded);
    excluded.set_estimate_seconds(problem::ToSeconds(
        FindEstimate(type, usable[exclusion.configuration]).time));
    excluded.set_margin(estimated_.calibrations[type].margin);
    excluded.set_rival(rival.describe);
    excluded.set_rival_seconds(problem::ToSeconds(
        problem_.problem.types[type].configs[exclusion.rival].time));
    excluded.set_resharding_seconds(problem::ToSeconds(exclusion.resharding));
    std::string reason = absl::StrFormat(
        "it is estimated at %s; even %.1f %% less is no better than \"%s\", "
        "measured at %s, with the %s that its boundaries can cost more",
        Milliseconds(excluded.estimate_seconds()), excluded.margin() * 100,
        rival.describe, Milliseconds(excluded.rival_seconds()),
        Milliseconds(excluded.resharding_seconds()));
    if (multiplier_ > 0) {
      const double multiplier =
          multiplier_ * kBytesPerGib / kPicosecondsPerSecond;
      excluded.set_memory_multiplier_seconds_per_gib(multiplier);
      excluded.set_memory_price_seconds_per_gib(multiplier);
      const Configuration& own = At(type, usable[exclusion.configuration]);
      excluded.set_estimate_bytes(own.persistent_bytes + own.saved_bytes);
      excluded.set_rival_bytes(rival.persistent_bytes + rival.saved_bytes);
      absl::StrAppendFormat(&reason,
                            "; memory, %d against %d bytes, counts %s a GiB",
                            excluded.estimate_bytes(), excluded.rival_bytes(),
                            Milliseconds(multiplier));
    }
    excluded.set_reason(reason);
  }

  void GiveUp(const OpenConfiguration& open, int configuration, double margin) {
    v1::PlanNotReached& it = decision_.not_reached.emplace_back();
    Name(open.type, configuration, it);
    const estimation::Estimate& estimate =
        FindEstimate(open.type, configuration);
    it.set_estimate_seconds(problem::ToSeconds(estimate.time));
    it.set_margin(margin);
    estimation::Estimate& low = decision_.low_ends[{open.type, configuration}];
    low = estimate;
    low.time -= std::min(estimate.noise.below, estimate.time);
    low.noise = {};
  }

  const Selection& selection_;
  const space::ProfileSpace& space_;
  const estimation::Halves& halves_;
  const std::vector<estimation::EstimationPlan>& plans_;
  const store::Results& results_;
  const bool is_last_;
  estimation::EstimatedTimes estimated_;
  std::set<estimation::ConfigurationRef> unknown_;
  std::unordered_set<std::string> wanted_;
  formulation::MeasuredProblem problem_;
  Standings standings_;  // of the problem
  double multiplier_ = 0;
  // Of the problem, where a limit binds: the optimistic plan, as far as
  // estimated.
  std::set<estimation::ConfigurationRef> optimistic_;
  Decision decision_;
};

Selection::Selection(const segmenter::Analysis& analysis,
                     const space::ProfileSpace& space,
                     std::optional<int64_t> memory_limit_bytes,
                     const search::Options& options)
    : analysis_(analysis),
      space_(space),
      memory_limit_bytes_(memory_limit_bytes),
      options_(options) {
  std::vector<int> base(space.types.size(), 0);
  const auto baselines = exporting::MakeBaselines(analysis, space);
  for (const exporting::NamedChoice& baseline : baselines) {
    for (size_t s = 0; s < baseline.choice.size(); ++s) {
      baselines_.insert({analysis.type_of_segment[s], baseline.choice[s]});
    }
  }
  for (size_t t = 0; t < base.size() && !baselines.empty(); ++t) {
    base[t] = baselines[0].choice[analysis.types[t]];
  }
  halves_.emplace(analysis, space, estimation::FindTypesToCut(analysis, space));
  plans_ = estimation::MakeEstimationPlans(analysis, space, *halves_, base);
  ReduceMandatory(base);
}

void Selection::ReduceMandatory(const std::vector<int>& base) {
  if (CountMandatory() <= MaxPrograms()) return;
  std::vector<int> segments(space_.types.size(), 0);
  for (const SegmentTypeId type : analysis_.type_of_segment) ++segments[type];
  std::vector<SegmentTypeId> types =
      estimation::FindReducibleTypes(analysis_, space_, *halves_);
  std::stable_sort(types.begin(), types.end(),
                   [&](SegmentTypeId a, SegmentTypeId b) {
                     return segments[a] < segments[b];
                   });
  for (const SegmentTypeId type : types) {
    reduced_.insert(type);
    plans_ = estimation::MakeEstimationPlans(analysis_, space_, *halves_, base,
                                             reduced_);
    if (CountMandatory() <= MaxPrograms()) return;
  }
  reduced_.clear();
  plans_ = estimation::MakeEstimationPlans(analysis_, space_, *halves_, base);
}

int Selection::CountMandatory() const {
  std::unordered_set<std::string> needed;
  for (const v1::Program* program : First()) needed.insert(program->key());
  for (const auto& [type, configuration] : baselines_) {
    const auto& it = space_.types[type].configurations[configuration];
    for (const space::ProgramId program : ListPrograms(it)) {
      needed.insert(space_.programs[program].key());
    }
  }
  const auto proxies = std::count_if(
      plans_.begin(), plans_.end(), [](const estimation::EstimationPlan& plan) {
        return plan.proxy.has_value();
      });
  return static_cast<int>(needed.size()) + static_cast<int>(proxies);
}

int Selection::MaxPrograms() const {
  for (const space::SegmentType& type : space_.types) {
    for (const Configuration& it : type.configurations) {
      if (it.recompute ||
          it.segment_switch != segmenter::SegmentSwitch::kNone) {
        return kMaxProgramsWithSwitches;
      }
    }
  }
  return kMaxPrograms;
}

std::vector<const v1::Program*> Selection::First() const {
  std::vector<const v1::Program*> programs;
  for (const v1::Program& half : halves()) programs.push_back(&half);
  std::set<space::ProgramId> reshardings;
  for (const space::Boundary& boundary : space_.boundaries) {
    for (const auto& row : boundary.programs) {
      for (const auto& cell : row) reshardings.insert(cell.begin(), cell.end());
    }
  }
  for (const space::ProgramId program : reshardings) {
    programs.push_back(&space_.programs[program]);
  }
  for (size_t t = 0; t < space_.types.size(); ++t) {
    for (int c : plans_[t].required) {
      for (const space::ProgramId program :
           ListPrograms(space_.types[t].configurations[c])) {
        programs.push_back(&space_.programs[program]);
      }
    }
  }
  for (size_t t = 0; t < space_.types.size(); ++t) {
    for (int c : plans_[t].sampled) {
      const Configuration& it = space_.types[t].configurations[c];
      programs.push_back(&space_.programs[*it.program]);
    }
  }
  std::unordered_set<std::string> seen;
  std::erase_if(programs, [&](const v1::Program* program) {
    return !seen.insert(program->key()).second;
  });
  return programs;
}

absl::StatusOr<Decision> Selection::Next(const store::Results& results) const {
  store::Results shown;  // rows of the batches so far
  std::vector<const v1::Program*> batch = First();
  Decision decision;
  while (true) {
    for (const v1::Program* program : batch) {
      const auto row = results.find(program->key());
      if (row == results.end()) {
        decision.measure.push_back(program);
      } else {
        shown.insert(*row);
      }
    }
    if (!decision.measure.empty()) return decision;
    ASSIGN_OR_RETURN(decision, Round(*this, shown).Run());
    if (decision.measure.empty()) break;
    batch = std::exchange(decision.measure, {});
  }
  return decision;
}

absl::StatusOr<Decision> Selection::Conclude(
    const store::Results& results) const {
  return Round(*this, results, /*is_last=*/true).Run();
}

}  // namespace meshwright::selection
