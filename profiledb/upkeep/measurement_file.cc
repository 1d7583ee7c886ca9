#include "profiledb/upkeep/measurement_file.h"

#include <sys/stat.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"

namespace meshwright::store {
namespace {

absl::Status FromErrno(const char* action, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(action, " ", path));
}

std::string Extend(const std::string& digest, const std::string& record) {
  return base::Sha256Hex(digest + record);
}

}  // namespace

absl::StatusOr<std::unique_ptr<MeasurementFileWriter>>
MeasurementFileWriter::Create(const std::string& path) {
  ASSIGN_OR_RETURN(base::PartialFile file, base::PartialFile::Create(path));
  return Begin(std::move(file));
}

absl::StatusOr<std::unique_ptr<MeasurementFileWriter>>
MeasurementFileWriter::Create(const std::string& name, OwnedFile file) {
  return Begin(base::PartialFile(name, std::move(file)));
}

absl::StatusOr<std::unique_ptr<MeasurementFileWriter>>
MeasurementFileWriter::Begin(base::PartialFile file) {
  std::unique_ptr<MeasurementFileWriter> writer(
      new MeasurementFileWriter(std::move(file)));
  v1::MeasurementsRecord record;
  record.mutable_header()->set_format(kMeasurementsFormat);
  record.mutable_header()->set_version(kMeasurementsVersion);
  RETURN_IF_ERROR(writer->Write(record));
  return writer;
}

absl::Status MeasurementFileWriter::Add(v1::ExportedMeasurement measurement) {
  v1::MeasurementsRecord record;
  *record.mutable_measurement() = std::move(measurement);
  ++measurements_;
  return Write(record);
}

absl::Status MeasurementFileWriter::Write(
    const v1::MeasurementsRecord& record) {
  const std::string bytes = record.SerializeAsString();
  std::string length;
  for (size_t rest = bytes.size(); true; rest >>= 7) {
    if (rest < 0x80) {
      length.push_back(static_cast<char>(rest));
      break;
    }
    length.push_back(static_cast<char>(rest | 0x80));
  }
  digest_ = Extend(digest_, bytes);
  RETURN_IF_ERROR(file_.Write(length));
  return file_.Write(bytes);
}

absl::Status MeasurementFileWriter::Finish() {
  v1::MeasurementsRecord record;
  record.mutable_footer()->set_measurements(measurements_);
  record.mutable_footer()->set_digest(digest_);
  RETURN_IF_ERROR(Write(record));
  RETURN_IF_ERROR(file_.Sync());
  return file_.Commit();
}

absl::StatusOr<std::unique_ptr<MeasurementFileReader>>
MeasurementFileReader::Open(const std::string& path) {
  OwnedFile file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) return FromErrno("cannot open", path);
  struct stat info = {};
  if (fstat(fileno(file.get()), &info) == 0 && S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is a folder"));
  }
  return Open(path, std::move(file));
}

absl::StatusOr<std::unique_ptr<MeasurementFileReader>>
MeasurementFileReader::Open(const std::string& name, OwnedFile file) {
  std::unique_ptr<MeasurementFileReader> reader(
      new MeasurementFileReader(name, std::move(file)));
  RETURN_IF_ERROR(reader->CheckWhole());
  RETURN_IF_ERROR(reader->GoToFirst());
  RETURN_IF_ERROR(reader->CheckOrder());
  RETURN_IF_ERROR(reader->GoToFirst());
  return reader;
}

absl::Status MeasurementFileReader::GoToFirst() {
  if (std::fseek(file_.get(), 0, SEEK_SET) != 0) {
    return FromErrno("cannot read", path_);
  }
  std::string header;
  return Read(header).status();
}

absl::Status MeasurementFileReader::CheckHeader(
    const std::string& bytes) const {
  v1::MeasurementsRecord record;
  if (!record.ParseFromString(bytes) ||
      record.header().format() != kMeasurementsFormat) {
    return Refuse("is no file of measurements");
  }
  const int version = record.header().version();
  if (version == kMeasurementsVersion) return {};
  return Refuse(absl::StrCat("has version ", version,
                             " of the format, but this program knows only ",
                             kMeasurementsVersion));
}

// Measurements are not parsed before the digest says that they are sound.
absl::Status MeasurementFileReader::CheckWhole() {
  std::string last;
  const auto header = Read(last);
  if (!header.ok() || !*header) return Refuse("is no file of measurements");
  RETURN_IF_ERROR(CheckHeader(last));
  std::string digest;
  int64_t before = 0;
  while (true) {
    std::string bytes;
    ASSIGN_OR_RETURN(const bool has_next, Read(bytes));
    if (!has_next) break;
    digest = Extend(digest, last);
    ++before;
    last = std::move(bytes);
  }
  v1::MeasurementsRecord record;
  if (!record.ParseFromString(last) || !record.has_footer()) {
    return Refuse("is damaged: it has no end");
  }
  if (record.footer().digest() == digest &&
      record.footer().measurements() == before - 1) {
    return {};
  }
  return Refuse("is damaged: its digest differs");
}

// Whoever can write a file can also write its digest.
absl::Status MeasurementFileReader::CheckOrder() {
  v1::ExportedMeasurement measurement;
  while (true) {
    ASSIGN_OR_RETURN(const bool has_next, Next(measurement));
    if (!has_next) break;
  }
  std::string bytes;
  ASSIGN_OR_RETURN(const bool has_more, Read(bytes));
  if (!has_more) return {};
  return absl::DataLossError(absl::StrCat(
      path_,
      " is damaged: measurements come after its end, which is to be the "
      "last record"));
}

absl::Status MeasurementFileReader::Refuse(const std::string& why) const {
  return absl::InvalidArgumentError(absl::StrCat(path_, " ", why));
}

absl::StatusOr<bool> MeasurementFileReader::Read(std::string& bytes) {
  uint32_t size = 0;
  for (int shift = 0; true; shift += 7) {
    const int byte = std::getc(file_.get());
    if (byte == EOF && shift == 0) return false;
    if (byte == EOF) return Refuse("is damaged: it is cut short");
    if (shift > 21) return Refuse("is damaged: a record has no length");
    size |= static_cast<uint32_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  if (size > kMaximumRecordBytes) {
    return Refuse(absl::StrCat("is damaged: a record has ", size, " bytes"));
  }
  bytes.resize(size);
  if (std::fread(bytes.data(), 1, size, file_.get()) != size) {
    return Refuse("is damaged: it is cut short");
  }
  return true;
}

absl::StatusOr<bool> MeasurementFileReader::Next(
    v1::ExportedMeasurement& measurement) {
  std::string bytes;
  ASSIGN_OR_RETURN(const bool has_next, Read(bytes));
  v1::MeasurementsRecord record;
  if (!has_next || !record.ParseFromString(bytes)) {
    return Refuse("is damaged: a record does not parse");
  }
  if (record.has_footer()) return false;
  if (!record.has_measurement()) {
    return Refuse("is damaged: a record is of no kind");
  }
  measurement = std::move(*record.mutable_measurement());
  return true;
}

}  // namespace meshwright::store
