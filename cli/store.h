// The profile store of the command line: --store, or the user's own.
//
// Errors: those of store::OpenProfileStore, one sentence that names the file.
#ifndef MESHWRIGHT_CLI_STORE_H_
#define MESHWRIGHT_CLI_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::cli {

// `path` empty: the store in the user's data folder.
absl::StatusOr<std::string> StorePath(const std::string& path);
absl::StatusOr<std::unique_ptr<store::ProfileStore>> OpenStore(
    const std::string& path);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_STORE_H_
