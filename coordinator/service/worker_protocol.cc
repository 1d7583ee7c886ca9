#include "coordinator/service/worker_protocol.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace meshwright::service {
namespace {

// Builds that do not say how they measure do it so.
constexpr int kLastUnsaidMeasuring = 14;

std::string Describe(const v1::WorkerHello& hello) {
  return hello.software_version().empty()
             ? ""
             : absl::StrCat(" (Meshwright ", hello.software_version(), ")");
}

// What is older is to be upgraded.
absl::Status Refuse(const v1::WorkerHello& hello, const std::string& what,
                    const std::string& own, bool is_old) {
  return absl::FailedPreconditionError(absl::StrCat(
      "worker ", hello.worker_id(), what, Describe(hello),
      " and this coordinator ", own, " (Meshwright ", base::Version(),
      "); upgrade the ", is_old ? "worker" : "coordinator"));
}

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
  if (theirs.newest < own.oldest || theirs.oldest > own.newest) {
    return Refuse(hello, absl::StrCat(" speaks ", Describe(theirs)),
                  Describe(own), theirs.newest < own.oldest);
  }
  const int measuring = hello.measuring_protocol() == 0
                            ? kLastUnsaidMeasuring
                            : hello.measuring_protocol();
  if (measuring == own.measuring) return absl::OkStatus();
  return Refuse(hello, absl::StrCat(" measures by protocol ", measuring),
                absl::StrCat("by ", own.measuring), measuring < own.measuring);
}

}  // namespace meshwright::service
