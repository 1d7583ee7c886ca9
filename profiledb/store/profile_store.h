// ProfileStore: every measurement ever made, by the key of its program.
//
// Concept: equal programs are measured once, ever, across models and teams. A
// row is what is known of one key in the namespace of a team or in the shared
// pool. It keeps up to kMaximumKept measurements, newest first, each with its
// origin, and answers look-ups with their summary (summary.h). Recording a
// measured key again adds a measurement; that is how a row heals. Final
// failures are rows too. The effect of a second result of the same key:
//
//     there is    comes: measured   failed
//     nothing            kept       kept
//     failed             replaces   replaces (the newer reason)
//     pruned             replaces   ignored
//     measured           is added   ignored
//
// The same measurement of the same origin counts once, so recording it again
// (after a lost connection, from a second import) changes nothing.
// Stores hold pruned rows of older versions; nobody writes new ones.
//
// A *damaged* row, met while reading, is set aside. The look-up answers without
// it, a warning names the key and the verb that mends it, and the quarantine
// lists it. Crashes and time-outs of a program are counted in the quarantine;
// from kCrashesToQuarantine on it is held there until someone asks for a retry.
//
// Threads and ownership: any thread, at any time; several processes may share
// one store. A call that returns OK has been made durable.
// Errors: kInvalidArgument for a row that is refused (check_row.h), kNotFound
// for an unknown program or quarantined key, kResourceExhausted when the disk
// is full, kUnavailable when another process holds the store for long or its
// server is lost (retry: the next call connects again), kDataLoss for a damaged
// file. A failed call leaves the store as it was; a server that is lost during
// a write may have made it.
#ifndef MESHWRIGHT_PROFILEDB_STORE_PROFILE_STORE_H_
#define MESHWRIGHT_PROFILEDB_STORE_PROFILE_STORE_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::store {

inline constexpr char kSharedPool[] = "shared";
inline constexpr int kMaximumKept = 8;
inline constexpr int kCrashesToQuarantine = 3;
inline constexpr int kMaximumLogBytes = 64 * 1024;

using Nanoseconds = std::chrono::sys_time<std::chrono::nanoseconds>;

// Where and when a measurement was made.
struct Origin {
  std::string team = kSharedPool;  // the namespace of the row
  std::string host;                // of the worker
  std::string worker;
  std::string device_id;  // the first device; empty: that of the measurement
  std::string machine;    // digest of the device fingerprint; empty: unknown
  Nanoseconds recorded{};
};

// Of a result that comes from a worker now.
inline Origin MakeOrigin(const v1::ProfileResult& result,
                         std::string_view machine) {
  Origin origin;
  origin.host = result.host();
  origin.worker = result.worker();
  origin.machine = machine;
  origin.recorded = std::chrono::system_clock::now();
  return origin;
}

// One result as it was recorded. Its quality is SUSPECT where the summary's
// rule says so.
struct KeptRow {
  v1::ProfileResult result;
  Origin origin;
};

// Crashes of a program, or a time-out, counted in the quarantine.
struct Crash {
  int crashes = kCrashesToQuarantine;
  std::string_view reason;
  std::string_view log;
};

// One answer of a worker: what the store keeps of it in one commit. Views must
// live until the call returns.
struct Entry {
  v1::ProfileResult result;
  Origin origin;
  std::optional<std::string_view> program;  // recorded under the result's key
  std::optional<Crash> crash;
  // Days since 1970 UTC; absent: today.
  std::optional<int64_t> last_used_day;
};

// The view must live until the call returns.
struct Program {
  std::string key;
  std::string_view hlo;
  // Days since 1970 UTC; absent: today.
  std::optional<int64_t> last_used_day = std::nullopt;
};

// A program is used when it is recorded, looked up or asked for its size.
struct ProgramUse {
  std::string key;
  int64_t bytes = 0;          // as it is kept
  int64_t last_used_day = 0;  // days since 1970 UTC
};

// A row with all that it keeps, as upkeep reads it.
struct WholeRow {
  std::string team;
  std::string key;
  std::vector<KeptRow> kept;  // newest first, at least one; as recorded
  int64_t last_used_day = 0;  // days since 1970 UTC
  int64_t bytes = 0;          // with the program of its key, as it is kept
};

// The numbers are stored and frozen.
enum class QuarantineState {
  kCrashing = 1,     // fewer than kCrashesToQuarantine crashes so far
  kQuarantined = 2,  // not to be run again until RetryQuarantined
  kDamaged = 3,      // its row was set aside
};

struct QuarantineEntry {
  std::string key;
  QuarantineState state = QuarantineState::kCrashing;
  int crashes = 0;
  std::string reason;        // the newest
  std::string log;           // its end, at most kMaximumLogBytes
  bool has_program = false;  // LookupProgram gives the module
  Nanoseconds recorded{};
};

// The visitors of a scan; an empty function is not called, and its part not
// read. A status that is not OK ends the scan, which returns it. None may call
// the store.
struct Scan {
  std::function<absl::Status(const WholeRow&)> row;  // by namespace and key
  std::function<absl::Status(const std::string& key, std::string_view hlo)>
      program;                                                      // by key
  std::function<absl::Status(const QuarantineEntry&)> quarantined;  // by key
};

// A row to remove, unless it was used after this day.
struct UnusedRow {
  std::string team;
  std::string key;
  int64_t last_used_day = 0;
};

