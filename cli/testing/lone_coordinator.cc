#include "cli/testing/lone_coordinator.h"

#include <utility>

#include "base/clock.h"

namespace meshwright::cli {

std::unique_ptr<LocalCluster> StartLoneCoordinator(store::ProfileStore* store,
                                                   store::PlanStore* plans,
                                                   const std::string& path) {
  static const base::SystemClock clock;
  LocalCluster::Options options;
  options.clock = &clock;
  options.store = store;
  options.plans = plans;
  options.store_path = path;
  options.has_worker = false;
  auto cluster = LocalCluster::Start(std::move(options));
  return *std::move(cluster);  // aborts with what is wrong
}

}  // namespace meshwright::cli
