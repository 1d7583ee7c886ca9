// OutgoingFiles: files on their way to a client, piece by piece.
//
// Threads: one at a time. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_OUTGOING_FILES_H_
#define MESHWRIGHT_COORDINATOR_PLANS_OUTGOING_FILES_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file.h"
#include "proto/v1/plans.pb.h"

namespace meshwright::plans {

class OutgoingFiles {
 public:
  explicit OutgoingFiles(std::vector<base::NamedFile> files);

  // The next bytes, at most `maximum`, of one file; empty: there are no more.
  // What was read is freed with its file.
  absl::StatusOr<std::string> Read(size_t maximum);
  const v1::ExportedFiles& report() const { return report_; }

 private:
  std::vector<base::NamedFile> files_;
  v1::ExportedFiles report_;
  size_t file_ = 0;
  size_t at_ = 0;  // in the file
};

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_OUTGOING_FILES_H_
