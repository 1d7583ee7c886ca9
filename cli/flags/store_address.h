// StoreAddress: which profile store a verb looks after: --store, or that of the
// coordinator of --coordinator.
//
// Errors: CheckNoPassword gives kInvalidArgument, one sentence without the
// password.
#ifndef MESHWRIGHT_CLI_FLAGS_STORE_ADDRESS_H_
#define MESHWRIGHT_CLI_FLAGS_STORE_ADDRESS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/rpc/channel_security.h"

namespace CLI {
class App;
}  // namespace CLI

namespace meshwright::cli {

struct StoreAddress {
  std::string store;               // empty: the user's own
  std::string coordinator;         // empty: none is asked
  base::ChannelSecurity security;  // of the call
};

// --store alone.
void AddStoreFlag(CLI::App& verb, std::string& path);

void AddStoreAddress(CLI::App& verb, StoreAddress* address);

// Refuses a command line with a password in the URL of a store: everyone on
// the machine sees it.
absl::Status CheckNoPassword(const std::vector<std::string>& words);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_STORE_ADDRESS_H_
