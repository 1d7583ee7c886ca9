// Time base: rows of different batches on one scale.
//
// Concept: a machine is faster on one day than on the next, and rows of one
// plan come from many days. Every row carries the time that an anchor, a fixed
// program, took beside it (worker/runner/anchors.h). The base is the anchor's
// median over the rows of the plan; a row's times are multiplied by base over
// own time.
// In -> Out: rows as measured -> rows on one base. Rows without anchors stay.
// Units: factors are ratios of times. Threads: pure functions.
// Source: docs/decisions/measuring.md.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_TIME_BASE_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_TIME_BASE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "profiledb/store/profile_store.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::estimation {

// An anchor that took more than this share longer than the fastest quarter of
// all ran in a slow period of the machine. Other programs lose more than it
// does there, which no factor mends. Where it loses 5 %, layers of 10 ms lose
// 14 % (median; a tenth of them 22 %).
inline constexpr double kSlowPeriod = 0.04;

// Nanoseconds that the anchor takes; absent where no row has it.
using TimeBase = std::optional<int64_t>;

TimeBase FindTimeBase(const store::Results& rows);

// The lower quartile of the times: one lucky moment makes no other one slow.
// Absent where there is none.
TimeBase FindFastest(std::vector<int64_t> times);

// That of the rows' anchors.
TimeBase FindFastestAnchor(const store::Results& rows);

// Whether a row's anchor ran in a slow period; not where either is absent.
bool IsOfSlowPeriod(const TimeBase& fastest,
                    const v1::Measurement& measurement);

// Every time of a row but the anchors' and the compiler's.
void ScaleTimes(double factor, v1::Measurement& measurement);

void BringToTimeBase(const TimeBase& base, v1::ProfileResult& row);

// All rows to the base that they have, which is returned.
TimeBase BringToOneTimeBase(store::Results& rows);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_TIME_BASE_H_
