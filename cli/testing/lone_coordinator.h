// A coordinator without a worker, over the stores of a test.
#ifndef MESHWRIGHT_CLI_TESTING_LONE_COORDINATOR_H_
#define MESHWRIGHT_CLI_TESTING_LONE_COORDINATOR_H_

#include <memory>
#include <string>

#include "cli/local/cluster.h"

namespace meshwright::cli {

// The stores outlive it; `plans` null: it has its own. `store_path`: of both,
// for backups. It does not start: the test ends.
std::unique_ptr<LocalCluster> StartLoneCoordinator(
    store::ProfileStore* store, store::PlanStore* plans = nullptr,
    const std::string& store_path = "");

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TESTING_LONE_COORDINATOR_H_
