#include "coordinator/service/worker_protocol.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace meshwright::service {
namespace {

std::string Describe(const ProtocolRange& range) {
  return range.oldest == range.newest
             ? absl::StrCat("protocol ", range.newest)
             : absl::StrCat("protocols ", range.oldest, " to ", range.newest);
}

}  // namespace

absl::Status CheckProtocol(const v1::WorkerHello& hello,
                           const ProtocolRange& own) {
  ProtocolRange theirs = {1, 1};
  if (hello.has_protocols()) {
    theirs = {hello.protocols().oldest(), hello.protocols().newest()};
  }
  if (theirs.newest >= own.oldest && theirs.oldest <= own.newest) {
    return absl::OkStatus();
  }
  const bool is_old = theirs.newest < own.oldest;
  return absl::FailedPreconditionError(absl::StrCat(
      "worker ", hello.worker_id(), " speaks ", Describe(theirs),
      hello.software_version().empty()
          ? ""
          : absl::StrCat(" (Meshwright ", hello.software_version(), ")"),
      " and this coordinator ", Describe(own), " (Meshwright ", base::Version(),
      "); upgrade the ", is_old ? "worker" : "coordinator"));
}

}  // namespace meshwright::service
