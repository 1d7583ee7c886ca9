// Summarize: one answer from the measurements that a key keeps.
//
// The rule, over the times t (row_time.h) of the kept measurements, and over m,
// these times on one base: t * the median of the kept anchors / the own anchor
// (anchor_time.h). Without an anchor m = t.
//   1. Counted are the GOOD measurements; where there is none, all.
//   2. A counted measurement with at least two counted others is *suspect* if
//      m is further from their median M than
//          max(kSuspectShare * M, kSuspectDeviations * s),
//      s = kDeviationOfMad * the median distance of the others from M.
//   3. The best are the counted ones that are not suspect; where every one is
//      suspect, all counted are the best.
//   4. The summary has the times of the best one with the lower median of t:
//      of two, that of the faster period. Of equals, the newest.
//   5. Its quality is SUSPECT where every counted one is suspect, else that of
//      the measurement chosen.
//   6. spread = max(half the distance between the extreme m of the best, where
//                   the one chosen has m = t,
//                   the standard error of the one chosen).
//
// Lost without it: every later plan gets the rows of a slow quarter of an hour
// of one machine. (A step of 94.7 ms was kept as 162.5 ms.) Without the base,
// good measurements of a minute in which the machine was 12 % faster are
// suspect: those of an ALBERT differ by 12.1 % (median), on one base by 4.2 %.
// In -> Out: the measured rows of one key, newest first, at least one -> which
// is chosen, quality, spread. The result depends on their order only in 4.
// Units: nanoseconds. Threads: pure functions.
// Source: docs/decisions/measuring.md; 1.4826 makes the median absolute
// deviation of a normal distribution its standard deviation.
#ifndef MESHWRIGHT_PROFILEDB_STORE_SUMMARY_H_
#define MESHWRIGHT_PROFILEDB_STORE_SUMMARY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::store {

inline constexpr double kSuspectShare = 0.1;
inline constexpr double kSuspectDeviations = 3;
inline constexpr double kDeviationOfMad = 1.4826;

struct Summary {
  size_t chosen = 0;
  v1::Quality quality = v1::QUALITY_UNSPECIFIED;
  int64_t spread_ns = 0;
  std::vector<bool> is_suspect;  // by number in `kept`
};

Summary Summarize(absl::Span<const KeptRow> kept);

// Whether the machine was busy or throttled meanwhile: noise that another
// moment does not have.
bool IsDisturbed(const v1::Measurement& measurement);

// The answer of a look-up: the chosen row with the summary's quality and
// spread, how many measurements nothing disturbed, and when the newest was
// recorded. One that is no
// measurement (then the only one) is its own answer.
struct Answer {
  size_t chosen = 0;
  v1::ProfileResult result;
};
Answer MakeAnswer(absl::Span<const KeptRow> kept);

// Takes out what an answer has besides the measurement and its quality.
void ClearSummary(v1::Measurement& measurement);

// Writes the judgement of the rule onto the rows.
void MarkSuspects(std::vector<KeptRow>& kept);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_SUMMARY_H_
