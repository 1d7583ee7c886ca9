// WatchFlag: a listing that is shown once, or with --watch again and again.
//
// Concept: a verb says how it asks for its listing. Without --watch it is shown
// once. With it, it is asked for every so many seconds until SIGINT or SIGTERM:
// people see it redrawn in place, and --json writes one line for each answer. A
// coordinator that is away for a while leaves the last answer standing.
// Threads: that of the caller, which waits.
// Errors: those of the first answer; later ones but kUnavailable and
// kDeadlineExceeded.
#ifndef MESHWRIGHT_CLI_FLAGS_WATCH_FLAG_H_
#define MESHWRIGHT_CLI_FLAGS_WATCH_FLAG_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace CLI {
class App;
}  // namespace CLI

namespace meshwright::cli {

struct WatchFlag {
  std::optional<double> seconds;  // between two answers; absent: one is all
};

void AddWatchFlag(CLI::App& verb, WatchFlag* flag);

// The two forms of an answer.
struct Listing {
  std::string text;
  nlohmann::ordered_json json;
};

absl::Status ShowListing(std::ostream& out, bool as_json, const WatchFlag& flag,
                         const std::function<absl::StatusOr<Listing>()>& ask);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_WATCH_FLAG_H_
