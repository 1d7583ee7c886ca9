#include "worker/comm/protocol/address.h"

#include "absl/strings/numbers.h"

namespace meshwright::worker::comm {

std::optional<int> FindPort(std::string_view address) {
  constexpr int kHighestPort = 65535;
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  address.remove_prefix(colon + 1);
  int port = 0;
  if (!absl::SimpleAtoi(absl::string_view(address.data(), address.size()),
                        &port) ||
      port < 1 || port > kHighestPort) {
    return std::nullopt;
  }
  return port;
}

}  // namespace meshwright::worker::comm
