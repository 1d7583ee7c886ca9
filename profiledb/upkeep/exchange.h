// ExportMeasurements, ImportMeasurements: measurements from store to store in
// one file.
//
// Concept: a file holds every measurement that the rows keep, with its origin,
// and final failures; neither programs nor executables, the quarantine nor
// pruned rows. An import reads the whole file before it records anything. It
// checks each row like a worker's (profiledb/store/check_row.h). It names and
// leaves out those that it refuses, and records the others by the rules of
// precedence. A second import changes nothing.
//
// Threads: any. Errors: those of the file (measurement_file.h) and the store.
#ifndef MESHWRIGHT_PROFILEDB_UPKEEP_EXCHANGE_H_
#define MESHWRIGHT_PROFILEDB_UPKEEP_EXCHANGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "profiledb/store/profile_store.h"
#include "profiledb/upkeep/measurement_file.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::store {

// `team` empty: every namespace.
absl::StatusOr<v1::ExportReport> ExportMeasurements(ProfileStore& store,
                                                    const std::string& team,
                                                    const std::string& path);
// The same into a file that is open; the report is without its name.
absl::StatusOr<v1::ExportReport> ExportMeasurements(
    ProfileStore& store, const std::string& team, MeasurementFileWriter& file);

// `team` empty: each row into the namespace that it comes from. Rows of after
// `now` are refused, but for a day that clocks may differ.
absl::StatusOr<v1::ImportReport> ImportMeasurements(ProfileStore& store,
                                                    const std::string& team,
                                                    Nanoseconds now,
                                                    const std::string& path);
// The same of a file that is open; the report is without its name.
absl::StatusOr<v1::ImportReport> ImportMeasurements(
    ProfileStore& store, const std::string& team, Nanoseconds now,
    MeasurementFileReader& file);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_UPKEEP_EXCHANGE_H_
