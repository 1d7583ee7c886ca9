// SqliteProfileStore: the ProfileStore in one file, embedded.
//
// Concept: write-ahead log with full synchronisation. One connection writes,
// in group commits; another reads. Several processes may open one file. The day
// a row was last used is written with the next commit, once a day for each row.
// Errors of opening: kFailedPrecondition for a store of a newer version,
// kInvalidArgument for a file that is no store, kPermissionDenied,
// kResourceExhausted; one sentence each, and the file is left as it was.
// See docs/formats/store.md.
#ifndef MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_PROFILE_STORE_H_
#define MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_PROFILE_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::sqlite {

struct SqliteOptions {
  // The file may not grow beyond this; writes then say that the disk is full.
  std::optional<int64_t> max_bytes;
  // Outlives the store; null: the system's.
  const base::Clock* clock = nullptr;
};

class SqliteProfileStore : public store::ProfileStore {
 public:
  using store::ProfileStore::Lookup;

  static absl::StatusOr<std::unique_ptr<SqliteProfileStore>> Open(
      const std::string& path, const SqliteOptions& options = {});
  ~SqliteProfileStore() override;

  absl::StatusOr<store::Results> Lookup(
      absl::Span<const std::string> keys,
      const store::LookupOptions& options) override;
  absl::StatusOr<std::vector<store::KeptRow>> LookupKept(
      const std::string& key, const std::string& team) override;
  absl::Status Record(const v1::ProfileResult& result,
                      const store::Origin& origin) override;
  absl::Status RecordProgram(const std::string& key,
                             std::string_view hlo) override;
  absl::StatusOr<std::string> LookupProgram(const std::string& key) override;
  absl::StatusOr<store::Statistics> Count() override;
  absl::Status ForEach(const Visit& visit) override;
  absl::StatusOr<int> Quarantine(const std::string& key, int crashes,
                                 std::string_view reason,
                                 std::string_view log) override;
  absl::StatusOr<std::vector<store::QuarantineEntry>> ListQuarantine() override;
  absl::Status RetryQuarantined(const std::string& key) override;

 private:
  struct Reader;
  struct Writer;
  struct Damaged;

  SqliteProfileStore(std::unique_ptr<Writer> writer,
                     std::unique_ptr<Reader> reader);

  // Warns of each row and moves what is damaged of it to the quarantine, if the
  // disk lets it; sound measurements of its key stay.
  void SetAside(const std::vector<Damaged>& rows);
  void WarnOfDamage(const std::string& key, absl::string_view damage,
                    const absl::Status& set_aside) const;

  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace meshwright::sqlite

#endif  // MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_PROFILE_STORE_H_
