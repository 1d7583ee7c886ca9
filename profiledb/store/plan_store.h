// PlanStore: the plans that were asked for, what became of them, and the
// devices they were made for. Beside them the audit log and the workers.
//
// Concept: a plan is a row from its submission on. Its history is a list of
// updates, numbered from 1, and the row is their sum (plan_updates.h). A
// watcher that read up to a number goes on from there, on any coordinator. An
// ended plan takes no more updates.
//
//   Add ──▶ QUEUED ── Append, Append, ... ──▶ DONE | FAILED | CANCELLED
//
// The coordinator that runs plans begins an *epoch*. Every Append, SetOrder and
// SetWorkers states it, and those of an older epoch are refused. A coordinator
// that was replaced while it slept thus changes nothing. The rest is anybody's:
// Add, RememberDevice, RecordAudit, and Remove, which takes plans that nobody
// runs any more.
// Add, Append and SetOrder write the row of an open AuditScope (audit.h) in the
// same transaction, where they change something.
//
// Threads and ownership: any thread, at any time. A call that returns OK has
// been made durable, where the store is.
// Errors: kNotFound for an unknown plan, kFailedPrecondition for one that has
// ended, kAborted for an older epoch, kInvalidArgument for an id that is none.
// kAlreadyExists for a plan of another store whose id or request id is taken,
// kResourceExhausted for a plan beyond the limits (plan_limits.h); those of
// ProfileStore of the disk, where kDataLoss is a plan that is damaged. A list
// leaves damaged plans out, and sets them aside. A failed call leaves the store
// as it was.
#ifndef MESHWRIGHT_PROFILEDB_STORE_PLAN_STORE_H_
#define MESHWRIGHT_PROFILEDB_STORE_PLAN_STORE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/strong_id.h"
#include "profiledb/store/audit.h"
#include "profiledb/store/plan_limits.h"
#include "profiledb/store/worker_row.h"
#include "proto/v1/plan_record.pb.h"

namespace meshwright::store {

using PlanId = base::StrongId<struct PlanTag>;
using Epoch = base::StrongId<struct EpochTag>;

struct PlanFilter {
  std::vector<v1::PlanState> states;  // none: all
  std::vector<std::string> teams;     // none: all
  std::string owner;                  // empty: all
  PlanId before;                      // older than this one; zero: all
  int limit = 100;
};

// Who leads the coordinators of a store.
struct Leader {
  Epoch epoch;
  std::string holder;    // its address
  bool is_mine = false;  // the caller leads, in this epoch
};

// A plan that is not as it was written.
struct DamagedPlan {
  PlanId id;
  std::string team;
  std::string damage;
  bool has_whole_record = false;  // the damage is in its updates
};

class PlanStore {
 public:
  virtual ~PlanStore() = default;

  // `holder` names the coordinator, for people.
  // Of the only coordinator of a store.
  virtual absl::StatusOr<Epoch> BeginEpoch(const std::string& holder) = 0;

  // Of one of several: begins an epoch that lasts for `term` of the database's
  // clock, unless another one's lasts still. Prolongs it where `mine` is the
  // present epoch. Whoever leads then is the answer. One that would last for
  // more than `term` is over: that clock was stepped back since it began.
  virtual absl::StatusOr<Leader> Lead(const std::string& holder, Epoch mine,
                                      absl::Duration term) = 0;
  // Ends the term, where `mine` is the epoch at hand.
  virtual absl::Status StepDown(Epoch mine) = 0;

  // Adds a queued plan and gives it an id. One of the same team, owner and
  // request id is returned as it stands; an empty request id equals no other.
  // kAlreadyExists for one that asks for another plan.
  virtual absl::StatusOr<v1::PlanRecord> Add(const v1::PlanRecord& record,
                                             const PlanLimits& limits) = 0;
  absl::StatusOr<v1::PlanRecord> Add(const v1::PlanRecord& record) {
    return Add(record, PlanLimits());
  }

  // kNotFound for an unknown plan.
  virtual absl::StatusOr<v1::PlanRecord> Get(PlanId id) = 0;

  // Newest first, without their plans.
  virtual absl::StatusOr<std::vector<v1::PlanRecord>> List(
      const PlanFilter& filter) = 0;

  // How many plans there are of each state that has some.
  virtual absl::StatusOr<std::map<v1::PlanState, int64_t>> CountByState() = 0;

  // Returns the record, without its plan, that includes the update.
  virtual absl::StatusOr<v1::PlanRecord> Append(
      Epoch epoch, PlanId id, const v1::PlanUpdate& update) = 0;

  // At most `limit` updates after number `after`, in their order. The last one
  // of a plan that is done has the plan.
  virtual absl::StatusOr<std::vector<v1::PlanUpdate>> ReadUpdates(
      PlanId id, int64_t after, int limit) = 0;

  // Takes a plan of another store over, under its id: the record with its plan
  // and all its updates. One that is here already gets the updates that it
  // lacks, unless it went on by itself (kAlreadyExists).
  virtual absl::Status Restore(const v1::PlanRecord& record,
                               absl::Span<const v1::PlanUpdate> updates) = 0;

  // Removes plans that have ended, with their updates; others, and ids that
  // name none, are left. How many went. No later plan gets their ids.
  virtual absl::StatusOr<int64_t> Remove(absl::Span<const PlanId> ids) = 0;

  // Devices that workers have had. One that is known is left as it is.
  virtual absl::Status RememberDevice(const v1::DeviceRecord& device) = 0;
  // In the order in which they became known; empty where there are none.
  virtual absl::StatusOr<std::vector<v1::DeviceRecord>> ListDevices() = 0;

  // Reads all plans with their updates. Those whose record is damaged are set
  // aside: they are in no list any more, and Get says so.
  virtual absl::StatusOr<std::vector<DamagedPlan>> Verify() = 0;

  // In place of what was ordered of this worker before. `epoch`: of the
  // coordinator that runs plans; absent: none does, as where a store is copied.
  virtual absl::Status SetOrder(std::optional<Epoch> epoch,
                                const v1::WorkerOrder& order) = 0;
  // Those that hold, by worker.
  virtual absl::StatusOr<std::vector<v1::WorkerOrder>> ListOrders() = 0;

  // Adds rows that are not there yet, in their order.
  virtual absl::Status RecordAudit(absl::Span<const AuditRow> rows) = 0;
  // At most `limit` rows after number `after`, in the order of their numbers.
  virtual absl::StatusOr<std::vector<AuditRow>> ReadAudit(int64_t after,
                                                          int limit) = 0;
  // The newest ones, at most `limit`, in the order of their numbers.
  virtual absl::StatusOr<std::vector<AuditRow>> ReadNewestAudit(int limit) = 0;
  // Removes the rows of before that time. How many went.
  virtual absl::StatusOr<int64_t> RemoveAudit(absl::Time before) = 0;

  // Of the coordinator that runs plans.
  virtual absl::Status SetWorkers(Epoch epoch,
                                  const WorkerChanges& changes) = 0;
  // By name.
  virtual absl::StatusOr<std::vector<WorkerRow>> ListWorkers() = 0;
};

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_PLAN_STORE_H_
