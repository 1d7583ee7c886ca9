#include "coordinator/plans/outgoing_files.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::plans {
namespace {

absl::Status MakeCannotWriteError() {
  return absl::ErrnoToStatus(
      errno, absl::StrCat("cannot write to ", base::FindTemporaryFolder()));
}

}  // namespace

absl::StatusOr<OutgoingFiles> MakeOutgoingFiles(
    std::vector<base::NamedFile> files) {
  ASSIGN_OR_RETURN(base::OwnedFile file, base::OpenUnnamedFile());
  v1::ExportedFiles report;
  for (base::NamedFile& it : files) {
    const size_t bytes = it.content.size();
    if (std::fwrite(it.content.data(), 1, bytes, file.get()) != bytes) {
      return MakeCannotWriteError();
    }
    std::string().swap(it.content);
    v1::ExportedFile& row = *report.add_files();
    row.set_name(it.name);
    row.set_bytes(static_cast<int64_t>(bytes));
  }
  if (std::fflush(file.get()) != 0 ||
      std::fseek(file.get(), 0, SEEK_SET) != 0) {
    return MakeCannotWriteError();
  }
  return OutgoingFiles{std::move(file), std::move(report)};
}

}  // namespace meshwright::plans
