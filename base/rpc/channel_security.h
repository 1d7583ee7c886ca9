// ChannelSecurity: how a client proves who it is, and whom it believes.
//
// Concept: a plain value, filled from flags and the environment. A token is
// never a flag's value, which `ps` shows: it stands in a file of mode 0600 or
// in MESHWRIGHT_TOKEN.
// Errors: kInvalidArgument, one sentence with the file and the way out.
#ifndef MESHWRIGHT_BASE_RPC_CHANNEL_SECURITY_H_
#define MESHWRIGHT_BASE_RPC_CHANNEL_SECURITY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::base {

struct ChannelSecurity {
  std::string ca_file;           // PEM; empty: no TLS
  std::string certificate_file;  // this client's own, for mutual TLS
  std::string key_file;
  std::string token_file;   // its first line; read again for every call
  std::string token;        // of the environment; token_file wins
  bool insecure = false;    // no TLS beyond this machine either
  int reload_seconds = 10;  // how often changed certificates are looked for

  bool uses_tls() const { return !ca_file.empty(); }
};

// Fills what is empty from MESHWRIGHT_CA and MESHWRIGHT_TOKEN.
ChannelSecurity WithEnvironment(ChannelSecurity security);

// The token to send; empty: none.
absl::StatusOr<std::string> ReadToken(const ChannelSecurity& security);

// kInvalidArgument where other users may read the file. A file of root may be
// readable for its group: the group is how root lends it to another user.
absl::Status CheckPrivate(const std::string& path);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_RPC_CHANNEL_SECURITY_H_
