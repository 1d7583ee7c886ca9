// Dashboard: a page that shows what a coordinator is doing, over HTTP.
//
// Concept: the page is files of web/, which hold no figures and are for
// everyone who reaches the port. It asks Api for the figures, again and again;
// an answer that is as before is a 304 without a body. Nothing can be changed
// through it.
//   A browser cannot send a token with the address of a page. So the page asks
// the person for one and sends it in the header "Authorization", as gRPC
// clients do: no cookie, and so no request that another site's page could
// forge. The content security policy has the browser run and read nothing but
// these files and answers.
//   Where tokens are not asked for, a page of another site could name this
// machine by a host of its own (DNS rebinding). So a plain port of this machine
// answers only to the names of this machine.
// Threads and ownership: any; what Sources points to outlives it.
// Errors: Start gives those of HttpServer::Start and security::CheckListening.
#ifndef MESHWRIGHT_COORDINATOR_DASHBOARD_DASHBOARD_H_
#define MESHWRIGHT_COORDINATOR_DASHBOARD_DASHBOARD_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/dashboard/api.h"
#include "coordinator/http/http_server.h"
#include "coordinator/security/listening.h"

namespace meshwright::dashboard {

class Dashboard {
 public:
  static constexpr int kMaxConnections = 256;

  // `address` is HOST:PORT; port 0 takes a free one. `listening`: that of the
  // coordinator's own port.
  static absl::StatusOr<std::unique_ptr<Dashboard>> Start(
      const std::string& address, const security::Listening& listening,
      const Sources& sources);

  // Where it listens, with the port that was chosen.
  const std::string& address() const { return server_->address(); }
  // The address of the page, for people.
  std::string url() const;
  // Until the store is counted, where a count runs.
  void AwaitCensus() { api_->AwaitCensus(); }

 private:
  Dashboard() = default;

  bool uses_tls_ = false;
  std::unique_ptr<Api> api_;
  std::unique_ptr<http::HttpServer> server_;  // last: stops first
};

}  // namespace meshwright::dashboard

#endif  // MESHWRIGHT_COORDINATOR_DASHBOARD_DASHBOARD_H_
