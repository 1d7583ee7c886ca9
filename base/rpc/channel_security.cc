#include "base/rpc/channel_security.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"

namespace meshwright::base {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

ChannelSecurity WithEnvironment(ChannelSecurity security) {
  if (security.ca_file.empty()) security.ca_file = Variable("MESHWRIGHT_CA");
  if (security.token.empty()) security.token = Variable("MESHWRIGHT_TOKEN");
  return security;
}

absl::StatusOr<std::string> ReadToken(const ChannelSecurity& security) {
  if (security.token_file.empty()) return security.token;
  RETURN_IF_ERROR(CheckPrivate(security.token_file));
  ASSIGN_OR_RETURN(const std::string content, ReadFile(security.token_file));
  const std::string token(
      absl::StripAsciiWhitespace(content.substr(0, content.find('\n'))));
  if (token.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(security.token_file,
                     " has no token in its first line; put there what "
                     "\"meshwright tokens create\" printed"));
  }
  return token;
}

absl::Status CheckPrivate(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  // A file of root is lent to this user by its group: so do Kubernetes' secrets
  // come to a container that is not root.
  const bool is_lent = info.st_uid == 0 && geteuid() != 0;
  if (S_ISREG(info.st_mode) && (info.st_mode & (is_lent ? 037 : 077)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " may be read by other users; run chmod 600 ", path));
  }
  return absl::OkStatus();
}

}  // namespace meshwright::base
