#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/text/format.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "coordinator/security/token_file.h"

namespace meshwright::cli {
namespace {

using security::Token;

struct CreateTokenFlags {
  std::string file;
  std::string name;
  std::vector<std::string> roles;
  std::string name_space;
  std::string expires = "90d";
};

struct ListTokensFlags {
  std::string file;
};

struct QuotaFlags {
  std::string file;
  std::string name_space;
  std::optional<int64_t> plans;
  std::optional<int64_t> programs;
  std::string module_bytes;
  std::string stored_bytes;
};

struct RevokeTokenFlags {
  std::string file;
  std::string id;
};

// "90d", "12h" or "never".
absl::StatusOr<std::optional<absl::Duration>> ParseLife(
    const std::string& text) {
  if (text == "never") return std::nullopt;
  const std::optional<absl::Duration> life = FindDuration(text);
  if (!life.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", text, "\" is no time to live; write 90d, 12h or never"));
  }
  return life;
}

std::string FormatMoment(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M UTC", time, absl::UTCTimeZone());
}

std::string FormatExpiry(const Token& token) {
  return token.expires.has_value() ? FormatMoment(*token.expires) : "never";
}

nlohmann::ordered_json TokenJson(const Token& token) {
  nlohmann::ordered_json json;
  json["id"] = token.id;
  json["name"] = token.name;
  json["roles"] = nlohmann::ordered_json::array();
  for (const security::Role role : token.roles) {
    json["roles"].push_back(ToString(role));
  }
  json["namespace"] = token.name_space;
  json["created_unix_seconds"] = absl::ToUnixSeconds(token.created);
  if (token.expires.has_value()) {
    json["expires_unix_seconds"] = absl::ToUnixSeconds(*token.expires);
  }
  return json;
}

absl::Status CreateToken(const Context& context,
                         const CreateTokenFlags& flags) {
  ASSIGN_OR_RETURN(security::NewToken made, security::MakeToken());
  Token& token = made.token;
  for (const std::string& word : flags.roles) {
    ASSIGN_OR_RETURN(const security::Role role, security::ParseRole(word));
    token.roles.push_back(role);
  }
  ASSIGN_OR_RETURN(const auto life, ParseLife(flags.expires));
  token.name = flags.name;
  token.name_space = flags.name_space;
  token.created =
      absl::FromUnixSeconds(absl::ToUnixSeconds(context.clock->Now()));
  if (life.has_value()) token.expires = token.created + *life;
  RETURN_IF_ERROR(
      security::ChangeTokenFile(flags.file, [&](std::vector<Token>& tokens) {
        tokens.push_back(token);
        return absl::OkStatus();
      }));
  *context.err << "token " << token.id << ", roles "
               << security::DescribeRoles(token.roles) << ", expires "
               << FormatExpiry(token)
               << "; it is shown this once; a coordinator that reads this file "
                  "takes it up within ten seconds\n";
  if (context.json) {
    nlohmann::ordered_json json = TokenJson(token);
    json["token"] = made.text;
    *context.out << json.dump(2) << "\n";
  } else {
    *context.out << made.text << "\n";
  }
  return absl::OkStatus();
}

nlohmann::ordered_json QuotaJson(const security::Quota& quota) {
  const auto limit = [](const std::optional<int64_t>& it) {
    return it.has_value() ? nlohmann::ordered_json(*it)
                          : nlohmann::ordered_json(nullptr);
  };
  return {{"namespace", quota.name_space},
          {"plans", limit(quota.plans)},
          {"programs", limit(quota.programs)},
          {"module_bytes", limit(quota.module_bytes)},
          {"stored_bytes", limit(quota.stored_bytes)}};
}

std::string FormatQuotas(const std::vector<security::Quota>& quotas) {
  const auto limit = [](const std::optional<int64_t>& it) {
    return it.has_value() ? absl::StrCat(*it) : "-";
  };
  const auto bytes = [](const std::optional<int64_t>& it) {
    return it.has_value() ? FormatBytes(*it) : "-";
  };
  std::vector<TableRow> rows;
  for (const security::Quota& quota : quotas) {
    rows.push_back({quota.name_space, limit(quota.plans), limit(quota.programs),
                    bytes(quota.module_bytes), bytes(quota.stored_bytes)});
  }
  return FormatTable({{"quota of", Align::kLeft},
                      {"plans"},
                      {"programs of a plan"},
                      {"modules"},
                      {"stored"}},
                     rows);
}

absl::Status SetQuota(const Context& context, const QuotaFlags& flags) {
  security::Quota quota{.name_space = flags.name_space,
                        .plans = flags.plans,
                        .programs = flags.programs};
  if (!flags.module_bytes.empty()) {
    ASSIGN_OR_RETURN(quota.module_bytes, ParseBytes(flags.module_bytes));
  }
  if (!flags.stored_bytes.empty()) {
    ASSIGN_OR_RETURN(quota.stored_bytes, ParseBytes(flags.stored_bytes));
  }
  const bool is_limit =
      quota.plans || quota.programs || quota.module_bytes || quota.stored_bytes;
  RETURN_IF_ERROR(
      security::ChangeAccessFile(flags.file, [&](security::AccessFile& file) {
        const auto gone = std::remove_if(
            file.quotas.begin(), file.quotas.end(),
            [&](const auto& it) { return it.name_space == flags.name_space; });
        file.quotas.erase(gone, file.quotas.end());
        if (is_limit) file.quotas.push_back(quota);
        return absl::OkStatus();
      }));
  *context.err << (is_limit ? "set the quota of " : "removed the quota of ")
               << flags.name_space
               << "; a coordinator that reads this file takes that up within "
                  "ten seconds\n";
  if (context.json) *context.out << QuotaJson(quota).dump() << "\n";
  return absl::OkStatus();
}

