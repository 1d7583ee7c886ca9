// The links of a mesh's axes from a file: a link table, or a cluster
// (docs/formats/links.md, cluster.md).
//
// Errors: kInvalidArgument, one sentence that names the file and the field.
#ifndef MESHWRIGHT_CLI_FLAGS_LINKS_FILE_H_
#define MESHWRIGHT_CLI_FLAGS_LINKS_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/link.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

absl::StatusOr<base::Links> LoadLinks(const std::string& path,
                                      const v1::MeshSpec& mesh);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_LINKS_FILE_H_
