// CompactSamples: the samples of a measurement as they are kept.
//
// Concept: a short program has hundreds of samples. Their lower end tells how
// sure the minimum is, and quantiles tell the rest:
//
//   16 samples or fewer   kept as they are
//   more                  samples_ns: the 16 smallest, rising;
//                         quantiles_ns: 0, 5, ..., 100 % (nearest rank);
//                         sample_count: how many there were
//
// Compacting twice is compacting once. Threads: pure functions.
#ifndef MESHWRIGHT_PROFILEDB_STORE_SAMPLES_H_
#define MESHWRIGHT_PROFILEDB_STORE_SAMPLES_H_

#include <cstdint>

#include "proto/v1/profile.pb.h"

namespace meshwright::store {

inline constexpr int kMaximumRawSamples = 16;
inline constexpr int kQuantiles = 21;

void CompactSamples(v1::Measurement& measurement);

// Also of a compacted measurement.
int64_t CountSamples(const v1::Measurement& measurement);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_SAMPLES_H_
