#include "coordinator/stages/pass_time_split.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/estimation/measured_cost.h"
#include "coordinator/estimation/program_work.h"
#include "coordinator/space/programs/loop_programs.h"
#include "profiledb/store/row_time.h"

namespace meshwright::stages {
namespace {

using problem::Picoseconds;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

// The part of `whole` up to a share of it.
Picoseconds UpTo(double share, Picoseconds whole) {
  return Picoseconds(std::llround(share * static_cast<double>(whole.count())));
}

}  // namespace

PassTimeSplit::PassTimeSplit(const planning::MeasuredStep& step,
                             const StepPasses& passes, int64_t micro_batches,
                             bool sums)
    : step_(step),
      micro_batches_(micro_batches),
      maker_(step, passes, micro_batches, sums) {
  for (const SegmentIndex segment : step.analysis.types) {
    trips_.push_back(
        space::CountOuterTrips(step.analysis, step.analysis.graphs[segment]));
  }
}

Picoseconds PassTimeSplit::Whole(const Choice& choice) const {
  const auto [found, added] = whole_.try_emplace(choice, Picoseconds(0));
  if (added) {
    const auto cost =
        estimation::FindMeasuredCost(step_.space, At(choice), step_.results);
    if (cost.has_value()) found->second = cost->time;
  }
  return found->second;
}

Picoseconds PassTimeSplit::Outside(const Choice& choice,
                                   const space::Configuration& configuration,
                                   const space::ProfileSpace& space,
                                   const store::Results& results,
                                   Picoseconds whole) const {
  if (micro_batches_ == 1 || Trips(choice.type) <= 1 ||
      configuration.corrections.empty()) {
    return Picoseconds(0);
  }
  const auto row = results.find(
      space.programs[configuration.corrections.back().program].key());
  if (row == results.end()) return Picoseconds(0);
  return std::min(
      whole, Picoseconds(store::GetTimeNs(row->second.measurement()) * 1000));
}

PassTimes PassTimeSplit::Estimate(const Choice& choice) const {
  PassTimes split;
  const Picoseconds whole = Whole(choice);
  if (OnceAStep(choice.type)) {
    split.update = whole;  // once per step, whatever it does
    return split;
  }
  auto shares = measured_.find(choice);
  split.estimated = shares == measured_.end();
  if (split.estimated) {
    // Any of the type's on this mesh says more than a guess.
    shares = measured_.lower_bound({choice.type, 0});
  }
  const bool known =
      shares != measured_.end() && shares->first.type == choice.type;
  const Shares shared = known ? shares->second : Guess(choice.type);
  const Picoseconds outside =
      Outside(choice, At(choice), step_.space, step_.results, whole);
  const Picoseconds inside = (whole - outside) / micro_batches_;
  std::array<Picoseconds, 4> upto;
  for (size_t i = 0; i < upto.size(); ++i) {
    upto[i] = UpTo(shared.upto[i], inside);
  }
  split.forward = upto[0];
  split.backward_input = upto[1] - upto[0];
  split.backward_weight = upto[2] - upto[1] + UpTo(shared.sums, inside);
  split.backward = (shared.backward.has_value() ? UpTo(*shared.backward, inside)
                                                : upto[2] - upto[0]) +
                   UpTo(shared.sums, inside);
  split.update = whole + micro_batches_ * (upto[3] - inside - upto[2]);
  if (whole == Picoseconds(0)) split.estimated = false;
  return split;
}

PassTimeSplit::Shares PassTimeSplit::Guess(SegmentTypeId type) const {
  const auto [found, added] = guessed_.try_emplace(type);
  const SegmentIndex segment = step_.analysis.types[type];
  if (!added || !step_.analysis.module.loops.empty()) return found->second;
  const space::Configuration& first = step_.space.types[type].configurations[0];
  const auto work = [&](const std::vector<int>& leaving) {
    if (leaving.empty()) return 0.0;
    const auto counted = estimation::CountWork(space::MakeSegmentProgram(
        step_.analysis, step_.analysis.graphs[segment], first.annotation,
        maker_.inputs(), step_.space.context, {.part = {.leaving = leaving}}));
    return counted.ok() ? counted->total() : 0.0;
  };
  const double all = work(step_.analysis.graphs[segment].outputs);
  if (all <= 0) return found->second;
  const SegmentPasses& passes = maker_.passes(type);
  double before = 0;
  int part = 0;
  for (const auto* leaving : {&passes.forward, &passes.with_input_gradients,
                              &passes.with_all_gradients}) {
    before = std::clamp(work(*leaving) / all, before, 1.0);
    found->second.upto[part++] = before;
  }
  return found->second;
}

int64_t PassTimeSplit::ComputeDelayedBytes(const Choice& choice) const {
  const auto [found, added] = delayed_.try_emplace(choice, 0);
  if (!added) return found->second;
  const segmenter::SegmentGraph& graph =
      step_.analysis.graphs[step_.analysis.types[choice.type]];
  const space::Mesh& mesh = step_.space.context.mesh;
  for (const int i : maker_.FindPrograms(choice).delayed) {
    const ir::Shape& shape =
        step_.analysis.module.at(graph.values[i].origin).shape;
    found->second += space::CountBytesPerDevice(
        shape, At(choice).annotation.GetSharding(i, shape, mesh), mesh);
  }
  return found->second;
}

PassTimeSplit::AllVariants PassTimeSplit::MakeVariants(
    const std::set<Choice>& choices) const {
  space::ProgramSet set;
  AllVariants all;
  for (const Choice& choice : choices) {
    if (measured_.contains(choice) || failed_.contains(choice) ||
        OnceAStep(choice.type) || !At(choice).program.has_value()) {
      continue;
    }
    all.of[choice] = maker_.Make(choice, set);
  }
  all.space.context = step_.space.context;
  all.space.programs = std::move(set).Take();
  return all;
}

std::optional<PassTimeSplit::Shares> PassTimeSplit::ComputeShares(
    const Choice& choice, const PassVariants& variants,
    const space::ProfileSpace& space, const store::Results& results) const {
  const auto whole =
      estimation::FindMeasuredCost(space, variants.whole, results);
  if (!whole.has_value()) return std::nullopt;
  const Picoseconds inside = whole->time - Outside(choice, variants.whole,
                                                   space, results, whole->time);
  if (inside <= Picoseconds(0)) return std::nullopt;
  std::vector<double> share;
  for (const space::Configuration& part : variants.parts) {
    const auto cost = estimation::FindMeasuredCost(space, part, results);
    if (!cost.has_value()) return std::nullopt;
    share.push_back(static_cast<double>(cost->time.count()) /
                    static_cast<double>(inside.count()));
  }
  Shares shares;
  if (micro_batches_ > 1) {  // up to there, of a trip
    shares.upto[0] = std::min(share[0], 1.0);
    shares.upto[1] = std::clamp(share[1], shares.upto[0], 1.0);
  } else {
    shares.backward = share[1];
    shares.upto = {share[0]};
    shares.upto[1] = shares.upto[0] + share[2];
    shares.upto[2] = shares.upto[1] + share[3];
    shares.upto[3] = shares.upto[2] + share[4];
  }
  const auto sums = estimation::FindMeasuredCost(space, variants.sums, results);
  if (!sums.has_value()) return std::nullopt;
  shares.sums = static_cast<double>(sums->time.count()) /
                static_cast<double>(inside.count());
  return shares;
}

absl::StatusOr<bool> PassTimeSplit::Measure(
    const std::set<Choice>& choices, const v1::DeviceSpec& device,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress, bool wait,
    v1::PlanPrograms& counts) {
  const AllVariants all = MakeVariants(choices);
  if (all.of.empty()) return false;
  planning::Measuring measuring(dependencies, device, step_.space.context,
                                progress);
  RETURN_IF_ERROR(measuring.Lookup(all.space.programs));
  if (wait) {
    std::vector<const v1::Program*> wanted;
    for (const v1::Program& it : all.space.programs) wanted.push_back(&it);
    RETURN_IF_ERROR(measuring.Heal(all.space.programs));
    RETURN_IF_ERROR(measuring.Measure(wanted));
  }
  const auto programs = static_cast<int>(all.space.programs.size());
  counts.set_total(counts.total() + programs);
  counts.set_distinct(counts.distinct() + programs);
  counts.set_cached(counts.cached() + measuring.cached());
  counts.set_profiled(counts.profiled() + measuring.profiled());
  counts.set_remeasured(counts.remeasured() + measuring.remeasured());
  counts.set_failed(counts.failed() + measuring.failed());
  bool any = false;
  for (const auto& [choice, variants] : all.of) {
    const auto shares =
        ComputeShares(choice, variants, all.space, measuring.results());
    if (shares.has_value()) {
      measured_[choice] = *shares;
      any = true;
    } else if (wait) {
      failed_.insert(choice);
    }
  }
  return any;
}

}  // namespace meshwright::stages
