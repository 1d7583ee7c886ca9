// ObservedProfileStore: a store whose look-ups are counted.
//
// Concept: it hands every call on to another store and tells an observer how
// many keys of a look-up had a row.
// Threads and errors: those of the other store. Ownership: that store and the
// observer outlive this one.
#ifndef MESHWRIGHT_PROFILEDB_STORE_OBSERVED_PROFILE_STORE_H_
#define MESHWRIGHT_PROFILEDB_STORE_OBSERVED_PROFILE_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiledb/store/profile_store.h"

namespace meshwright::store {

class LookupObserver {
 public:
  virtual ~LookupObserver() = default;
  // Called from any thread.
  virtual void AddLookups(int64_t hits, int64_t misses) = 0;
};

class ObservedProfileStore : public ProfileStore {
 public:
  using ProfileStore::Lookup;
  using ProfileStore::Record;

  ObservedProfileStore(ProfileStore* store, LookupObserver* observer)
      : store_(store), observer_(observer) {}

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

 private:
  ProfileStore* const store_;
  LookupObserver* const observer_;
};

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_OBSERVED_PROFILE_STORE_H_
