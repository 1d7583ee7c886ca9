#include "coordinator/plans/outgoing_files.h"

namespace meshwright::plans {

OutgoingFiles::OutgoingFiles(std::vector<base::NamedFile> files)
    : files_(std::move(files)) {
  for (const base::NamedFile& file : files_) {
    v1::ExportedFile& it = *report_.add_files();
    it.set_name(file.name);
    it.set_bytes(static_cast<int64_t>(file.content.size()));
  }
}

absl::StatusOr<std::string> OutgoingFiles::Read(size_t maximum) {
  while (file_ < files_.size() && at_ == files_[file_].content.size()) {
    std::string().swap(files_[file_].content);
    ++file_;
    at_ = 0;
  }
  if (file_ == files_.size()) return std::string();
  std::string piece = files_[file_].content.substr(at_, maximum);
  at_ += piece.size();
  return piece;
}

}  // namespace meshwright::plans
