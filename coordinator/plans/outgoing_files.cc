#include "coordinator/plans/outgoing_files.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::plans {
namespace {

absl::Status ExplainErrno(const char* action) {
  return absl::ErrnoToStatus(
      errno, absl::StrCat(action, " ", base::FindTemporaryFolder()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<OutgoingFiles>> OutgoingFiles::Make(
    std::vector<base::NamedFile> files) {
  ASSIGN_OR_RETURN(base::OwnedFile file, base::OpenUnnamedFile());
  v1::ExportedFiles report;
  for (base::NamedFile& it : files) {
    const size_t bytes = it.content.size();
    if (std::fwrite(it.content.data(), 1, bytes, file.get()) != bytes) {
      return ExplainErrno("cannot write to");
    }
    std::string().swap(it.content);
    v1::ExportedFile& row = *report.add_files();
    row.set_name(it.name);
    row.set_bytes(static_cast<int64_t>(bytes));
  }
  if (std::fflush(file.get()) != 0 ||
      std::fseek(file.get(), 0, SEEK_SET) != 0) {
    return ExplainErrno("cannot write to");
  }
  return std::unique_ptr<OutgoingFiles>(
      new OutgoingFiles(std::move(file), std::move(report)));
}

absl::StatusOr<std::string> OutgoingFiles::Read(size_t maximum) {
  std::string piece(maximum, '\0');
  piece.resize(std::fread(piece.data(), 1, maximum, file_.get()));
  if (std::ferror(file_.get()) != 0) return ExplainErrno("cannot read from");
  return piece;
}

}  // namespace meshwright::plans
