// Token: who may call, without the secret.
//
// Concept: the text mwt_ID_SECRET is handed out once. Of the secret, 256 random
// bits in hex, only the SHA-256 is kept: so many bits cannot be guessed, so no
// slow hash is needed. The id is public; it names the token in lists and logs.
// Errors: kInternal without randomness. Threads: any.
#ifndef MESHWRIGHT_COORDINATOR_SECURITY_TOKEN_H_
#define MESHWRIGHT_COORDINATOR_SECURITY_TOKEN_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/security/role.h"

namespace meshwright::security {

struct Token {
  std::string id;           // 12 hex digits
  std::string name;         // for people
  std::string secret_hash;  // SHA-256 in hex
  std::vector<Role> roles;
  std::string name_space;  // its plans and rows; empty: the shared pool
  absl::Time created;
  std::optional<absl::Time> expires;
};

struct NewToken {
  Token token;       // id and hash; the rest is the caller's to fill
  std::string text;  // handed out once
};
absl::StatusOr<NewToken> MakeToken();

struct TokenText {
  std::string id;
  std::string secret;
};
// Absent where the text is no token.
std::optional<TokenText> ParseTokenText(std::string_view text);

// Takes as long wherever the secret is wrong.
bool Matches(const Token& token, std::string_view secret);

bool IsHex(std::string_view text, size_t digits);

}  // namespace meshwright::security

#endif  // MESHWRIGHT_COORDINATOR_SECURITY_TOKEN_H_
