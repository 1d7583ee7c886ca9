// Factors: the independent choices of a segment type, whose combinations are
// its configurations.
//
// Concept: a factor is one block's strategy, or the split of one boundary or
// one shared parameter of an end. Boundaries to the same neighbour are split as
// its configurations want them together, so their splits do not vary freely.
// Such splits are joined to one factor, whose values are the existing
// combinations.
//
//   shared   boundary a   boundary b          shared   a and b
//   whole    dim 0        dim 0               0        0
//   whole    whole        dim 1       ─▶      0        1
//   dim 1    dim 0        dim 0               1        0
//   dim 1    whole        dim 1               1        1
//
// In -> Out: a segment type -> a row per configuration, a number per factor.
// Source: docs/decisions/pruning-by-halves.md.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_FACTORS_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_FACTORS_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::estimation {

// A configuration as values of its factors.
using Factors = std::vector<int>;

std::vector<Factors> ListBlockFactors(
    const std::vector<space::Configuration>& configurations);

// `plain`: see space::FindPlainConfigurations; configurations under a switch
// get no factors.
std::vector<Factors> ListEndFactors(const segmenter::Analysis& analysis,
                                    const space::ProfileSpace& space,
                                    segmenter::SegmentTypeId type,
                                    const std::vector<int>& plain);

// Joins columns of which some combination of values is missing, until any two
// have them all. Empty rows stay empty; the others are equally long.
std::vector<Factors> JoinDependent(const std::vector<Factors>& rows);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_FACTORS_H_
