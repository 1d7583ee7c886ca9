// The columns of a plan and of its updates: their checksums, and what is found
// damaged when they are read.
//
// Concept: a checksum tells a damaged row from a sound one. A sound one must
// still parse and agree with its columns. Rows of a store's version 5 and
// before have no checksum; for those the rest decides. Threads: pure functions.
// Errors: MakeDamageError gives kDataLoss.
#ifndef MESHWRIGHT_PROFILEDB_TABLES_PLAN_ROWS_H_
#define MESHWRIGHT_PROFILEDB_TABLES_PLAN_ROWS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/tables/database.h"
#include "proto/v1/plan_record.pb.h"

namespace meshwright::tables {

// Frozen: they are stored. Of a record or what was planned, and of an update.
int64_t ComputeChecksum(store::PlanId id, std::string_view bytes);
int64_t ComputeChecksum(store::PlanId id, int64_t sequence,
                        std::string_view bytes);

// Of the columns id, state, record and checksum. Returns what is wrong with
// them, empty where nothing is, here and below.
std::string ParseRecord(const Statement& row, v1::PlanRecord& record);
// The same, and of the columns plan and plan_checksum behind them.
std::string ParseWholePlan(const Statement& row, v1::PlanRecord& record);
// Of the columns sequence, content and checksum of an update.
std::string ParseUpdate(store::PlanId id, const Statement& row,
                        v1::PlanUpdate& update);

// One sentence that names the plan.
absl::Status MakeDamageError(store::PlanId id, const std::string& damage);

}  // namespace meshwright::tables

#endif  // MESHWRIGHT_PROFILEDB_TABLES_PLAN_ROWS_H_
