// StoreCensus: how much a store holds, counted seldom (census.h).
//
// Threads, ownership, errors: those of Census; the pointers outlive it.
#ifndef MESHWRIGHT_COORDINATOR_METRICS_STORE_CENSUS_H_
#define MESHWRIGHT_COORDINATOR_METRICS_STORE_CENSUS_H_

#include <stop_token>

#include "base/clock.h"
#include "coordinator/metrics/census.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::metrics {

class StoreCensus : public Census<store::Statistics> {
 public:
  StoreCensus(store::ProfileStore* store, const base::Clock* clock)
      : Census([store](const std::stop_token&) { return store->Count(); },
               clock) {}
};

}  // namespace meshwright::metrics

#endif  // MESHWRIGHT_COORDINATOR_METRICS_STORE_CENSUS_H_
