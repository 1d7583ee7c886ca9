#include "coordinator/security/token_file.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "base/rpc/channel_security.h"
#include "base/status_macros.h"
#include "base/toml/toml_string.h"

namespace meshwright::security {
namespace {

constexpr int64_t kVersion = 1;
constexpr char kHashPrefix[] = "sha256:";
constexpr std::string_view kKeys[] = {"id",        "name",    "hash",   "roles",
                                      "namespace", "created", "expires"};

// Errors name the file and the token's line.
class TokenReader {
 public:
  TokenReader(const std::string& path, const toml::table& table)
      : path_(path), table_(table) {}

  absl::StatusOr<Token> Read() const {
    for (const auto& [key, value] : table_) {
      if (std::find(std::begin(kKeys), std::end(kKeys), key.str()) ==
          std::end(kKeys)) {
        return Wrong(absl::StrCat("has the unknown key \"",
                                  std::string(key.str()), "\""));
      }
    }
    Token token;
    ASSIGN_OR_RETURN(token.id, Text("id", ""));
    if (!IsHex(token.id, 12)) return Wrong("needs an id of 12 hex digits");
    ASSIGN_OR_RETURN(token.name, Text("name", ""));
    ASSIGN_OR_RETURN(token.name_space, Text("namespace", ""));
    ASSIGN_OR_RETURN(const std::string hash, Text("hash", ""));
    absl::string_view digits = hash;
    if (!absl::ConsumePrefix(&digits, kHashPrefix) ||
        !IsHex(std::string(digits), 64)) {
      return Wrong("needs a hash, sha256: and 64 hex digits");
    }
    token.secret_hash = std::string(digits);
    RETURN_IF_ERROR(ReadRoles(token));
    ASSIGN_OR_RETURN(const auto created, Moment("created"));
    token.created = created.value_or(absl::UnixEpoch());
    ASSIGN_OR_RETURN(token.expires, Moment("expires"));
    return token;
  }

 private:
  absl::Status Wrong(const std::string& what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ":", table_.source().begin.line, ": the token ",
                     what, "; see docs/formats/tokens.md"));
  }

  absl::StatusOr<std::string> Text(const char* key,
                                   const std::string& absent) const {
    const toml::node* const node = table_.get(key);
    if (node == nullptr) return absent;
    const auto text = node->value_exact<std::string>();
    if (!text.has_value()) {
      return Wrong(absl::StrCat("needs a string for \"", key, "\""));
    }
    return *text;
  }

  // A date and time of UTC, or none.
  absl::StatusOr<std::optional<absl::Time>> Moment(const char* key) const {
    const toml::node* const node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    const auto moment = node->value_exact<toml::date_time>();
    if (!moment.has_value() || !moment->offset.has_value()) {
      return Wrong(absl::StrCat("needs a date, time and zone for \"", key,
                                "\", like 2027-01-31T00:00:00Z"));
    }
    const absl::CivilSecond second(moment->date.year, moment->date.month,
                                   moment->date.day, moment->time.hour,
                                   moment->time.minute, moment->time.second);
    return absl::FromCivil(second, absl::UTCTimeZone()) -
           absl::Minutes(moment->offset->minutes);
  }

  absl::Status ReadRoles(Token& token) const {
    const toml::array* const roles = table_["roles"].as_array();
    if (roles == nullptr || roles->empty()) {
      return Wrong("needs roles, like [\"submit\"]");
    }
    for (const toml::node& node : *roles) {
      const auto role = ParseRole(node.value_or(std::string()));
      if (!role.ok())
        return Wrong(
            absl::StrCat("has a role that is none: ", role.status().message()));
      token.roles.push_back(*role);
    }
    return absl::OkStatus();
  }

  const std::string& path_;
  const toml::table& table_;
};

// Errors name the file and the line.
absl::StatusOr<Quota> ReadQuota(const std::string& path,
                                const toml::table& table) {
  const auto wrong = [&](const std::string& what) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ":", table.source().begin.line, ": the quota ", what,
                     "; see docs/formats/tokens.md"));
  };
  Quota quota;
  for (const auto& [key, value] : table) {
    if (key.str() == "namespace") {
      quota.name_space = value.value_or(std::string());
      continue;
    }
    std::optional<int64_t>* const limit =
        key.str() == "plans"          ? &quota.plans
        : key.str() == "programs"     ? &quota.programs
        : key.str() == "module_bytes" ? &quota.module_bytes
        : key.str() == "stored_bytes" ? &quota.stored_bytes
                                      : nullptr;
    const auto number = value.value_exact<int64_t>();
    if (limit == nullptr || !number.has_value() || *number < 1) {
      return wrong(absl::StrCat(
          "needs plans, programs, module_bytes and stored_bytes of 1 or more, "
          "and has \"",
          std::string(key.str()), "\""));
    }
    *limit = number;
  }
  if (quota.name_space.empty()) return wrong("needs a namespace");
  return quota;
}