absl::Status ListTokens(const Context& context, const ListTokensFlags& flags) {
  ASSIGN_OR_RETURN(const security::AccessFile file,
                   security::ReadAccessFile(flags.file));
  const std::vector<Token>& tokens = file.tokens;
  if (context.json) {
    auto listed = nlohmann::ordered_json::array();
    for (const Token& token : tokens) listed.push_back(TokenJson(token));
    auto quotas = nlohmann::ordered_json::array();
    for (const security::Quota& quota : file.quotas) {
      quotas.push_back(QuotaJson(quota));
    }
    *context.out
        << nlohmann::ordered_json{{"tokens", listed}, {"quotas", quotas}}.dump(
               2)
        << "\n";
    return absl::OkStatus();
  }
  std::vector<TableRow> rows;
  for (const Token& token : tokens) {
    const bool over =
        token.expires.has_value() && *token.expires <= context.clock->Now();
    rows.push_back({token.id, token.name, security::DescribeRoles(token.roles),
                    token.name_space, FormatMoment(token.created),
                    absl::StrCat(FormatExpiry(token), over ? " (over)" : "")});
  }
  *context.out << FormatTable({{"id", Align::kLeft},
                               {"name", Align::kLeft},
                               {"roles", Align::kLeft},
                               {"namespace", Align::kLeft},
                               {"created", Align::kLeft},
                               {"expires", Align::kLeft}},
                              rows);
  if (!file.quotas.empty()) *context.out << "\n" << FormatQuotas(file.quotas);
  return absl::OkStatus();
}

absl::Status RevokeToken(const Context& context,
                         const RevokeTokenFlags& flags) {
  RETURN_IF_ERROR(security::ReadTokenFile(flags.file).status());
  RETURN_IF_ERROR(security::ChangeTokenFile(
      flags.file, [&](std::vector<Token>& tokens) -> absl::Status {
        const auto gone = std::remove_if(
            tokens.begin(), tokens.end(),
            [&](const Token& token) { return token.id == flags.id; });
        if (gone == tokens.end()) {
          return absl::InvalidArgumentError(
              absl::StrCat(flags.file, " has no token ", flags.id,
                           "; see meshwright tokens list"));
        }
        tokens.erase(gone, tokens.end());
        return absl::OkStatus();
      }));
  *context.err << "revoked " << flags.id
               << "; a coordinator that reads this file takes that up within "
                  "ten seconds\n";
  if (context.json) {
    *context.out << nlohmann::ordered_json{{"id", flags.id}}.dump() << "\n";
  }
  return absl::OkStatus();
}

void AddTokenFile(CLI::App& verb, std::string* file) {
  verb.add_option("--tokens", *file, "token file of the coordinator")
      ->required();
}

}  // namespace

void AddTokensVerb(CLI::App& app, Context& context) {
  CLI::App* const tokens = app.add_subcommand(
      "tokens", "say who may call a coordinator, and for what");
  tokens->require_subcommand(0, 1);
  const auto [create, made] =
      AddVerb(*tokens, context, "create", "make a token and print it once",
              CreateToken);
  AddTokenFile(*create, &made->file);
  create->add_option("--name", made->name, "whom or what it is for")
      ->required();
  create
      ->add_option("--role", made->roles,
                   "read, submit, work or admin; may be given more than once")
      ->required();
  create->add_option("--namespace", made->name_space,
                     "team whose plans and rows it sees");
  create
      ->add_option("--expires", made->expires,
                   "time to live, like 90d or 12h, or never")
      ->capture_default_str();
  const auto [list, listed] =
      AddVerb(*tokens, context, "list", "list tokens, not secrets", ListTokens);
  AddTokenFile(*list, &listed->file);
  const auto [quota, limits] = AddVerb(*tokens, context, "quota",
                                       "limit what the plans of a namespace "
                                       "may take; without a limit: remove it",
                                       SetQuota);
  AddTokenFile(*quota, &limits->file);
  quota
      ->add_option("namespace", limits->name_space,
                   "of the team, or \"shared\"")
      ->required();
  quota
      ->add_option("--plans", limits->plans,
                   "plans that have not ended, at most")
      ->check(CLI::PositiveNumber);
  quota
      ->add_option("--programs", limits->programs,
                   "programs that one plan has measured, at most")
      ->check(CLI::PositiveNumber);
  quota->add_option("--module-bytes", limits->module_bytes,
                    "size of the modules of these plans together, like 4GiB");
  quota->add_option("--stored-bytes", limits->stored_bytes,
                    "size of the modules that are kept for all its plans, each "
                    "counted once, like 100GiB");
  const auto [revoke, revoked] =
      AddVerb(*tokens, context, "revoke", "remove a token", RevokeToken);
  AddTokenFile(*revoke, &revoked->file);
  revoke->add_option("id", revoked->id, "as listed")->required();
}

}  // namespace meshwright::cli
