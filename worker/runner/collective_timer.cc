#include "worker/runner/collective_timer.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "worker/runner/small_modules.h"
#include "worker/runner/small_program.h"

namespace meshwright::worker::runner {
namespace {

constexpr absl::Duration kTimeLimit = absl::Seconds(10);

}  // namespace

absl::Status CollectiveTimer::Learn(
    const std::vector<v1::Collective>& collectives, int partitions,
    const std::function<void()>& on_step) {
  std::vector<Key> keys;
  std::vector<SmallProgram> programs;
  for (const v1::Collective& collective : collectives) {
    const Key key(collective.kind(), collective.bytes(),
                  collective.group_size(), partitions);
    if (known_.contains(key)) continue;
    const auto module = MakeCollectiveModule(collective, partitions);
    if (!module.ok()) continue;
    if (on_step != nullptr) on_step();
    absl::StatusOr<SmallProgram> loaded =
        LoadSmallProgram(client_, *module, partitions);
    // A plugin may lack one of them; Sum says which were left out.
    if (!loaded.ok()) continue;
    keys.push_back(key);
    programs.push_back(*std::move(loaded));
  }
  if (keys.empty()) return absl::OkStatus();
  timing::Protocol protocol = protocol_;
  protocol.time_limit = std::min(protocol.time_limit, kTimeLimit);
  ASSIGN_OR_RETURN(const std::vector<std::optional<absl::Duration>> times,
                   TimeBeyondLaunch(client_, std::move(programs), partitions,
                                    protocol, on_step));
  for (size_t i = 0; i < keys.size(); ++i) known_[keys[i]] = times[i];
  return absl::OkStatus();
}

CollectiveTimer::Communication CollectiveTimer::Sum(
    const std::vector<v1::Collective>& collectives, int partitions) const {
  Communication sum;
  for (const v1::Collective& collective : collectives) {
    const auto found = known_.find(Key(collective.kind(), collective.bytes(),
                                       collective.group_size(), partitions));
    if (found == known_.end() || !found->second.has_value()) {
      sum.left_out.push_back(collective.kind());
    } else {
      sum.total += *found->second * collective.count();
    }
  }
  return sum;
}

}  // namespace meshwright::worker::runner
