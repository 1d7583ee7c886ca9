// EstimationPlan: from which programs the configurations of a segment type are
// estimated.
//
// Concept: one additive model with pairwise interactions. A configuration is a
// value for each of its factors (factors.h). Its time is a sum of terms of
// single factors and of neighbouring pairs. With T(..) the time of the
// configuration that has the named factors of c and all others of the base:
//   t(c) = sum_i T(i, i+1) - sum_{0 < i < n-1} T(i)   neighbours interact
//   t(c) = sum_i T(i) - (n - 1) T(base)               they do not
// The factors of a type, and which terms are measured:
//   few configurations   all are measured; of blocks, where a request says so,
//                        single factors are
//   many, of blocks      two factors, the halves (halves.h), whose interaction
//                        is the resharding between them; where the type cannot
//                        be cut, its blocks, neighbours interacting
//   many, of an end      the splits of its boundaries, all to one neighbour
//                        together, and of the parameters it shares
// Two kinds of types take terms of others over:
//   with a proxy         from the type whose blocks are equal to its own, by
//                        configuration: a decoder's first layer, a layer with
//                        another mask
//   under a switch       from the same one without it, plus what the switch
//                        adds to one of its type, in proportion to the bytes
//                        by which values become smaller, or to those that are
//                        recomputed
// In -> Out: analysis and profile space -> a plan per type of the space.
// Source: docs/decisions/pruning-by-halves.md.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_ESTIMATION_PLAN_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_ESTIMATION_PLAN_H_

#include <optional>
#include <set>
#include <vector>

#include "coordinator/estimation/halves.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::estimation {

// Types of at most this many configurations, switches aside, are measured
// whole.
inline constexpr int kFewBlockConfigurations = 20;
inline constexpr int kFewEndConfigurations = 6;

// t(c) = t(plain) + share * (t(reference) - t(reference_plain)). With
// recomputation, `plain` is the same one without it, under a switch or not.
struct SwitchEstimation {
  int plain = 0;
  int reference = 0;
  int reference_plain = 0;
  double share = 1;
};

// `weight` times another configuration, or the same one.
struct SumTerm {
  int configuration = 0;
  int weight = 0;
};

// How the configurations of one type are estimated.
struct EstimationPlan {
  // The earlier type that its estimates are taken from.
  std::optional<segmenter::SegmentTypeId> proxy;
  // Measured first; the others are estimated. None of a type that was cut but
  // the references of its switches. Those of groups also with a proxy.
  std::vector<int> required;
  // Of these the main program only, without the corrections of loops.
  std::vector<int> sampled;
  // By configuration: a sum of main programs. Empty: required, or estimated
  // from the halves.
  std::vector<std::vector<SumTerm>> sums;
  // By configuration; none for those without a switch and for references. Empty
  // with a proxy.
  std::vector<std::optional<SwitchEstimation>> switched;

  const SwitchEstimation* Switched(int configuration) const {
    if (switched.empty() || !switched[configuration].has_value()) {
      return nullptr;
    }
    return &*switched[configuration];
  }
};

// `base[t]` is the configuration that the factors of type t vary from. Types of
// few configurations in `from_factors` are estimated from single factors.
std::vector<EstimationPlan> MakeEstimationPlans(
    const segmenter::Analysis& analysis, const space::ProfileSpace& space,
    const Halves& halves, const std::vector<int>& base,
    const std::set<segmenter::SegmentTypeId>& from_factors = {});

// The types that `from_factors` makes cheaper: blocks of few configurations.
std::vector<segmenter::SegmentTypeId> FindReducibleTypes(
    const segmenter::Analysis& analysis, const space::ProfileSpace& space,
    const Halves& halves);

// By type: whether halves save programs.
std::vector<bool> FindTypesToCut(const segmenter::Analysis& analysis,
                                 const space::ProfileSpace& space);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_ESTIMATION_PLAN_H_
