#include "profiledb/sqlite/testing/power_cut_disk.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"

namespace meshwright::sqlite {
namespace {

constexpr int64_t kSector = 512;
constexpr char kName[] = "power-cut";

struct Change {
  int64_t offset = 0;
  std::string bytes;
  bool is_truncation = false;  // to `offset`
};

struct FileState {
  bool is_made = false;     // on the disk for certain
  bool is_new = false;      // its folder was not synced since it was made
  bool is_deleted = false;  // nor since it was deleted
  std::string synced;
  std::vector<Change> unsynced;
};

void Apply(const Change& change, std::string& content) {
  const auto offset = static_cast<size_t>(change.offset);
  if (change.is_truncation) {
    content.resize(offset);
    return;
  }
  if (content.size() < offset + change.bytes.size()) {
    content.resize(offset + change.bytes.size());
  }
  content.replace(offset, change.bytes.size(), change.bytes);
}

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

// The functions that SQLite calls; of its own and of the system's file system.
struct PowerCutDisk::Files {
  enum class Fate { kDone, kFailed, kCut, kOff };

  // SQLite's data of an open file; the system's own follows it.
  struct OpenFile {
    sqlite3_file base;
    Files* files;
    std::string* path;  // null: of no concern (a temporary file)
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };
  static OpenFile* Cast(sqlite3_file* file) {
    return reinterpret_cast<OpenFile*>(file);
  }
  static Files* Cast(sqlite3_vfs* vfs) {
    return static_cast<Files*>(vfs->pAppData);
  }

  Files(uint64_t seed, sqlite3_vfs* system) : random(seed), real(system) {
    vfs = *system;
    vfs.iVersion = 2;
    vfs.szOsFile = static_cast<int>(sizeof(OpenFile)) + system->szOsFile;
    vfs.pNext = nullptr;
    vfs.zName = kName;
    vfs.pAppData = this;
    vfs.xOpen = Open;
    vfs.xDelete = Delete;
    vfs.xAccess = [](sqlite3_vfs* it, const char* name, int flags, int* out) {
      return Cast(it)->real->xAccess(Cast(it)->real, name, flags, out);
    };
    vfs.xFullPathname = [](sqlite3_vfs* it, const char* name, int size,
                           char* out) {
      return Cast(it)->real->xFullPathname(Cast(it)->real, name, size, out);
    };
  }

  // Decides the fate of the next call that changes the disk.
  Fate NextFate() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (off) return Fate::kOff;
    if (cut_in > 0 && --cut_in == 0) {
      off = true;
      return Fate::kCut;
    }
    if (fail_in > 0 && --fail_in == 0) {
      ++tally.failures;
      return Fate::kFailed;
    }
    return Fate::kDone;
  }

  void SyncFolder() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::erase_if(states,
                  [](const auto& entry) { return entry.second.is_deleted; });
  }

  static int Open(sqlite3_vfs* it, const char* name, sqlite3_file* file,
                  int flags, int* out_flags);
  static int Delete(sqlite3_vfs* it, const char* name, int sync_folder);
  static int Write(sqlite3_file* file, const void* bytes, int size,
                   sqlite3_int64 offset);
  static int Truncate(sqlite3_file* file, sqlite3_int64 size);
  static int Sync(sqlite3_file* file, int flags);
  static int Control(sqlite3_file* file, int operation, void* argument);
  static const sqlite3_io_methods* Methods();

