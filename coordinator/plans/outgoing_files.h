// OutgoingFiles: files on their way to a client, piece by piece.
//
// Concept: they lie in the temporary folder (TMPDIR) without a name, one behind
// the other, and are gone with their object. So memory holds one piece, however
// slowly the client reads.
// Errors: errno's, with the temporary folder.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_OUTGOING_FILES_H_
#define MESHWRIGHT_COORDINATOR_PLANS_OUTGOING_FILES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "base/file.h"
#include "base/partial_file.h"
#include "proto/v1/plans.pb.h"

namespace meshwright::plans {

struct OutgoingFiles {
  base::OwnedFile file;  // at its beginning
  v1::ExportedFiles report;
};

absl::StatusOr<OutgoingFiles> MakeOutgoingFiles(
    std::vector<base::NamedFile> files);

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_OUTGOING_FILES_H_
