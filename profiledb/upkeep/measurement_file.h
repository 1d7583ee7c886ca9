// MeasurementFileWriter, MeasurementFileReader: measurements as one file.
//
// Concept: records of protobuf, each after its length. A digest that runs
// through all of them stands in the last, so that a reader notices a file that
// is cut short or changed.
//
//   length | header   length | measurement   ...   length | footer
//
// In → Out: docs/formats/measurements.md. A file is written beside its name and
// renamed when it is whole. Memory: one record at a time.
// Threads: one per object.
// Errors: one sentence that names the file. kInvalidArgument for one that is no
// file of measurements, is damaged or of a newer version; kDataLoss for one
// with records behind its end; kResourceExhausted: the disk is full;
// kNotFound, kPermissionDenied.
#ifndef MESHWRIGHT_PROFILEDB_UPKEEP_MEASUREMENT_FILE_H_
#define MESHWRIGHT_PROFILEDB_UPKEEP_MEASUREMENT_FILE_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/partial_file.h"
#include "proto/v1/measurements.pb.h"

namespace meshwright::store {

inline constexpr char kMeasurementsFormat[] = "meshwright measurements";
inline constexpr int kMeasurementsVersion = 1;
inline constexpr uint32_t kMaximumRecordBytes = 2 << 20;

using base::OwnedFile;

class MeasurementFileWriter {
 public:
  // A file that has the name `path` after Finish. Errors: see above.
  static absl::StatusOr<std::unique_ptr<MeasurementFileWriter>> Create(
      const std::string& path);
  // Into a file that is open; `name` is for errors.
  static absl::StatusOr<std::unique_ptr<MeasurementFileWriter>> Create(
      const std::string& name, OwnedFile file);
  // Without Finish, nothing is left (base/partial_file.h).
  MeasurementFileWriter(const MeasurementFileWriter&) = delete;
  MeasurementFileWriter& operator=(const MeasurementFileWriter&) = delete;

  // Appends a measurement. Errors: kResourceExhausted: the disk is full.
  absl::Status Add(v1::ExportedMeasurement measurement);
  // The file is whole, on the disk and has its name.
  absl::Status Finish();

  int64_t measurements() const { return measurements_; }

 private:
  explicit MeasurementFileWriter(base::PartialFile file)
      : file_(std::move(file)) {}

  static absl::StatusOr<std::unique_ptr<MeasurementFileWriter>> Begin(
      base::PartialFile file);
  absl::Status Write(const v1::MeasurementsRecord& record);

  base::PartialFile file_;
  std::string digest_;
  int64_t measurements_ = 0;
};

class MeasurementFileReader {
 public:
  // Reads the file to its end: it is whole, and its end is its only one.
  static absl::StatusOr<std::unique_ptr<MeasurementFileReader>> Open(
      const std::string& path);
  // The same of one that is open, at its beginning; `name` is for errors.
  static absl::StatusOr<std::unique_ptr<MeasurementFileReader>> Open(
      const std::string& name, OwnedFile file);

  // False: there is no further one.
  absl::StatusOr<bool> Next(v1::ExportedMeasurement& measurement);

 private:
  MeasurementFileReader(std::string path, OwnedFile file)
      : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status CheckHeader(const std::string& bytes) const;
  absl::Status CheckWhole();
  absl::Status CheckOrder();
  absl::Status GoToFirst();  // behind the header
  // False: the file ends before a record.
  absl::StatusOr<bool> Read(std::string& bytes);
  absl::Status Refuse(const std::string& why) const;

  const std::string path_;
  const OwnedFile file_;
};

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_UPKEEP_MEASUREMENT_FILE_H_
