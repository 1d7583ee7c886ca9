// ProfileStore: every measurement ever made, by the key of its program.
//
// Concept: equal programs are measured once, ever, across models and teams. A
// row is one ProfileResult with its origin, in the namespace of a team or in
// the shared pool. Outcomes are rows: a program that failed to compile is known
// as such. What a second row of the same key does:
//
//     there is    comes: measured   pruned    failed
//     nothing            kept       kept      kept
//     failed             replaces   replaces  replaces (the newer reason)
//     pruned             replaces   replaces  ignored
//     measured           ignored    ignored   ignored: the first one counts
//
// Threads and ownership: any thread, at any time; several processes may share
// one store. A call that returns OK has been made durable.
// Errors: kInvalidArgument for a row without key or outcome, kNotFound for an
// unknown program, kResourceExhausted when the disk is full, kUnavailable when
// another process holds the store for long (retry), kDataLoss for a damaged
// one. A failed call leaves the store as it was.
#ifndef MESHWRIGHT_PROFILEDB_STORE_PROFILE_STORE_H_
#define MESHWRIGHT_PROFILEDB_STORE_PROFILE_STORE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::store {

inline constexpr char kSharedPool[] = "shared";

// Where and when a row was measured.
struct Origin {
  std::string team = kSharedPool;  // the namespace of the row
  std::string host;
  std::string worker;
  std::chrono::sys_time<std::chrono::nanoseconds> recorded{};
};

struct LookupOptions {
  std::string team = kSharedPool;  // its rows, then those of the shared pool
  // Leave failures out, so that their programs are tried again. Measured and
  // pruned rows always count.
  bool retry_failures = false;
};

struct Statistics {
  std::map<v1::Outcome, int64_t> profiles;  // rows of each outcome there is
  int64_t programs = 0;
  int64_t program_bytes = 0;             // as they were recorded
  int64_t compressed_program_bytes = 0;  // as they are kept
};

using Results = absl::flat_hash_map<std::string, v1::ProfileResult>;

class ProfileStore {
 public:
  // Returns false to stop.
  using Visit = std::function<bool(const v1::ProfileResult&, const Origin&)>;

  virtual ~ProfileStore() = default;

  // The rows there are, by key. Unknown keys are absent.
  virtual absl::StatusOr<Results> Lookup(absl::Span<const std::string> keys,
                                         const LookupOptions& options) = 0;
  absl::StatusOr<Results> Lookup(absl::Span<const std::string> keys) {
    return Lookup(keys, LookupOptions());
  }

  virtual absl::Status Record(const v1::ProfileResult& result,
                              const Origin& origin) = 0;

  // Kept once, compressed; a known key is left as it is.
  virtual absl::Status RecordProgram(const std::string& key,
                                     std::string_view hlo) = 0;
  virtual absl::StatusOr<std::string> LookupProgram(const std::string& key) = 0;

  virtual absl::StatusOr<Statistics> Count() = 0;

  // Every row, by namespace and key. `visit` must not call the store.
  virtual absl::Status ForEach(const Visit& visit) = 0;
};

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_PROFILE_STORE_H_
