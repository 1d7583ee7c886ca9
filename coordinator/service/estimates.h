// Estimates: what configurations cost, told from programs that were measured.
//
// Concept: four ways, by segment type.
//   few configurations   none is estimated, all are measured
//   many, of blocks      from the halves (halves.h); where the type cannot be
//                        cut, from neighbouring pairs of blocks, see below
//   many, of an end      from the single factors: the splits of its borders and
//                        of the parameters it shares
//   a twin               from the type whose blocks are equal to its own, by
//                        configuration: a decoder's first layer, a layer with
//                        another mask
// A factor is one block's strategy or one split. With T(..) the time of the
// configuration that has the named factors of c and all others of the base:
//   single factors       t(c) = sum_i T(i) - (n - 1) T(base)
//   neighbouring pairs   t(c) = sum_i T(i, i+1) - sum_{0 < i < n-1} T(i)
// Sums of halves are off by a common factor (what a run costs in itself); it is
// the median of measured / estimated over the configurations of a type that
// were measured whole. The margin is how far below their estimates these came,
// times kDeviations, and at least kLeastMargin.
// Shapes: by type of the space, then by configuration.
// Source: design, section 4 ("Fewer programs than CFP, same plan").
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_ESTIMATES_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_ESTIMATES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/service/halves.h"
#include "coordinator/service/plan_problem.h"

namespace meshwright::service {

// Types of at most this many configurations are measured whole.
inline constexpr int kFewBlockConfigurations = 20;
inline constexpr int kFewEndConfigurations = 6;

// The margin before kEnoughCompared were compared, and its floor.
inline constexpr double kFirstMargin = 0.08;
inline constexpr double kLeastMargin = 0.04;
inline constexpr double kDeviations = 1.5;
inline constexpr int kEnoughCompared = 3;

// How the configurations of one type are estimated.
struct TypeRecipe {
  // The type that its estimates are taken from, an earlier one; else -1.
  int twin = -1;
  // Measured first; the others are estimated. None of a type that was cut.
  std::vector<int> required;
  // By configuration: other configurations and their weights. Empty: required,
  // or told by the halves.
  std::vector<std::vector<std::pair<int, int>>> sums;
};

// `base[t]` is the configuration that the factors of type t vary from.
std::vector<TypeRecipe> MakeRecipes(const segmenter::Analysis& analysis,
                                    const space::ProfileSpace& space,
                                    const Halves& halves,
                                    const std::vector<int>& base);

// The types that are worth cutting.
std::vector<bool> WorthCutting(const segmenter::Analysis& analysis,
                               const space::ProfileSpace& space);

// Of one type, at one moment.
struct Calibration {
  int compared = 0;      // configurations both estimated and measured
  double scale = 1;      // median of measured / estimated
  double deviation = 0;  // the furthest that one came below, relative
  double margin = 0;
};

struct EstimatedTimes {
  Estimates estimates;                    // of what was not measured; scaled
  std::vector<Calibration> calibrations;  // by type
};

// What the rows in `results` tell.
EstimatedTimes EstimateTimes(const space::ProfileSpace& space,
                             const Halves& halves,
                             const std::vector<TypeRecipe>& recipes,
                             const store::Results& results);

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_ESTIMATES_H_
