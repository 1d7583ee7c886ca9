#include "base/rpc/local_address.h"

namespace meshwright::base {

bool IsUnixAddress(std::string_view address) {
  return address.starts_with("unix:") || address.starts_with("unix-abstract:");
}

bool IsLocalAddress(std::string_view address) {
  if (IsUnixAddress(address)) return true;
  const std::string_view host = address.substr(0, address.rfind(':'));
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

}  // namespace meshwright::base
