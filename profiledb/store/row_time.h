// RowTime: the one figure of a row that plans add up.
//
// Concept: the low decile of the samples (worker/timing/sample_set.h). Beside
// others on one machine a short program loses more than a long one, so that the
// medians of a step's segments sum to more than the step's. The smallest times
// sum to less: no step meets all of its lucky moments at once. Rows of
// protocols below 12 have their median, those below 9 their minimum.
// Units: nanoseconds of one execution. Threads: pure functions.
// Source: docs/decisions/measuring.md.
#ifndef MESHWRIGHT_PROFILEDB_STORE_ROW_TIME_H_
#define MESHWRIGHT_PROFILEDB_STORE_ROW_TIME_H_

#include <cstdint>

#include "proto/v1/profile.pb.h"

namespace meshwright::store {

int64_t GetTimeNs(const v1::Measurement& measurement);
int64_t GetTimeNs(const v1::AnchorTime& anchor);

// How sure a time is: its standard error, of samples that a normal distribution
// describes, as a share of their median absolute deviation over the root of
// their number. 1.4826 (of a deviation) x 1.2533 (of a median), x 1.7094 (of a
// low decile: the root of 0.1 x 0.9 over the density there, 0.1755).
inline constexpr double kMedianErrorOfMad = 1.858;
inline constexpr double kLowErrorOfMad = 2.534;

// To either side, one standard error; 0 of a row without samples.
double EstimateTimeErrorNs(const v1::Measurement& measurement);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_ROW_TIME_H_
