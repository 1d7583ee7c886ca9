#include "cli/flags/links_file.h"

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "planner/cluster/cluster_json.h"

namespace meshwright::cli {

absl::StatusOr<base::Links> LoadLinks(const std::string& path,
                                      const v1::MeshSpec& mesh) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  auto links =
      cluster::ParseLinks(text, {mesh.shape().begin(), mesh.shape().end()});
  if (links.ok()) return links;
  return absl::InvalidArgumentError(absl::StrCat(
      path, " has no links: ", std::string(links.status().message())));
}

}  // namespace meshwright::cli
