#include "coordinator/jobs/in_flight.h"

#include <algorithm>
#include <utility>

namespace meshwright::jobs {

int64_t InFlight::Count() const {
  base::MutexLock lock(&mutex_);
  return count_;
}

InFlight::Flights InFlight::Claim(const std::vector<std::string>& keys,
                                  int64_t since) {
  base::MutexLock lock(&mutex_);
  Flights others;
  for (const std::string& key : keys) {
    const auto ended = ended_.find(key);
    if (ended != ended_.end() && ended->second > since) {
      others.push_back(std::make_shared<Flight>(Flight{key, true, true}));
      continue;
    }
    const auto [flight, is_new] = flights_.try_emplace(key);
    if (is_new) {
      flight->second = std::make_shared<Flight>();
      flight->second->key = key;
    } else {
      others.push_back(flight->second);
    }
  }
  return others;
}

void InFlight::End(const std::string& key, bool has_row) {
  base::MutexLock lock(&mutex_);
  const auto flight = flights_.find(key);
  if (flight == flights_.end()) return;
  flight->second->is_over = true;
  flight->second->has_row = has_row;
  flights_.erase(flight);
  if (!has_row) return;
  if (ended_.insert_or_assign(key, ++count_).second) order_.push_back(key);
  if (order_.size() > kRemembered) {
    ended_.erase(order_.front());
    order_.pop_front();
  }
}

absl::StatusOr<std::vector<std::string>> InFlight::Await(
    const Flights& flights, const std::stop_token& stop,
    const std::stop_token& give_way) {
  // Its release of the lock wakes the waiter below.
  const auto wake = [this] { base::MutexLock lock(&mutex_); };
  const std::stop_callback at_stop(stop, wake);
  const std::stop_callback at_give_way(give_way, wake);
  base::MutexLock lock(&mutex_);
  const auto is_ending = [&] {
    return stop.stop_requested() || give_way.stop_requested();
  };
  const auto may_go = [&] {
    return is_ending() ||
           std::all_of(flights.begin(), flights.end(),
                       [](const auto& flight) { return flight->is_over; });
  };
  mutex_.Await(absl::Condition(&may_go));
  if (is_ending()) return absl::CancelledError("the run ends");
  std::vector<std::string> without_row;
  for (const auto& flight : flights) {
    if (!flight->has_row) without_row.push_back(flight->key);
  }
  return without_row;
}

}  // namespace meshwright::jobs
