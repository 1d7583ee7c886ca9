#include "cli/store.h"

#include "base/status_macros.h"
#include "profiledb/store/open.h"

namespace meshwright::cli {

absl::StatusOr<std::string> StorePath(const std::string& path) {
  if (!path.empty()) return path;
  return store::DefaultStorePath();
}

absl::StatusOr<std::unique_ptr<store::ProfileStore>> OpenStore(
    const std::string& path) {
  ASSIGN_OR_RETURN(const std::string resolved, StorePath(path));
  return store::OpenProfileStore(resolved);
}

}  // namespace meshwright::cli
