// Addresses as people write them, whether one names this machine, and the name
// of this machine for others. What is said to this machine needs no TLS.
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

// Of this machine; "localhost" where it has none.
std::string ReadHostName();

// By which others reach who listens at `address`, a HOST:PORT: the name of this
// machine in place of every address (0.0.0.0, [::]), at which each reaches
// itself.
std::string NameForOthers(const std::string& address);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_RPC_LOCAL_ADDRESS_H_
