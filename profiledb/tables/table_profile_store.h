// TableProfileStore: the ProfileStore over the tables of a database.
//
// Concept: one connection writes, in group commits; one looks up; one reads
// whole stores, which takes long and holds up neither. All rules of the store
// are here, and a backend opens the connections. The day a row or a program was
// last used is written with the next commits, a thousand rows each, once a day
// for each row. Where nothing is written for a minute the next look-up has a
// thread of the store commit, and does not wait for it. What is left is written
// when the store closes.
// See docs/formats/store.md.
// Threads and errors: those of ProfileStore and of Database. A connection that
// is lost is made again by the next call.
#ifndef MESHWRIGHT_PROFILEDB_TABLES_TABLE_PROFILE_STORE_H_
#define MESHWRIGHT_PROFILEDB_TABLES_TABLE_PROFILE_STORE_H_

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "profiledb/store/profile_store.h"
#include "profiledb/tables/database.h"

namespace meshwright::tables {

class TableProfileStore : public store::ProfileStore {
 public:
  using store::ProfileStore::Lookup;
  using store::ProfileStore::Record;

  ~TableProfileStore() override;

  absl::StatusOr<store::Results> Lookup(
      absl::Span<const std::string> keys,
      const store::LookupOptions& options) override;
  absl::StatusOr<std::vector<store::KeptRow>> LookupKept(
      const std::string& key, const std::string& team) override;
  absl::Status Record(absl::Span<const store::Entry> entries) override;
  absl::Status RecordPrograms(
      absl::Span<const store::Program> programs) override;
  absl::StatusOr<std::optional<int64_t>> FindProgramBytes(
      const std::string& key) override;
  absl::StatusOr<std::string> LookupProgram(const std::string& key) override;
  absl::StatusOr<store::Statistics> Count() override;
  absl::Status ForEach(const Visit& visit) override;
  absl::StatusOr<int> Quarantine(const std::string& key, int crashes,
                                 std::string_view reason,
                                 std::string_view log) override;
  absl::StatusOr<std::vector<store::QuarantineEntry>> ListQuarantine() override;
  absl::Status RetryQuarantined(const std::string& key) override;
  absl::Status ForEachWhole(const store::Scan& scan) override;
  absl::StatusOr<std::vector<store::ProgramUse>> ListUnusedPrograms(
      int64_t day) override;
  absl::StatusOr<int64_t> RemovePrograms(
      absl::Span<const store::UnusedProgram> programs) override;
  absl::StatusOr<int64_t> Remove(
      absl::Span<const store::UnusedRow> rows) override;
  absl::StatusOr<std::vector<store::DamagedRow>> Verify() override;

 protected:
  struct Sides;
  struct CloseSides {
    void operator()(Sides* sides) const;
  };
  using OwnedSides = std::unique_ptr<Sides, CloseSides>;

  // Three connections to one database of the newest schema. `clock` outlives
  // the store; null: the system's.
  static absl::StatusOr<OwnedSides> OpenSides(
      std::unique_ptr<Database> writing, std::unique_ptr<Database> reading,
      std::unique_ptr<Database> scanning, const base::Clock* clock);
  explicit TableProfileStore(OwnedSides sides);

 private:
  struct Side;
  struct Reader;
  struct Writer;
  struct NewRow;

  absl::Status WriteRow(const NewRow& row);
  absl::Status RemoveDamage(const store::DamagedRow& row);
  // Warns of each row and moves what is damaged of it to the quarantine, if the
  // disk lets it; sound measurements of its key stay.
  void SetAside(const std::vector<store::DamagedRow>& rows);
  // The program was asked for.
  void NoteUse(const std::string& key);
  void WarnOfDamage(const std::string& key, std::string_view damage,
                    const absl::Status& set_aside) const;

  OwnedSides sides_;
};

}  // namespace meshwright::tables

#endif  // MESHWRIGHT_PROFILEDB_TABLES_TABLE_PROFILE_STORE_H_
