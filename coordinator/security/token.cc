#include "coordinator/security/token.h"

#include <sys/random.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"

namespace meshwright::security {
namespace {

constexpr std::string_view kPrefix = "mwt_";
constexpr size_t kIdDigits = 12;
constexpr size_t kSecretDigits = 64;

absl::StatusOr<std::string> RandomHex(size_t digits) {
  std::string bytes(digits / 2, '\0');
  if (getrandom(bytes.data(), bytes.size(), 0) !=
      static_cast<ssize_t>(bytes.size())) {
    return absl::InternalError("the kernel gives no random bytes");
  }
  return absl::BytesToHexString(bytes);
}

// Looks at every byte, whatever it finds.
bool EqualInConstantTime(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

}  // namespace

bool IsHex(std::string_view text, size_t digits) {
  return text.size() == digits &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

absl::StatusOr<NewToken> MakeToken() {
  NewToken made;
  ASSIGN_OR_RETURN(made.token.id, RandomHex(kIdDigits));
  ASSIGN_OR_RETURN(const std::string secret, RandomHex(kSecretDigits));
  made.token.secret_hash = base::Sha256Hex(secret);
  made.text = absl::StrCat(std::string(kPrefix), made.token.id, "_", secret);
  return made;
}

std::optional<TokenText> ParseTokenText(std::string_view text) {
  if (text.size() != kPrefix.size() + kIdDigits + 1 + kSecretDigits ||
      !text.starts_with(kPrefix)) {
    return std::nullopt;
  }
  text.remove_prefix(kPrefix.size());
  const std::string_view id = text.substr(0, kIdDigits);
  const std::string_view secret = text.substr(kIdDigits + 1);
  if (text[kIdDigits] != '_' || !IsHex(id, kIdDigits) ||
      !IsHex(secret, kSecretDigits)) {
    return std::nullopt;
  }
  return TokenText{std::string(id), std::string(secret)};
}

bool Matches(const Token& token, std::string_view secret) {
  return EqualInConstantTime(token.secret_hash, base::Sha256Hex(secret));
}

}  // namespace meshwright::security
