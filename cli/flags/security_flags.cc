#include "cli/flags/security_flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "cli/text/next_steps.h"

namespace meshwright::cli {

void AddClientSecurityFlags(CLI::App& verb, base::ChannelSecurity* flags) {
  constexpr char kTitle[] = "Who may call the coordinator";
  verb.add_option("--ca", flags->ca_file,
                  "CA of the coordinator's certificate, PEM; also "
                  "MESHWRIGHT_CA")
      ->group(kTitle);
  verb.add_option("--cert", flags->certificate_file,
                  "own certificate, PEM, for mutual TLS")
      ->group(kTitle);
  verb.add_option("--key", flags->key_file, "the own certificate's key, PEM")
      ->group(kTitle);
  verb.add_option("--token-file", flags->token_file,
                  "file with the token; also MESHWRIGHT_TOKEN")
      ->group(kTitle);
  verb.add_flag("--insecure", flags->insecure,
                "no TLS, though the coordinator is beyond this machine")
      ->group(kTitle);
}

void AddAddressFlags(CLI::App& verb, std::string* address,
                     base::ChannelSecurity* flags) {
  *address = kDefaultAddress;
  verb.add_option("--coordinator", *address,
                  "HOST:PORT or unix:PATH; also MESHWRIGHT_ADDRESS")
      ->envname("MESHWRIGHT_ADDRESS")
      ->capture_default_str();
  AddClientSecurityFlags(verb, flags);
}

std::string WriteAddressFlags(const std::string& address,
                              const base::ChannelSecurity& flags) {
  std::string text = absl::StrCat(" --coordinator ", QuoteWord(address));
  const auto add = [&](const char* flag, const std::string& file) {
    if (!file.empty()) absl::StrAppend(&text, flag, QuoteWord(file));
  };
  add(" --ca ", flags.ca_file);
  add(" --cert ", flags.certificate_file);
  add(" --key ", flags.key_file);
  add(" --token-file ", flags.token_file);
  if (flags.insecure) absl::StrAppend(&text, " --insecure");
  return text;
}

void AddListeningFlags(CLI::App& verb, security::Listening* flags,
                       std::string* audit_file) {
  verb.add_option("--tls-cert", flags->certificate_file,
                  "certificate to show to clients, PEM");
  verb.add_option("--tls-key", flags->key_file,
                  "its key, PEM, for this user's eyes only");
  verb.add_option("--tls-client-ca", flags->client_ca_file,
                  "CA that every client's certificate must be of, PEM");
  verb.add_option("--tokens", flags->token_file,
                  "token file (see meshwright tokens); read again when it "
                  "changes");
  verb.add_option("--audit", *audit_file,
                  "file for who did what, a JSON object per line (default: "
                  "lines of the log)");
  verb.add_flag("--insecure", flags->insecure,
                "listen beyond this machine without TLS, for everyone there");
}

}  // namespace meshwright::cli
