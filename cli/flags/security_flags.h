// The flags of those who call a coordinator (--coordinator, --ca, --token-file,
// ...) and of those who run one (--tls-cert, --tokens, ...).
//
// Concept: no flag takes a secret as its value; files and the environment do.
#ifndef MESHWRIGHT_CLI_FLAGS_SECURITY_FLAGS_H_
#define MESHWRIGHT_CLI_FLAGS_SECURITY_FLAGS_H_

#include <string>

#include "base/rpc/channel_security.h"
#include "coordinator/security/listening.h"

namespace CLI {
class App;
}  // namespace CLI

namespace meshwright::cli {

// Where `meshwright up` listens.
inline constexpr char kDefaultAddress[] = "127.0.0.1:7433";

void AddClientSecurityFlags(CLI::App& verb, base::ChannelSecurity* flags);

// The flags above and --coordinator, of a verb that always asks one: that of
// MESHWRIGHT_ADDRESS, else of kDefaultAddress. Verbs that may also work on this
// machine have a --coordinator of their own, which no variable fills.
void AddAddressFlags(CLI::App& verb, std::string* address,
                     base::ChannelSecurity* flags);

// Both as they were given, with a space before each, for commands that people
// copy.
std::string WriteAddressFlags(const std::string& address,
                              const base::ChannelSecurity& flags);

void AddListeningFlags(CLI::App& verb, security::Listening* flags,
                       std::string* audit_file);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_SECURITY_FLAGS_H_