  std::string Leave(FileState& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  std::mt19937_64 random;
  sqlite3_vfs* const real;
  sqlite3_vfs vfs = {};

  base::Mutex mutex;
  bool off ABSL_GUARDED_BY(mutex) = false;
  int64_t cut_in ABSL_GUARDED_BY(mutex) = 0;   // 0: not
  int64_t fail_in ABSL_GUARDED_BY(mutex) = 0;  // 0: not
  Tally tally ABSL_GUARDED_BY(mutex);
  std::map<std::string, FileState> states ABSL_GUARDED_BY(mutex);
};

int PowerCutDisk::Files::Open(sqlite3_vfs* it, const char* name,
                              sqlite3_file* file, int flags, int* out_flags) {
  Files* const files = Cast(it);
  OpenFile* const open = Cast(file);
  open->base.pMethods = nullptr;  // no xClose after a failure
  open->files = files;
  open->path = nullptr;
  const base::MutexLock lock(&files->mutex);
  if (files->off) return SQLITE_CANTOPEN;
  const bool is_new = name != nullptr && !std::filesystem::exists(name);
  const int code =
      files->real->xOpen(files->real, name, open->real(), flags, out_flags);
  if (code != SQLITE_OK) return code;
  open->base.pMethods = Methods();
  if (name == nullptr) return SQLITE_OK;
  open->path = new std::string(name);
  const auto [entry, is_unknown] = files->states.try_emplace(name);
  FileState& state = entry->second;
  if (is_unknown && !is_new) {
    state.is_made = true;
    state.synced = ReadWhole(name);
  }
  if (is_new) {
    state.is_new = true;
    state.is_deleted = false;
    if (!is_unknown) state.unsynced.push_back({.is_truncation = true});
  }
  return SQLITE_OK;
}

int PowerCutDisk::Files::Delete(sqlite3_vfs* it, const char* name,
                                int sync_folder) {
  Files* const files = Cast(it);
  const base::MutexLock lock(&files->mutex);
  const auto state = files->states.find(name);
  switch (files->NextFate()) {
    case Fate::kOff:
    case Fate::kCut:
    case Fate::kFailed:
      return SQLITE_IOERR_DELETE;
    case Fate::kDone:
      break;
  }
  if (state != files->states.end()) {
    state->second.is_deleted = true;
    if (sync_folder != 0) files->SyncFolder();
  }
  return files->real->xDelete(files->real, name, 0);
}

int PowerCutDisk::Files::Write(sqlite3_file* file, const void* bytes, int size,
                               sqlite3_int64 offset) {
  OpenFile* const open = Cast(file);
  Files* const files = open->files;
  const base::MutexLock lock(&files->mutex);
  const Fate fate = files->NextFate();
  if (fate == Fate::kOff) return SQLITE_IOERR_WRITE;
  if (open->path != nullptr) {
    // Also of a write that fails: some of it may be there.
    files->states[*open->path].unsynced.push_back(
        {.offset = offset,
         .bytes = std::string(static_cast<const char*>(bytes), size)});
  }
  ++files->tally.writes;
  if (fate == Fate::kCut) return SQLITE_IOERR_WRITE;
  const int code = open->real()->pMethods->xWrite(
      open->real(), bytes, fate == Fate::kFailed ? size / 2 : size, offset);
  return fate == Fate::kFailed ? SQLITE_FULL : code;
}

int PowerCutDisk::Files::Truncate(sqlite3_file* file, sqlite3_int64 size) {
  OpenFile* const open = Cast(file);
  Files* const files = open->files;
  const base::MutexLock lock(&files->mutex);
  const Fate fate = files->NextFate();
  if (fate == Fate::kOff || fate == Fate::kFailed) return SQLITE_IOERR_TRUNCATE;
  if (open->path != nullptr) {
    files->states[*open->path].unsynced.push_back(
        {.offset = size, .is_truncation = true});
  }
  if (fate == Fate::kCut) return SQLITE_IOERR_TRUNCATE;
  return open->real()->pMethods->xTruncate(open->real(), size);
}

int PowerCutDisk::Files::Sync(sqlite3_file* file, int /*flags*/) {
  OpenFile* const open = Cast(file);
  Files* const files = open->files;
  const base::MutexLock lock(&files->mutex);
  if (files->NextFate() != Fate::kDone) return SQLITE_IOERR_FSYNC;
  ++files->tally.syncs;
  if (open->path == nullptr) return SQLITE_OK;
  FileState& state = files->states[*open->path];
  for (const Change& change : state.unsynced) Apply(change, state.synced);
  state.unsynced.clear();
  state.is_made = true;
  // As SQLite's own file system does for a log or journal that it made.
  if (std::exchange(state.is_new, false)) files->SyncFolder();
  return SQLITE_OK;  // the real disk keeps its power
}

int PowerCutDisk::Files::Control(sqlite3_file* file, int operation,
                                 void* argument) {
  // These change the size past us.
  if (operation == SQLITE_FCNTL_SIZE_HINT ||
      operation == SQLITE_FCNTL_CHUNK_SIZE) {
    return SQLITE_OK;
  }
  sqlite3_file* const real = Cast(file)->real();
  return real->pMethods->xFileControl(real, operation, argument);
}

const sqlite3_io_methods* PowerCutDisk::Files::Methods() {
  static const sqlite3_io_methods methods = [] {
    sqlite3_io_methods made = {};
    made.iVersion = 2;
    made.xClose = [](sqlite3_file* file) {
      delete Cast(file)->path;
      return Cast(file)->real()->pMethods->xClose(Cast(file)->real());
    };
    made.xRead = [](sqlite3_file* file, void* out, int size,
                    sqlite3_int64 offset) {
      {
        const base::MutexLock lock(&Cast(file)->files->mutex);
        if (Cast(file)->files->off) return SQLITE_IOERR_READ;
      }
      sqlite3_file* const real = Cast(file)->real();
      return real->pMethods->xRead(real, out, size, offset);
    };
    made.xWrite = Write;
    made.xTruncate = Truncate;
    made.xSync = Sync;
    made.xFileControl = Control;
    made.xFileSize = [](sqlite3_file* file, sqlite3_int64* size) {
      return Cast(file)->real()->pMethods->xFileSize(Cast(file)->real(), size);
    };
    made.xLock = [](sqlite3_file* file, int level) {
      return Cast(file)->real()->pMethods->xLock(Cast(file)->real(), level);
    };
    made.xUnlock = [](sqlite3_file* file, int level) {
      return Cast(file)->real()->pMethods->xUnlock(Cast(file)->real(), level);
    };
    made.xCheckReservedLock = [](sqlite3_file* file, int* out) {
      return Cast(file)->real()->pMethods->xCheckReservedLock(
          Cast(file)->real(), out);
    };
    made.xSectorSize = [](sqlite3_file* file) {
      return Cast(file)->real()->pMethods->xSectorSize(Cast(file)->real());
    };
    made.xDeviceCharacteristics = [](sqlite3_file* file) {
      return Cast(file)->real()->pMethods->xDeviceCharacteristics(
          Cast(file)->real());
    };
    made.xShmMap = [](sqlite3_file* file, int page, int size, int extend,
                      void volatile** out) {
      return Cast(file)->real()->pMethods->xShmMap(Cast(file)->real(), page,
                                                   size, extend, out);
    };
    made.xShmLock = [](sqlite3_file* file, int offset, int count, int flags) {
      return Cast(file)->real()->pMethods->xShmLock(Cast(file)->real(), offset,
                                                    count, flags);
    };
    made.xShmBarrier = [](sqlite3_file* file) {
      Cast(file)->real()->pMethods->xShmBarrier(Cast(file)->real());
    };
    made.xShmUnmap = [](sqlite3_file* file, int remove) {
      return Cast(file)->real()->pMethods->xShmUnmap(Cast(file)->real(),
                                                     remove);
    };
    return made;
  }();
  return &methods;
}

// The content of a file on the disk once the power is gone.
std::string PowerCutDisk::Files::Leave(FileState& state) {
  std::string content = state.synced;
  const uint64_t manner = random() % 3;
  const size_t writes = state.unsynced.size();
  const size_t last = writes == 0 ? 0 : random() % writes;
  for (size_t i = 0; i < writes; ++i) {
    const Change& change = state.unsynced[i];
    const auto sectors =
        (static_cast<int64_t>(change.bytes.size()) + kSector - 1) / kSector;
    const bool is_whole = manner == 1 && i < last;
    const bool is_torn = manner == 2 || (manner == 1 && i == last);
    if (change.is_truncation) {
      if (is_whole || (is_torn && random() % 2 == 0)) Apply(change, content);
      continue;
    }
    if (is_whole) {
      Apply(change, content);
      continue;
    }
    for (int64_t sector = 0; sector < sectors; ++sector) {
      if (!is_torn || random() % 2 == 0) {
        ++tally.lost_sectors;
        continue;
      }
      Apply({.offset = change.offset + sector * kSector,
             .bytes = change.bytes.substr(sector * kSector, kSector)},
            content);
    }
  }
  return content;
}

PowerCutDisk::PowerCutDisk(uint64_t seed)
    : files_(std::make_unique<Files>(seed, sqlite3_vfs_find(nullptr))) {
  sqlite3_vfs_register(&files_->vfs, /*makeDflt=*/1);
}

PowerCutDisk::~PowerCutDisk() { sqlite3_vfs_unregister(&files_->vfs); }

void PowerCutDisk::CutAt(int64_t call) {
  const base::MutexLock lock(&files_->mutex);
  files_->cut_in = call;
}

void PowerCutDisk::FailAt(int64_t call) {
  const base::MutexLock lock(&files_->mutex);
  files_->fail_in = call;
}

bool PowerCutDisk::is_off() const {
  const base::MutexLock lock(&files_->mutex);
  return files_->off;
}

void PowerCutDisk::Restore() {
  const base::MutexLock lock(&files_->mutex);
  for (auto& [path, state] : files_->states) {
    std::filesystem::remove(path);
    std::filesystem::remove(path + "-shm");
    const bool is_certain = state.is_made && !state.is_deleted;
    const bool is_there = is_certain || files_->random() % 2 == 0;
    if (!is_there) continue;
    std::ofstream(path, std::ios::binary) << files_->Leave(state);
  }
  files_->states.clear();
  files_->off = false;
  files_->cut_in = 0;
  files_->fail_in = 0;
}

PowerCutDisk::Tally PowerCutDisk::tally() const {
  const base::MutexLock lock(&files_->mutex);
  return files_->tally;
}

}  // namespace meshwright::sqlite
