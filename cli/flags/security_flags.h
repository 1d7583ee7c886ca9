// The flags of those who call a coordinator (--ca, --token-file, ...) and of
// those who run one (--tls-cert, --tokens, ...).
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

void AddClientSecurityFlags(CLI::App& verb, base::ChannelSecurity* flags);

// The flags above as they were given, with a space before each, for commands
// that people copy; empty where none was.
std::string WriteClientSecurityFlags(const base::ChannelSecurity& flags);

void AddListeningFlags(CLI::App& verb, security::Listening* flags,
                       std::string* audit_file);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_SECURITY_FLAGS_H_
