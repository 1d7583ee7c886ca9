#include "coordinator/security/guard.h"

#include <sys/stat.h>

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/log/log.h"
#include "base/status_macros.h"
#include "coordinator/security/rpc_roles.h"
#include "coordinator/security/token_file.h"

namespace meshwright::security {
namespace {

// "/meshwright.v1.Planning/ListJobs": "ListJobs"
std::string ExtractMethod(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string Describe(const Token& token) {
  return absl::StrCat("token ", token.id, " (", token.name, ")");
}

absl::Status CheckRole(const Caller& caller, const RpcRole& rpc,
                       const std::string& path) {
  if (Grants(caller.roles, rpc.role)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat(ExtractMethod(path), " needs the role ", ToString(rpc.role),
                   ", and ", caller.id, " has ", DescribeRoles(caller.roles),
                   "; ask an administrator for a token with it"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Guard>> Guard::Open(const Options& options) {
  std::unique_ptr<Guard> guard(new Guard(options));
  RETURN_IF_ERROR(guard->Reload());
  return guard;
}

Guard::Stamp Guard::ReadStamp(const std::string& file) {
  struct stat info = {};
  if (stat(file.c_str(), &info) != 0) return Stamp();
  return {info.st_ino, info.st_size, absl::TimeFromTimespec(info.st_ctim)};
}

absl::Status Guard::Reload() {
  if (options_.token_file.empty()) return absl::OkStatus();
  base::MutexLock lock(&reading_);
  return Read(ReadStamp(options_.token_file));
}

absl::StatusOr<bool> Guard::ReloadIfChanged() {
  if (options_.token_file.empty()) return false;
  base::MutexLock lock(&reading_);
  const Stamp now = ReadStamp(options_.token_file);
  const bool is_same = now == stamp_;
  if (is_same && read_.ok()) return false;
  const absl::Status before = read_;
  const absl::Status status = Read(now);
  if (is_same && status == before) return false;  // it was said
  RETURN_IF_ERROR(status);
  return true;
}

absl::Status Guard::Read(const Stamp& stamp) {
  // A stamp of before the reading: what changes meanwhile is read next time.
  stamp_ = stamp;
  const absl::StatusOr<AccessFile> read = ReadAccessFile(options_.token_file);
  read_ = read.status();
  RETURN_IF_ERROR(read_);
  Tokens tokens;
  for (const Token& token : read->tokens) tokens.emplace(token.id, token);
  std::map<std::string, Quota> quotas;
  for (const Quota& quota : read->quotas) {
    quotas.emplace(quota.name_space, quota);
  }
  std::vector<std::string> gone;
  base::MutexLock lock(&mutex_);
  for (const auto& [id, token] : tokens_) {
    if (!tokens.contains(id)) gone.push_back(id);
  }
  base::LogInfo("tokens: ", tokens.size(), " count",
                gone.empty() ? "" : "; gone are ", absl::StrJoin(gone, ", "));
  tokens_ = std::move(tokens);
  quotas_ = std::move(quotas);
  return absl::OkStatus();
}

absl::StatusOr<std::string> Guard::AddLocalToken(Role role) {
  ASSIGN_OR_RETURN(NewToken made, MakeToken());
  made.token.name = "of this process";
  made.token.roles = {role};
  base::MutexLock lock(&mutex_);
  local_.emplace(made.token.id, made.token);
  return made.text;
}

absl::StatusOr<Caller> Guard::CheckToken(const std::string& text) const {
  const absl::Status unknown = absl::UnauthenticatedError(
      "the token is none of this coordinator's; ask its administrator for a "
      "new one");
  const std::optional<TokenText> said = ParseTokenText(text);
  if (!said.has_value()) return unknown;
  std::optional<Token> token;
  {
    base::MutexLock lock(&mutex_);
    for (const Tokens* const tokens : {&tokens_, &local_}) {
      const auto found = tokens->find(said->id);
      if (found != tokens->end()) token = found->second;
    }
  }
  if (!token.has_value() || !Matches(*token, said->secret)) return unknown;
  if (token->expires.has_value() && *token->expires <= options_.clock->Now()) {
    return absl::UnauthenticatedError(
        absl::StrCat(Describe(*token), " expired at ",
                     absl::FormatTime(*token->expires, absl::UTCTimeZone()),
                     "; ask an administrator for a new one"));
  }
  return Caller{absl::StrCat("token:", token->id), token->name_space,
                token->roles};
}

absl::StatusOr<Caller> Guard::Identify(const Call& call) const {
  absl::string_view text = call.authorization;
  const bool given = absl::ConsumePrefix(&text, "Bearer ");
  if (options_.token_file.empty()) {
    if (given) {
      auto local = CheckToken(std::string(text));
      if (local.ok()) return local;
    }
    return Caller{call.certificate.empty()
                      ? ""
                      : absl::StrCat("certificate:", call.certificate),
                  "",
                  {Role::kAdmin}};
  }
  if (!given) {
    return absl::UnauthenticatedError(
        "this coordinator asks for a token; name its file with --token-file or "
        "put it into MESHWRIGHT_TOKEN (an administrator makes one with "
        "\"meshwright tokens create\")");
  }
  return CheckToken(std::string(text));
}

absl::Status Guard::Admit(const Call& call) const {
  const RpcRole* const rpc = FindRpcRole(call.path);
  if (rpc == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("this coordinator has no RPC ", call.path,
                     "; it may be older than its caller"));
  }
  if (rpc->open) return absl::OkStatus();
  const absl::StatusOr<Caller> caller = Identify(call);
  absl::Status status =
      caller.ok() ? CheckRole(*caller, *rpc, call.path) : caller.status();
  if (!status.ok()) Record(call, caller.ok() ? caller->id : "", status);
  return status;
}

void Guard::RecordAdmitted(const Call& call) const {
  const RpcRole* const rpc = FindRpcRole(call.path);
  if (options_.audit == nullptr || rpc == nullptr || rpc->open ||
      rpc->role == Role::kRead) {
    return;
  }
  const absl::StatusOr<Caller> caller = Identify(call);
  if (caller.ok()) Record(call, caller->id, absl::OkStatus());
}

absl::Status Guard::MayGoOn(const Call& call) const {
  const RpcRole* const rpc = FindRpcRole(call.path);
  if (rpc == nullptr || rpc->open) return absl::OkStatus();
  const absl::StatusOr<Caller> caller = Identify(call);
  absl::Status status =
      caller.ok() ? CheckRole(*caller, *rpc, call.path) : caller.status();
  if (!status.ok()) Record(call, caller.ok() ? caller->id : "", status);
  return status;
}

Quota Guard::FindQuota(const std::string& name_space) const {
  base::MutexLock lock(&mutex_);
  const auto found = quotas_.find(name_space);
  return found == quotas_.end() ? Quota{.name_space = name_space}
                                : found->second;
}

std::vector<Quota> Guard::ListQuotas() const {
  base::MutexLock lock(&mutex_);
  std::vector<Quota> quotas;
  for (const auto& [name, quota] : quotas_) quotas.push_back(quota);
  return quotas;
}

AuditEntry Guard::MakeEntry(const Call& call, const std::string& who,
                            const absl::Status& outcome,
                            const std::string& object) const {
  return {.when = options_.clock->Now(),
          .who = who,
          .peer = call.peer,
          .what = call.path,
          .outcome = outcome.ok() ? kAdmitted
                                  : absl::StatusCodeToString(outcome.code()),
          .reason = std::string(outcome.message()),
          .object = object};
}

void Guard::Record(const AuditEntry& entry) const {
  if (options_.audit != nullptr) options_.audit->Record(entry);
}

}  // namespace meshwright::security
