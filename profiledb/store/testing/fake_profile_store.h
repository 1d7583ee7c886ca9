// FakeProfileStore: a ProfileStore in memory, for tests. No row of it is
// damaged.
//
// Threads and errors: those of ProfileStore.
#ifndef MESHWRIGHT_PROFILEDB_STORE_TESTING_FAKE_PROFILE_STORE_H_
#define MESHWRIGHT_PROFILEDB_STORE_TESTING_FAKE_PROFILE_STORE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "profiledb/store/profile_store.h"
#include "profiledb/store/summary.h"

namespace meshwright::store {

class FakeProfileStore : public ProfileStore {
 public:
  using ProfileStore::Lookup;
  using ProfileStore::Record;

  absl::StatusOr<Results> Lookup(absl::Span<const std::string> keys,
                                 const LookupOptions& options) override;
  absl::StatusOr<std::vector<KeptRow>> LookupKept(
      const std::string& key, const std::string& team) override;
  absl::Status Record(absl::Span<const Entry> entries) override;
  absl::Status RecordPrograms(absl::Span<const Program> programs) override;
  absl::StatusOr<std::optional<int64_t>> FindProgramBytes(
      const std::string& key) override;
  absl::StatusOr<std::string> LookupProgram(const std::string& key) override;
  absl::StatusOr<Statistics> Count() override;
  absl::Status ForEach(const Visit& visit) override;
  absl::StatusOr<int> Quarantine(const std::string& key, int crashes,
                                 std::string_view reason,
                                 std::string_view log) override;
  absl::StatusOr<std::vector<QuarantineEntry>> ListQuarantine() override;
  absl::Status RetryQuarantined(const std::string& key) override;
  absl::Status ForEachWhole(const Scan& scan) override;
  absl::StatusOr<int64_t> Remove(absl::Span<const UnusedRow> rows) override;
  absl::StatusOr<std::vector<ProgramUse>> ListUnusedPrograms(
      int64_t day) override;
  absl::StatusOr<int64_t> RemovePrograms(
      absl::Span<const UnusedProgram> programs) override;
  absl::StatusOr<std::vector<DamagedRow>> Verify() override;

  // Keeps a row that Record refuses, as a store of an older version may have.
  void Plant(const v1::ProfileResult& result, const Origin& origin);

 private:
  struct Row {
    std::vector<KeptRow> kept;  // at least one
    Answer answer;              // made from them
    int64_t last_used_day = 0;
  };

  struct KeptProgram {
    std::string hlo;
    int64_t last_used_day = 0;
  };

  void Keep(const v1::ProfileResult& result, const Origin& origin,
            int64_t last_used_day) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void KeepProgram(const std::string& key, std::string_view hlo, int64_t day)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int Count(const std::string& key, const Crash& crash)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsNamed(const std::string& key) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteUse(const std::string& key, KeptProgram& program)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static int64_t Today();

  base::Mutex mutex_;
  // By namespace and key.
  std::map<std::pair<std::string, std::string>, Row> rows_
      ABSL_GUARDED_BY(mutex_);
  std::map<std::string, KeptProgram> programs_ ABSL_GUARDED_BY(mutex_);
  // From a list of unused programs until some are removed.
  std::optional<std::set<std::string>> used_since_list_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, QuarantineEntry> quarantine_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_TESTING_FAKE_PROFILE_STORE_H_
