// The columns of a row: what is written, and what is found damaged when read.
//
// Concept: a result is stored without its key, which is a column of 32 bytes.
// A checksum over all columns tells a damaged row from a sound one. A sound one
// must still parse, agree with its columns and pass the checks of CheckRow.
// Threads: pure functions; a Checksum belongs to one thread.
#ifndef MESHWRIGHT_PROFILEDB_TABLES_STORED_ROW_H_
#define MESHWRIGHT_PROFILEDB_TABLES_STORED_ROW_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "profiledb/store/profile_store.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::tables {

// FNV-1a over little-endian words of 8 bytes, the last one padded with zeros,
// each field after its length. Frozen: it is stored.
class Checksum {
 public:
  // Returns itself.
  Checksum& Add(std::string_view field);
  Checksum& Add(int64_t field);
  int64_t value() const { return static_cast<int64_t>(state_); }

 private:
  uint64_t state_ = 0xcbf29ce484222325u;
};

// The 32 bytes of 64 hex digits, and back.
std::string KeyToBytes(std::string_view key);
std::string BytesToKey(std::string_view bytes);

int64_t ToUnixNs(store::Nanoseconds time);
store::Nanoseconds FromUnixNs(int64_t nanoseconds);
int64_t ToUnixDay(store::Nanoseconds time);

// Without the key.
std::string SerializeResult(const v1::ProfileResult& result);

// Parses into `result` and sets its key. Returns what is wrong with it, empty
// where nothing is.
std::string ParseResult(std::string_view bytes, const std::string& key,
                        int64_t outcome, v1::ProfileResult& result);

}  // namespace meshwright::tables

#endif  // MESHWRIGHT_PROFILEDB_TABLES_STORED_ROW_H_
