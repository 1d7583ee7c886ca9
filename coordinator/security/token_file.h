// The token file: the tokens that a coordinator knows, and the quotas of their
// namespaces, as TOML.
//
// Concept: a coordinator reads it at its start and again on demand; the verbs
// `meshwright tokens` change it. docs/formats/tokens.md has the format.
// Errors: kInvalidArgument for a file that others may read, or that is wrong,
// with file and line. kNotFound; errno's for a file that cannot be written.
// Threads: any. Changes of several processes exclude each other.
#ifndef MESHWRIGHT_COORDINATOR_SECURITY_TOKEN_FILE_H_
#define MESHWRIGHT_COORDINATOR_SECURITY_TOKEN_FILE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/security/quota.h"
#include "coordinator/security/token.h"

namespace meshwright::security {

struct AccessFile {
  std::vector<Token> tokens;
  std::vector<Quota> quotas;  // at most one for each namespace
};
absl::StatusOr<AccessFile> ReadAccessFile(const std::string& path);

// The tokens alone.
absl::StatusOr<std::vector<Token>> ReadTokenFile(const std::string& path);

// Calls `change` with what the file holds (nothing where there is no file) and
// writes the result with mode 0600. A reader sees the old or the new file.
absl::Status ChangeAccessFile(
    const std::string& path,
    const std::function<absl::Status(AccessFile&)>& change);

// The tokens alone; quotas stay.
absl::Status ChangeTokenFile(
    const std::string& path,
    const std::function<absl::Status(std::vector<Token>&)>& change);

}  // namespace meshwright::security

#endif  // MESHWRIGHT_COORDINATOR_SECURITY_TOKEN_FILE_H_
