// OutgoingFiles: files on their way to a client, piece by piece.
//
// Concept: they lie in the temporary folder (TMPDIR) without a name, one behind
// the other, and are gone with their object. So memory holds one piece, however
// slowly the client reads.
// Threads: one at a time. Errors: errno's, with the temporary folder.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_OUTGOING_FILES_H_
#define MESHWRIGHT_COORDINATOR_PLANS_OUTGOING_FILES_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file.h"
#include "base/partial_file.h"
#include "proto/v1/plans.pb.h"

namespace meshwright::plans {

class OutgoingFiles {
 public:
  static absl::StatusOr<std::unique_ptr<OutgoingFiles>> Make(
      std::vector<base::NamedFile> files);

  // The next bytes, at most `maximum`; empty: there are no more.
  absl::StatusOr<std::string> Read(size_t maximum);
  const v1::ExportedFiles& report() const { return report_; }

 private:
  OutgoingFiles(base::OwnedFile file, v1::ExportedFiles report)
      : file_(std::move(file)), report_(std::move(report)) {}

  const base::OwnedFile file_;
  const v1::ExportedFiles report_;
};

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_OUTGOING_FILES_H_
