#include "cli/flags/store_address.h"

#include <CLI/CLI.hpp>

#include "cli/flags/security_flags.h"

namespace meshwright::cli {

void AddStoreFlag(CLI::App& verb, std::string& path) {
  verb.add_option("--store", path,
                  "profile store: a file or postgres://USER@HOST/DATABASE "
                  "(default: in the user's data folder)");
}

void AddStoreAddress(CLI::App& verb, StoreAddress* address) {
  AddStoreFlag(verb, address->store);
  verb.add_option("--coordinator", address->coordinator,
                  "HOST:PORT of a running coordinator, whose store is meant "
                  "(default: this machine's)")
      ->excludes("--store");
  AddClientSecurityFlags(verb, &address->security);
}

}  // namespace meshwright::cli
