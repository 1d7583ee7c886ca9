// Listening: where a coordinator may listen, and under which protection.
//
// Concept: the rule of one table. "Local" is a unix socket or loopback.
//   address  given                     transport      tokens
//   local    nothing                   plain          if a token file is given
//   any      certificate, key          TLS            if a token file is given
//   any      ... and a client's CA     mutual TLS     if a token file is given
//   beyond   --insecure                plain          never: they could be read
//   beyond   nothing                   refused
// Without a token file, whoever reaches the port may do everything. Beyond this
// machine that is asked for (--insecure) or warned of.
// Errors: kInvalidArgument, one sentence with the way out.
#ifndef MESHWRIGHT_COORDINATOR_SECURITY_LISTENING_H_
#define MESHWRIGHT_COORDINATOR_SECURITY_LISTENING_H_

#include <string>

#include "absl/status/status.h"

namespace meshwright::security {

struct Listening {
  std::string certificate_file;  // PEM; with key_file: TLS
  std::string key_file;
  std::string client_ca_file;  // clients must have a certificate of it
  bool insecure = false;
  std::string token_file;
  int reload_seconds = 1;  // how often changed certificates are looked for

  bool uses_tls() const { return !certificate_file.empty(); }
};

// Also reads the files once: gRPC says nothing of one that is missing.
absl::Status CheckListening(const std::string& address,
                            const Listening& listening);

// One sentence for who starts it; empty: there is nothing to warn of.
std::string WarnOfListening(const std::string& address,
                            const Listening& listening);

}  // namespace meshwright::security

#endif  // MESHWRIGHT_COORDINATOR_SECURITY_LISTENING_H_