absl::StatusOr<AccessFile> ParseAccess(const std::string& path,
                                       const std::string& content) {
  const toml::parse_result parsed = toml::parse(content, path);
  if (!parsed) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ":", parsed.error().source().begin.line,
        ": it is no TOML: ", std::string(parsed.error().description())));
  }
  const toml::table& root = parsed.table();
  if (root["version"].value<int64_t>() != kVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     " says no version that this program knows; it "
                     "begins with version = ",
                     kVersion));
  }
  AccessFile file;
  std::set<std::string> ids;
  std::set<std::string> name_spaces;
  for (const auto& [key, value] : root) {
    if (key.str() == "version") continue;
    const std::string name(key.str());
    const toml::array* const tables = value.as_array();
    if ((name != "token" && name != "quota") || tables == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", value.source().begin.line, ": \"", name,
                       "\" is no [[token]] and no [[quota]]"));
    }
    for (const toml::node& node : *tables) {
      if (!node.is_table()) {
        return absl::InvalidArgumentError(absl::StrCat(
            path, ": \"", name, "\" is no list of [[", name, "]]"));
      }
      if (name == "quota") {
        ASSIGN_OR_RETURN(Quota quota, ReadQuota(path, *node.as_table()));
        if (!name_spaces.insert(quota.name_space).second) {
          return absl::InvalidArgumentError(absl::StrCat(
              path, " has two quotas of the namespace ", quota.name_space));
        }
        file.quotas.push_back(std::move(quota));
        continue;
      }
      ASSIGN_OR_RETURN(Token token, TokenReader(path, *node.as_table()).Read());
      if (!ids.insert(token.id).second) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, " has two tokens with the id ", token.id));
      }
      file.tokens.push_back(std::move(token));
    }
  }
  return file;
}

std::string Rfc3339(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

std::string WriteQuota(const Quota& quota) {
  std::string text = absl::StrCat(
      "\n[[quota]]\nnamespace = ", base::WriteTomlString(quota.name_space),
      "\n");
  const auto add = [&](const char* key, const std::optional<int64_t>& limit) {
    if (limit.has_value()) absl::StrAppend(&text, key, " = ", *limit, "\n");
  };
  add("plans", quota.plans);
  add("programs", quota.programs);
  add("module_bytes", quota.module_bytes);
  add("stored_bytes", quota.stored_bytes);
  return text;
}

std::string WriteAccess(const AccessFile& access) {
  std::string text = absl::StrCat(
      "# Tokens of a Meshwright coordinator: change it with \"meshwright "
      "tokens\".\nversion = ",
      kVersion, "\n");
  for (const Token& token : access.tokens) {
    absl::StrAppend(
        &text, "\n[[token]]\nid = ", base::WriteTomlString(token.id),
        "\nname = ", base::WriteTomlString(token.name),
        "\nhash = ", base::WriteTomlString(kHashPrefix + token.secret_hash),
        "\nroles = [");
    for (size_t i = 0; i < token.roles.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : ", ",
                      base::WriteTomlString(ToString(token.roles[i])));
    }
    absl::StrAppend(&text,
                    "]\nnamespace = ", base::WriteTomlString(token.name_space),
                    "\ncreated = ", Rfc3339(token.created), "\n");
    if (token.expires.has_value()) {
      absl::StrAppend(&text, "expires = ", Rfc3339(*token.expires), "\n");
    }
  }
  for (const Quota& quota : access.quotas) text += WriteQuota(quota);
  return text;
}

// A daemon of another user reads what root changes.
bool TakeOwnerAndMode(const std::string& path, int fresh) {
  struct stat before = {};
  struct stat made = {};
  if (stat(path.c_str(), &before) != 0) return errno == ENOENT;
  if (fstat(fresh, &made) != 0) return false;
  const bool is_same =
      before.st_uid == made.st_uid && before.st_gid == made.st_gid;
  return (is_same || fchown(fresh, before.st_uid, before.st_gid) == 0) &&
         fchmod(fresh, before.st_mode & 0777) == 0;
}

absl::Status ReplaceFile(const std::string& path, const std::string& content) {
  const std::string fresh = absl::StrCat(path, ".new");
  unlink(fresh.c_str());
  const int file =
      open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
           0600);
  const bool written = file >= 0 && TakeOwnerAndMode(path, file) &&
                       write(file, content.data(), content.size()) ==
                           static_cast<ssize_t>(content.size()) &&
                       fsync(file) == 0;
  const int error = errno;
  if (file >= 0) close(file);
  if (written && rename(fresh.c_str(), path.c_str()) == 0) {
    return absl::OkStatus();
  }
  if (file >= 0) unlink(fresh.c_str());
  return absl::ErrnoToStatus(written ? errno : error,
                             absl::StrCat("cannot write ", path));
}

}  // namespace

absl::StatusOr<AccessFile> ReadAccessFile(const std::string& path) {
  RETURN_IF_ERROR(base::CheckPrivate(path));
  ASSIGN_OR_RETURN(const std::string content, base::ReadFile(path));
  return ParseAccess(path, content);
}

absl::StatusOr<std::vector<Token>> ReadTokenFile(const std::string& path) {
  ASSIGN_OR_RETURN(AccessFile file, ReadAccessFile(path));
  return std::move(file.tokens);
}

absl::Status ChangeTokenFile(
    const std::string& path,
    const std::function<absl::Status(std::vector<Token>&)>& change) {
  return ChangeAccessFile(
      path, [&](AccessFile& file) { return change(file.tokens); });
}

absl::Status ChangeAccessFile(
    const std::string& path,
    const std::function<absl::Status(AccessFile&)>& change) {
  const std::string lock_path = absl::StrCat(path, ".lock");
  const int lock =
      open(lock_path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock < 0 || flock(lock, LOCK_EX) != 0) {
    const int error = errno;
    if (lock >= 0) close(lock);
    return absl::ErrnoToStatus(error, absl::StrCat("cannot lock ", lock_path));
  }
  absl::Status changed = [&]() -> absl::Status {
    AccessFile read;
    if (access(path.c_str(), F_OK) == 0) {
      RETURN_IF_ERROR(base::CheckPrivate(path));
      ASSIGN_OR_RETURN(const std::string content, base::ReadFile(path));
      // An empty one was made for the user who is to read it.
      if (!content.empty()) {
        ASSIGN_OR_RETURN(read, ParseAccess(path, content));
      }
    }
    RETURN_IF_ERROR(change(read));
    return ReplaceFile(path, WriteAccess(read));
  }();
  close(lock);
  return changed;
}

}  // namespace meshwright::security
