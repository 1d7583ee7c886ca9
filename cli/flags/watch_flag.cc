#include "cli/flags/watch_flag.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "base/stop_wait.h"
#include "cli/program/limit_seconds.h"
#include "cli/text/redraw.h"

namespace meshwright::cli {
namespace {

bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

void AddWatchFlag(CLI::App& verb, WatchFlag* flag) {
  LimitSeconds(
      verb.add_option("--watch", flag->seconds,
                      "list again every so many seconds, until Ctrl-C"),
      0.1, 3600.0);
}

absl::Status ShowListing(std::ostream& out, bool as_json, const WatchFlag& flag,
                         const std::function<absl::StatusOr<Listing>()>& ask) {
  if (!flag.seconds.has_value()) {
    ASSIGN_OR_RETURN(const Listing listing, ask());
    out << (as_json ? listing.json.dump(2) + "\n" : listing.text);
    return absl::OkStatus();
  }
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(Listing listing, ask());
  std::string trouble;
  do {
    if (!as_json) {
      out << RedrawScreen(absl::StrCat(trouble, listing.text)) << std::flush;
    } else if (trouble.empty()) {
      out << listing.json.dump() << "\n" << std::flush;
    }
    if (!out) return absl::OkStatus();  // nobody reads on
    if (!base::WaitFor(absl::Seconds(*flag.seconds), interrupt.token())) break;
    absl::StatusOr<Listing> next = ask();
    if (next.ok()) {
      listing = *std::move(next);
      trouble.clear();
    } else if (MayPass(next.status())) {
      trouble =
          absl::StrCat("no newer answer: ", next.status().message(), "\n");
    } else {
      return next.status();
    }
  } while (true);
  return absl::OkStatus();
}

}  // namespace meshwright::cli
