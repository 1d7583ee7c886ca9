// CheckRow: which results a store takes.
//
// Concept: rows are shared, so a forged or broken one would reach every plan.
// Refused are, in one sentence that names the key:
//   * a key that is not 64 lower-case hex digits (SHA-256);
//   * TRANSIENT (it says nothing of the program), PRUNED (a decision of one
//     plan), no outcome, and estimates (estimate_error_ns is set);
//   * a measurement without a positive minimum, or whose minimum is above the
//     median or a sample;
//   * a minimum that no device reaches: below kMinimumExecutionNs, as an
//     anchor's may not be either, or writing new outputs faster than
//     kMaximumBytesPerNs;
//   * times or samples that are negative, or more than an hour for one
//     execution;
//   * compute and communication that do not add up to the minimum (compute
//     0: not split);
//   * quantiles that do not rise, and a count of samples below that of those
//     it has;
//   * byte counts, counts, differences or a load that are negative, absurd or
//     not numbers;
//   * reasons of noise that do not exist, or those of a good measurement;
//   * a failure that has times, or absurd sizes;
//   * a result larger than kMaximumResultBytes;
//   * an origin that no database could hold.
// Of rows that somebody hands in, a worker or a file, more is asked than of
// those that a store of old holds: the memory that the program needs, and
// samples that its times can come from.
// Threads: pure functions. Errors: kInvalidArgument.
#ifndef MESHWRIGHT_PROFILEDB_STORE_CHECK_ROW_H_
#define MESHWRIGHT_PROFILEDB_STORE_CHECK_ROW_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::store {

inline constexpr int64_t kMinimumExecutionNs = 100;
inline constexpr int64_t kMaximumExecutionNs = 3'600'000'000'000;
// 1e14 B/s: twelve times the memory of a B200 (8e12 B/s).
inline constexpr int64_t kMaximumBytesPerNs = 100'000;
inline constexpr int64_t kMaximumBytes = int64_t{1} << 50;
inline constexpr size_t kMaximumResultBytes = 1 << 20;
inline constexpr size_t kMaximumOriginBytes = 1024;

bool IsKey(std::string_view key);

// Of a profile, a program or a quarantined program.
absl::Status CheckKey(std::string_view key);

// Of a row that comes.
absl::Status CheckRow(const v1::ProfileResult& result);

// Of one that a worker or a file hands in.
absl::Status CheckHandedIn(const v1::ProfileResult& result);

// The part of it that CheckRow does not ask. Returns what is wrong, empty where
// nothing is.
std::string FindUnfounded(const v1::ProfileResult& result);

// Of where a row comes from: its texts are UTF-8 without NUL, of at most
// kMaximumOriginBytes each, and its namespace is not empty.
absl::Status CheckOrigin(const std::string& key, const Origin& origin);

// Of a row that is stored: as CheckRow, but pruned rows are read. Returns what
// is wrong, empty where nothing is.
std::string FindFault(const v1::ProfileResult& result);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_CHECK_ROW_H_
