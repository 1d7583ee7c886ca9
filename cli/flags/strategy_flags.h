// The flags that open, pin and forbid strategies.
//
//   --open fully-sharded,optimizer-sharded,sequence,recompute,outer-axis
//   --pin BLOCKS=STRATEGY[|STRATEGY]      --forbid the same
//   --pin-argument N=SHARDING             --forbid-argument the same
// BLOCKS: "all", the name of a root, or numbers like "0,4-7" from `analyze`.
// SHARDING: as in a plan, "[1,-]".
// Errors: kInvalidArgument, one sentence that quotes what was written.
#ifndef MESHWRIGHT_CLI_FLAGS_STRATEGY_FLAGS_H_
#define MESHWRIGHT_CLI_FLAGS_STRATEGY_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/v1/plan.pb.h"

namespace CLI {
class App;
}

namespace meshwright::cli {

struct StrategyFlags {
  std::vector<std::string> open;
  std::vector<std::string> pin;
  std::vector<std::string> forbid;
  std::vector<std::string> pin_argument;
  std::vector<std::string> forbid_argument;
};

void AddStrategyFlags(CLI::App& verb, StrategyFlags* flags);

absl::StatusOr<v1::StrategyRequest> ToStrategyRequest(
    const StrategyFlags& flags);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_STRATEGY_FLAGS_H_
