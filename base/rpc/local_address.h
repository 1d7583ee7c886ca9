// Addresses as people write them, and whether one names this machine: what is
// said there needs no TLS.
// Errors: none. A name that only a resolver knows is not local.
#ifndef MESHWRIGHT_BASE_RPC_LOCAL_ADDRESS_H_
#define MESHWRIGHT_BASE_RPC_LOCAL_ADDRESS_H_

#include <string>
#include <string_view>

namespace meshwright::base {

bool IsUnixAddress(std::string_view address);

// unix:PATH, localhost:PORT, 127.0.0.1:PORT or [::1]:PORT.
bool IsLocalAddress(std::string_view address);

// HOST:PORT of what a person wrote; a PORT alone is one of this machine.
std::string CompleteAddress(const std::string& written);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_RPC_LOCAL_ADDRESS_H_
