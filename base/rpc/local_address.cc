#include "base/rpc/local_address.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/ascii.h"

namespace meshwright::base {

bool IsUnixAddress(std::string_view address) {
  return address.starts_with("unix:") || address.starts_with("unix-abstract:");
}

bool IsLocalAddress(std::string_view address) {
  if (IsUnixAddress(address)) return true;
  const std::string_view host = address.substr(0, address.rfind(':'));
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

std::string CompleteAddress(const std::string& written) {
  const bool is_port = !written.empty() &&
                       std::all_of(written.begin(), written.end(), [](char c) {
                         return absl::ascii_isdigit(c);
                       });
  return is_port ? "127.0.0.1:" + written : written;
}

std::string ReadHostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost";
}

std::string NameForOthers(const std::string& address) {
  const size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  if (host != "0.0.0.0" && host != "[::]" && host != "::") return address;
  return ReadHostName() + address.substr(colon);
}

}  // namespace meshwright::base
