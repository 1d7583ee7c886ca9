// PowerCutDisk: a disk whose power goes, under every SQLite database of this
// process.
//
// Concept: while it lives it is SQLite's default file system (a VFS above the
// system's). A write is on the disk for certain only once its file was synced.
// When the power goes, of what was not synced each sector of 512 bytes is there
// or is not, in one of three ways:
//
//   all lost      nothing after the last sync
//   cut off       the writes up to one of them, which is torn
//   reordered     any sectors of any writes: a late one without an early one
//
// A file that was made and never synced may be missing. One that was deleted
// without a sync of its folder may be back. (The first sync of a new file syncs
// its folder, too.) From the cut on every call fails, until Restore puts on the
// disk what was left. It fails single calls, too: a full disk, a sync or a
// write that reports an error.
// Simplifications: what was not written keeps its bytes (SQLite's "powersafe
// overwrite"), and the shared memory of a write-ahead log is lost whole.
// Threads: files as SQLite uses them; the rest from one thread, while no
// database is used. At most one such disk at a time.
#ifndef MESHWRIGHT_PROFILEDB_SQLITE_TESTING_POWER_CUT_DISK_H_
#define MESHWRIGHT_PROFILEDB_SQLITE_TESTING_POWER_CUT_DISK_H_

#include <cstdint>
#include <memory>

namespace meshwright::sqlite {

class PowerCutDisk {
 public:
  explicit PowerCutDisk(uint64_t seed);
  ~PowerCutDisk();
  PowerCutDisk(const PowerCutDisk&) = delete;
  PowerCutDisk& operator=(const PowerCutDisk&) = delete;

  // The power goes in the so-manieth write, sync, truncation or deletion from
  // now, the first being 1.
  void CutAt(int64_t call);
  // That call fails, and nothing else.
  void FailAt(int64_t call);
  bool is_off() const;

  // Puts what was left into the files and the power on again. Every database
  // is closed.
  void Restore();

  // The operations so far.
  struct Tally {
    int64_t writes = 0;
    int64_t syncs = 0;
    int64_t failures = 0;  // of single calls
    int64_t lost_sectors = 0;
  };
  Tally tally() const;

 private:
  struct Files;
  std::unique_ptr<Files> files_;
};

}  // namespace meshwright::sqlite

#endif  // MESHWRIGHT_PROFILEDB_SQLITE_TESTING_POWER_CUT_DISK_H_
