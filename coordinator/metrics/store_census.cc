#include "coordinator/metrics/store_census.h"

#include <algorithm>
#include <utility>

#include "base/log/log.h"

namespace meshwright::metrics {
namespace {

constexpr int kRestToWork = 100;

}  // namespace

StoreCensus::StoreCensus(store::ProfileStore* store, const base::Clock* clock)
    : store_(store), clock_(clock) {
  base::MutexLock lock(&mutex_);
  Begin();
}

std::optional<StoreCensus::Count> StoreCensus::Newest() {
  base::MutexLock lock(&mutex_);
  if (!runs_ && clock_->Now() >= due_) Begin();
  return newest_;
}

void StoreCensus::Begin() {
  runs_ = true;
  thread_.Post([this] { Run(); });
}

void StoreCensus::Run() {
  const absl::Time began = clock_->Now();
  absl::StatusOr<store::Statistics> counted = store_->Count();
  const absl::Time ended = clock_->Now();
  if (!counted.ok()) {
    base::LogWarning("metrics: the store was not counted: ",
                     counted.status().message());
  }
  base::MutexLock lock(&mutex_);
  runs_ = false;
  due_ = ended + std::max(kInterval, kRestToWork * (ended - began));
  if (counted.ok()) newest_ = Count{*std::move(counted), ended};
}

}  // namespace meshwright::metrics
