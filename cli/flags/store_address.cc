#include "cli/flags/store_address.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "cli/flags/security_flags.h"

namespace meshwright::cli {
namespace {

// "postgres://USER:PASSWORD@...", or the parameters of libpq that hold one.
bool HasPassword(absl::string_view word) {
  const size_t begin =
      std::min(word.find("postgres://"), word.find("postgresql://"));
  if (begin == absl::string_view::npos) return false;
  const absl::string_view url = word.substr(word.find("://", begin) + 3);
  const absl::string_view user = url.substr(0, url.find('@'));
  const size_t colon = user.find(':');
  if (user.size() < url.size() && user.find('/') == absl::string_view::npos &&
      colon != absl::string_view::npos && colon + 1 < user.size()) {
    return true;
  }
  const size_t query = url.find('?');
  if (query == absl::string_view::npos) return false;
  const std::vector<absl::string_view> parameters =
      absl::StrSplit(url.substr(query + 1), '&');
  return std::any_of(parameters.begin(), parameters.end(), [](auto it) {
    return (absl::ConsumePrefix(&it, "password=") ||
            absl::ConsumePrefix(&it, "sslpassword=")) &&
           !it.empty();
  });
}

}  // namespace

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

absl::Status CheckNoPassword(const std::vector<std::string>& words) {
  if (!std::any_of(words.begin(), words.end(), HasPassword)) return {};
  return absl::InvalidArgumentError(
      "a password on the command line is shown to everyone on this machine; "
      "leave it out of the store's URL and put it into ~/.pgpass, the file "
      "that PGPASSFILE names or the URL of a daemon's --config file");
}

}  // namespace meshwright::cli
