// Time base: rows of different batches on one scale.
//
// Concept: a machine is faster on one day than on the next, and rows of one
// plan come from many days. Every row carries the times that the anchors, fixed
// programs, took beside it (worker/runner/anchors.h). The base is the median
// time of each anchor over the rows of the plan; a row's times are multiplied
// by the geometric mean, over its anchors, of base over own time. A factor
// within kSteady of 1 is the anchors' own noise and is not applied.
// In -> Out: rows as measured -> rows on one base. Rows without anchors stay.
// Units: factors are ratios of times. Threads: pure functions.
// Source: design, section 5 ("Anchors").
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_TIME_BASE_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_TIME_BASE_H_

#include <cstdint>
#include <map>
#include <string>

#include "profiledb/store/profile_store.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::estimation {

inline constexpr double kSteady = 0.03;
// A batch that is further off than this was no batch of this machine at rest;
// its rows are flagged, and not scaled by more.
inline constexpr double kMaxTimeBaseFactor = 1.5;

// Nanoseconds, by the anchor's name.
using TimeBase = std::map<std::string, int64_t>;

TimeBase FindTimeBase(const store::Results& rows);

// What brings a row's times to the base; 1 where it has no anchor of it.
double FindTimeBaseFactor(const TimeBase& base,
                          const v1::Measurement& measurement);

// Scales every time of a row but the anchors' and the compiler's.
void BringToTimeBase(const TimeBase& base, v1::ProfileResult& row);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_TIME_BASE_H_
