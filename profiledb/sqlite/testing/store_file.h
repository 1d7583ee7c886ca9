// StoreFile: a path for a store in a folder of its own, and raw access to it.
//
// Threads: one.
#ifndef MESHWRIGHT_PROFILEDB_SQLITE_TESTING_STORE_FILE_H_
#define MESHWRIGHT_PROFILEDB_SQLITE_TESTING_STORE_FILE_H_

#include <cstdint>
#include <string>

namespace meshwright::sqlite {

class StoreFile {
 public:
  // The folder is a new one, and is removed at the end.
  explicit StoreFile(const std::string& name);
  ~StoreFile();
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;

  const std::string& path() const { return path_; }

  // Fails the test if SQLite refuses.
  void Sql(const std::string& sql) const;
  // The first figure of the first row.
  int64_t Query(const std::string& sql) const;

  // Flips a bit in the middle of each place that holds `text`; how many.
  int FlipIn(const std::string& text) const;

 private:
  std::string folder_;
  std::string path_;
};

}  // namespace meshwright::sqlite

#endif  // MESHWRIGHT_PROFILEDB_SQLITE_TESTING_STORE_FILE_H_
