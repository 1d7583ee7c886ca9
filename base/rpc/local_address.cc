#include "base/rpc/local_address.h"

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

}  // namespace meshwright::base
