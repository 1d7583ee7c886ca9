#include "profiledb/upkeep/measurement_transfer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "profiledb/upkeep/exchange.h"

namespace meshwright::store {
namespace {

constexpr char kSent[] = "the file that was sent";

absl::Status MakeCannotWriteError() {
  return absl::ErrnoToStatus(
      errno, absl::StrCat("cannot write to ", base::FindTemporaryFolder()));
}

// One more of the same file, with the same position.
absl::StatusOr<OwnedFile> Duplicate(std::FILE* opened) {
  const int descriptor = fcntl(fileno(opened), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) return MakeCannotWriteError();
  OwnedFile file(fdopen(descriptor, "w+b"));
  if (file != nullptr) return file;
  const absl::Status status = MakeCannotWriteError();
  close(descriptor);
  return status;
}

absl::Status Rewind(std::FILE* file) {
  if (std::fflush(file) == 0 && std::fseek(file, 0, SEEK_SET) == 0) return {};
  return MakeCannotWriteError();
}

}  // namespace

absl::StatusOr<OutgoingMeasurements> MakeOutgoingMeasurements(
    ProfileStore& store, const std::string& team) {
  ASSIGN_OR_RETURN(OwnedFile file, base::OpenUnnamedFile());
  ASSIGN_OR_RETURN(OwnedFile written, Duplicate(file.get()));
  ASSIGN_OR_RETURN(const auto writer,
                   MeasurementFileWriter::Create(base::FindTemporaryFolder(),
                                                 std::move(written)));
  ASSIGN_OR_RETURN(v1::ExportReport report,
                   ExportMeasurements(store, team, *writer));
  RETURN_IF_ERROR(Rewind(file.get()));
  return OutgoingMeasurements{std::move(file), std::move(report)};
}

absl::StatusOr<std::unique_ptr<IncomingMeasurements>>
IncomingMeasurements::Make(int64_t maximum_bytes) {
  ASSIGN_OR_RETURN(OwnedFile file, base::OpenUnnamedFile());
  return std::unique_ptr<IncomingMeasurements>(
      new IncomingMeasurements(std::move(file), maximum_bytes));
}

absl::Status IncomingMeasurements::Add(std::string_view bytes) {
  bytes_ += static_cast<int64_t>(bytes.size());
  if (bytes_ > maximum_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the file of measurements is larger than the ", maximum_bytes_,
        " bytes that it may have here; import it where the store "
        "is, or export one namespace at a time"));
  }
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    return MakeCannotWriteError();
  }
  return {};
}

absl::StatusOr<v1::ImportReport> IncomingMeasurements::Import(
    ProfileStore& store, const std::string& team, Nanoseconds now) {
  RETURN_IF_ERROR(Rewind(file_.get()));
  ASSIGN_OR_RETURN(const auto reader,
                   MeasurementFileReader::Open(kSent, std::move(file_)));
  return ImportMeasurements(store, team, now, *reader);
}

}  // namespace meshwright::store
