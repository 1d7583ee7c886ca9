#include "coordinator/dashboard/dashboard.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/rpc/local_address.h"
#include "base/status_macros.h"
#include "web/page_files.h"

namespace meshwright::dashboard {
namespace {

// Path -> the file and its type.
struct Page {
  std::string_view path;
  std::string_view file;
  std::string_view type;
};
constexpr Page kPages[] = {
    {"/", "dashboard/page.html", "text/html; charset=utf-8"},
    {"/style.css", "style.css", "text/css; charset=utf-8"},
    {"/dashboard.css", "dashboard/dashboard.css", "text/css; charset=utf-8"},
    {"/dashboard.js", "dashboard/dashboard.js",
     "text/javascript; charset=utf-8"},
    {"/feeds.js", "dashboard/feeds.js", "text/javascript; charset=utf-8"},
    {"/format.js", "report/format.js", "text/javascript; charset=utf-8"},
    {"/charts.js", "dashboard/charts.js", "text/javascript; charset=utf-8"},
    {"/parts.js", "dashboard/parts.js", "text/javascript; charset=utf-8"},
    {"/d3.min.js", "d3.min.js", "text/javascript; charset=utf-8"},
    {"/icon.svg", "dashboard/icon.svg", "image/svg+xml"},
};

constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

int HttpStatus(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

http::Response ExplainStatus(const absl::Status& status) {
  const nlohmann::ordered_json said = {{"error", status.message()}};
  http::Response response = {
      .status = HttpStatus(status.code()),
      .content_type = "application/json",
      .body = said.dump(-1, ' ', false,
                        nlohmann::ordered_json::error_handler_t::replace)};
  if (absl::IsUnauthenticated(status)) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  return response;
}

// Of a request's Host, which a browser takes from the address that it shows.
bool NamesThisMachine(std::string_view host) {
  const size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && !host.ends_with(']')) {
    host = host.substr(0, colon);
  }
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

// A 304 where the reader has the body already.
void AddTag(const http::Request& request, const std::string& tag,
            http::Response& response) {
  response.headers.emplace_back("ETag", tag);
  if (request.if_none_match != tag) return;
  response.status = 304;
  response.body.clear();
}

std::string MakeTag(std::string_view text) {
  return absl::StrCat("\"", base::Sha256Hex(text).substr(0, 32), "\"");
}

// Answers in the HTTP server's thread.
class Answers {
 public:
  Answers(Api* api, bool asks_for_own_names)
      : api_(api), asks_for_own_names_(asks_for_own_names) {
    for (const Page& page : kPages) {
      tags_[page.path] = MakeTag(web::GetPageFile(page.file));
    }
  }

  http::Response Answer(const http::Request& request) const {
    http::Response response = Choose(request);
    response.headers.insert(response.headers.end(),
                            {{"Content-Security-Policy", kPolicy},
                             {"Cross-Origin-Opener-Policy", "same-origin"},
                             {"Cross-Origin-Resource-Policy", "same-origin"},
                             {"Referrer-Policy", "no-referrer"}});
    return response;
  }

 private:
  http::Response Choose(const http::Request& request) const {
    if (asks_for_own_names_ && !NamesThisMachine(request.host)) {
      return {.status = 421,
              .body = "This port answers to localhost and 127.0.0.1 alone.\n"};
    }
    if (Api::HasPath(request.path)) return AskApi(request);
    for (const Page& page : kPages) {
      if (page.path != request.path) continue;
      http::Response response = {
          .content_type = std::string(page.type),
          .body = std::string(web::GetPageFile(page.file)),
          .headers = {{"Cache-Control", "no-cache"}}};
      AddTag(request, tags_.at(page.path), response);
      return response;
    }
    return {.status = 404, .body = "The dashboard is at /.\n"};
  }

  http::Response AskApi(const http::Request& request) const {
    absl::StatusOr<std::string> text = api_->Answer(request);
    http::Response response =
        text.ok() ? http::Response{.content_type = "application/json"}
                  : ExplainStatus(text.status());
    response.headers.emplace_back("Cache-Control", "no-store");
    if (text.ok()) {
      const std::string tag = MakeTag(*text);
      response.body = *std::move(text);
      AddTag(request, tag, response);
    }
    return response;
  }

  Api* const api_;
  const bool asks_for_own_names_;
  std::map<std::string_view, std::string> tags_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Dashboard>> Dashboard::Start(
    const std::string& address, const security::Listening& listening,
    const Sources& sources) {
  RETURN_IF_ERROR(security::CheckListening(address, listening));
  std::unique_ptr<Dashboard> made(new Dashboard);
  made->uses_tls_ = listening.uses_tls();
  made->api_ = std::make_unique<Api>(sources);
  ASSIGN_OR_RETURN(
      made->server_,
      http::HttpServer::Start(
          {.address = address,
           .security = listening,
           .max_connections = kMaxConnections,
           .keeps_connections = true},
          [answers = std::make_shared<Answers>(
               made->api_.get(),
               !listening.uses_tls() && base::IsLocalAddress(address))](
              const http::Request& request) {
            return answers->Answer(request);
          }));
  return made;
}

std::string Dashboard::url() const {
  return absl::StrCat(uses_tls_ ? "https://" : "http://", address(), "/");
}

}  // namespace meshwright::dashboard
