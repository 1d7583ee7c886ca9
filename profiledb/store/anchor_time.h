// AnchorTime: how fast the machine was while a row was measured.
//
// Concept: a worker times fixed programs, the anchors, beside every row
// (worker/runner/anchors.h). One of them says how fast the machine was. Rows of
// different days are compared after each is multiplied by the base, which is an
// anchor's time, over the time of its own anchor.
// Units: nanoseconds; factors are ratios of times. Threads: pure functions.
// Source: docs/decisions/measuring.md.
#ifndef MESHWRIGHT_PROFILEDB_STORE_ANCHOR_TIME_H_
#define MESHWRIGHT_PROFILEDB_STORE_ANCHOR_TIME_H_

#include <cstdint>
#include <optional>

#include "proto/v1/profile.pb.h"

namespace meshwright::store {

// The anchor that says how fast the machine was.
inline constexpr char kSpeedAnchor[] = "products";

// A batch that is further off than this was no batch of this machine at rest:
// its rows are not scaled by more.
inline constexpr double kMaxTimeBaseFactor = 1.5;

// The time of a row's anchor; absent where it has none.
std::optional<int64_t> FindAnchorTime(const v1::Measurement& measurement);

// The factor that brings a row's times to the base; 1 where either has no
// anchor.
double FindTimeBaseFactor(const std::optional<int64_t>& base,
                          const v1::Measurement& measurement);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_ANCHOR_TIME_H_
