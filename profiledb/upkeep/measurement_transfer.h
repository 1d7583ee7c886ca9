// OutgoingMeasurements, IncomingMeasurements: a file of measurements that goes
// from one process to another in pieces.
//
// Concept: the whole file lies in the temporary folder (TMPDIR) without a name,
// and is gone with its object, after kill -9 too. So memory holds one piece, a
// slow peer does not hold the store up, and nothing is recorded of a file that
// is not whole.
// In -> Out: docs/formats/measurements.md, as in exchange.h.
// Threads: one at a time per object.
// Errors: those of ExportMeasurements and ImportMeasurements; errno's, with the
// temporary folder; kResourceExhausted for a file that is too large.
#ifndef MESHWRIGHT_PROFILEDB_UPKEEP_MEASUREMENT_TRANSFER_H_
#define MESHWRIGHT_PROFILEDB_UPKEEP_MEASUREMENT_TRANSFER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiledb/store/profile_store.h"
#include "profiledb/upkeep/measurement_file.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::store {

struct OutgoingMeasurements {
  OwnedFile file;           // at its beginning
  v1::ExportReport report;  // without a file
};

// `team` empty: every namespace.
absl::StatusOr<OutgoingMeasurements> MakeOutgoingMeasurements(
    ProfileStore& store, const std::string& team);

class IncomingMeasurements {
 public:
  // Opens a file without a name that takes up to `maximum_bytes`.
  static absl::StatusOr<std::unique_ptr<IncomingMeasurements>> Make(
      int64_t maximum_bytes);

  // The next piece, in order. kResourceExhausted beyond the maximum, or where
  // the disk is full.
  absl::Status Add(std::string_view bytes);
  // After the last piece, once. `team` and `now` as in ImportMeasurements; the
  // report is without a file.
  absl::StatusOr<v1::ImportReport> Import(ProfileStore& store,
                                          const std::string& team,
                                          Nanoseconds now);

 private:
  IncomingMeasurements(OwnedFile file, int64_t maximum_bytes)
      : file_(std::move(file)), maximum_bytes_(maximum_bytes) {}

  OwnedFile file_;
  const int64_t maximum_bytes_;
  int64_t bytes_ = 0;
};

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_UPKEEP_MEASUREMENT_TRANSFER_H_