// A program to remove, unless it was used after this day. A use by this process
// counts as later, also on that day, if it was since the first
// ListUnusedPrograms after the last RemovePrograms.
struct UnusedProgram {
  std::string key;
  int64_t last_used_day = std::numeric_limits<int64_t>::max();
};

struct DamagedRow {
  std::string team;  // empty: it is a program
  std::string key;
  std::string damage;
};

struct LookupOptions {
  std::string team = kSharedPool;  // its rows, then those of the shared pool
  // Leave failures out, so that their programs are tried again. Measured and
  // pruned rows always count, and so do those of quarantined programs.
  bool retry_failures = false;
  bool retry_time_outs = false;  // the same of TIMED_OUT rows alone
};

struct RowCount {
  int64_t rows = 0;
  int64_t bytes = 0;  // of their summaries, as they are kept
};

struct Statistics {
  std::map<v1::Outcome, int64_t> profiles;   // rows of each outcome there is
  std::map<v1::Quality, RowCount> measured;  // the MEASURED ones, by quality
  int64_t programs = 0;
  int64_t program_bytes = 0;             // as they were recorded
  int64_t compressed_program_bytes = 0;  // as they are kept
};

using Results = absl::flat_hash_map<std::string, v1::ProfileResult>;

// Is told of every look-up, from any thread.
class LookupObserver {
 public:
  virtual ~LookupObserver() = default;
  // Keys with a row, and keys without.
  virtual void AddLookups(int64_t hits, int64_t misses) = 0;
};

class ProfileStore {
 public:
  // Returns false to stop.
  using Visit = std::function<bool(const v1::ProfileResult&, const Origin&)>;

  virtual ~ProfileStore() = default;

  // Who is told of look-ups; null: nobody. The observer lives until another is
  // set and the calls that began before have ended.
  void Observe(LookupObserver* observer) { observer_ = observer; }

  // The summaries of the rows there are, by key. Unknown keys are absent.
  virtual absl::StatusOr<Results> Lookup(absl::Span<const std::string> keys,
                                         const LookupOptions& options) = 0;
  absl::StatusOr<Results> Lookup(absl::Span<const std::string> keys) {
    return Lookup(keys, LookupOptions());
  }

  // The measurements that a team's row keeps, newest first; empty where there
  // is none.
  virtual absl::StatusOr<std::vector<KeptRow>> LookupKept(
      const std::string& key, const std::string& team) = 0;

  // All of them, or none: one commit.
  virtual absl::Status Record(absl::Span<const Entry> entries) = 0;
  absl::Status Record(const v1::ProfileResult& result, const Origin& origin) {
    const Entry entries[] = {{.result = result, .origin = origin}};
    return Record(entries);
  }

  // Kept once, compressed; a known key is left as it is, but used. One commit.
  virtual absl::Status RecordPrograms(absl::Span<const Program> programs) = 0;
  absl::Status RecordProgram(const std::string& key, std::string_view hlo) {
    const Program programs[] = {{.key = key, .hlo = hlo}};
    return RecordPrograms(programs);
  }
  // How many it has, as it was recorded; reads none of them. Nothing: it is not
  // here.
  virtual absl::StatusOr<std::optional<int64_t>> FindProgramBytes(
      const std::string& key) = 0;
  // The HLO as it was recorded. kNotFound for a key without a program.
  virtual absl::StatusOr<std::string> LookupProgram(const std::string& key) = 0;

  // Reads every row: for people and metrics, seldom.
  virtual absl::StatusOr<Statistics> Count() = 0;

  // The summary of every row with the origin of the measurement whose times it
  // has, by namespace and key. `visit` must not call the store.
  virtual absl::Status ForEach(const Visit& visit) = 0;

  // Adds crashes of the key's program and returns how many there are now. A
  // measurement of the key forgets them.
  virtual absl::StatusOr<int> Quarantine(const std::string& key, int crashes,
                                         std::string_view reason,
                                         std::string_view log) = 0;
  // By key.
  virtual absl::StatusOr<std::vector<QuarantineEntry>> ListQuarantine() = 0;
  // Forgets the entry and the CRASHED rows of its key.
  virtual absl::Status RetryQuarantined(const std::string& key) = 0;

  // Reads all there is, of one moment, while others look up and record. Damaged
  // rows and programs are left out.
  virtual absl::Status ForEachWhole(const Scan& scan) = 0;
  // Removes rows in one commit, with the programs that no row and no entry of
  // the quarantine names any more. Returns how many rows.
  virtual absl::StatusOr<int64_t> Remove(absl::Span<const UnusedRow> rows) = 0;
  // The programs that no row and no entry of the quarantine names, and that
  // were last used before this day; by key. Reads none of them.
  virtual absl::StatusOr<std::vector<ProgramUse>> ListUnusedPrograms(
      int64_t day) = 0;
  // Removes programs in one commit, but those that a row or the quarantine
  // names. How many went.
  virtual absl::StatusOr<int64_t> RemovePrograms(
      absl::Span<const UnusedProgram> programs) = 0;
  // Reads everything and sets aside what is damaged, programs too.
  virtual absl::StatusOr<std::vector<DamagedRow>> Verify() = 0;

 protected:
  // For Lookup: how many keys it was asked for, and how many have a row.
  void NoteLookup(size_t keys, size_t hits) const {
    LookupObserver* const observer = observer_;
    if (observer == nullptr) return;
    observer->AddLookups(static_cast<int64_t>(hits),
                         static_cast<int64_t>(keys - hits));
  }

 private:
  std::atomic<LookupObserver*> observer_ = nullptr;
};

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_PROFILE_STORE_H_
