// Rows for tests of stores.
//
// Threads: pure functions.
#ifndef MESHWRIGHT_PROFILEDB_STORE_TESTING_ROWS_H_
#define MESHWRIGHT_PROFILEDB_STORE_TESTING_ROWS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "profiledb/store/profile_store.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::store {

// A key, from a name that a test can read.
std::string MakeKey(std::string_view name);

v1::ProfileResult MakeRow(std::string_view name, v1::Outcome outcome,
                          const std::string& reason = "");

v1::ProfileResult MakeMeasured(std::string_view name,
                               int64_t minimum_ns = 1'000'000,
                               v1::Quality quality = v1::GOOD);

// The same with what is asked of a row that comes from elsewhere: its memory,
// and samples that all took as long.
v1::ProfileResult MakeFounded(std::string_view name,
                              int64_t minimum_ns = 1'000'000);

// As a worker of today measures a program of a transformer: with samples,
// anchors, collectives and memory; different for every `number`.
v1::ProfileResult MakeWorkersRow(std::string_view name, int number);
Origin MakeWorkersOrigin(int number);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_TESTING_ROWS_H_
