#include "worker/detect/tcp_timing.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "worker/detect/tcp_item.h"

namespace meshwright::worker::detect {
namespace {

using cluster::Operation;

constexpr int kBatches = 5;
constexpr int64_t kMaximumBatch = 2000;  // repetitions
constexpr int kLongBatches = 3;
constexpr double kLongSeconds = 0.1;
constexpr double kTooLongSeconds = 4;  // larger sizes are left out
constexpr Operation kHostOperations[] = {
    Operation::kAllReduce, Operation::kAllGather, Operation::kReduceScatter,
    Operation::kAllToAll, Operation::kBroadcast};

// 8 bytes to 1 MiB by four, then by two.
std::vector<int64_t> ListSizes(int64_t maximum) {
  std::vector<int64_t> sizes;
  for (int64_t size = 8; size <= maximum; size *= size < (1 << 20) ? 4 : 2) {
    sizes.push_back(size);
  }
  return sizes;
}

std::vector<int64_t> ListGroupSizes(int64_t maximum) {
  std::vector<int64_t> sizes;
  for (int64_t size = 1024; size <= maximum; size *= 16) sizes.push_back(size);
  return sizes;
}

class Leader {
 public:
  Leader(TcpGroup& group, const TcpTimingOptions& options)
      : group_(group), options_(options) {}

  absl::StatusOr<std::vector<cluster::GroupTiming>> Run();

 private:
  absl::Status TimeSeries(Operation operation, const std::vector<int>& members,
                          const std::vector<int64_t>& sizes);
  // The median of some batches, per run.
  absl::StatusOr<double> TimeSize(Item item);
  // All repetitions.
  absl::StatusOr<double> TimeBatch(const Item& item);
  absl::Status SendToAll(const Item& item, const std::vector<int>& members);

  TcpGroup& group_;
  const TcpTimingOptions& options_;
  Buffers buffers_;
  std::vector<cluster::GroupTiming> timings_;
};

absl::StatusOr<std::vector<cluster::GroupTiming>> Leader::Run() {
  const auto report = [&](const std::string& what) {
    if (options_.report) options_.report(what);
  };
  const std::vector<int64_t> sizes = ListSizes(options_.maximum_bytes);
  std::vector<int> all;
  for (int a = 0; a < group_.size(); ++a) {
    all.push_back(a);
    for (int b = a + 1; b < group_.size(); ++b) {
      report(absl::StrCat("timing ", group_.host(a).name, " and ",
                          group_.host(b).name));
      RETURN_IF_ERROR(TimeSeries(Operation::kSendReceive, {a, b}, sizes));
    }
  }
  for (int count = 2;; count = std::min(2 * count, group_.size())) {
    const std::vector<int> members(all.begin(), all.begin() + count);
    for (const Operation operation : kHostOperations) {
      report(absl::StrCat("timing ", cluster::NameOperation(operation), " of ",
                          count, " hosts"));
      RETURN_IF_ERROR(TimeSeries(operation, members,
                                 ListGroupSizes(options_.maximum_bytes)));
    }
    if (count == group_.size()) break;
  }
  RETURN_IF_ERROR(SendToAll(Item(), all));
  return std::move(timings_);
}

absl::Status Leader::TimeSeries(Operation operation,
                                const std::vector<int>& members,
                                const std::vector<int64_t>& sizes) {
  for (const int64_t bytes : sizes) {
    ASSIGN_OR_RETURN(const double seconds,
                     TimeSize({operation, bytes, 1, members}));
    cluster::GroupTiming& made = timings_.emplace_back();
    for (const int member : members) {
      made.devices.push_back(cluster::DeviceIndex(static_cast<size_t>(member)));
    }
    made.timing = {operation, static_cast<int64_t>(members.size()),
                   static_cast<double>(bytes), seconds};
    if (seconds > kTooLongSeconds) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<double> Leader::TimeSize(Item item) {
  // Every host is the root of a broadcast once, so that one run waits for the
  // one before.
  const int64_t least = item.operation == Operation::kBroadcast
                            ? static_cast<int64_t>(item.members.size())
                            : 1;
  item.repetitions = least;
  ASSIGN_OR_RETURN(const double first, TimeBatch(item));
  const double once = first / static_cast<double>(least);
  std::vector<double> seconds;
  int batches = kBatches;
  if (once >= kLongSeconds) {
    seconds.push_back(once);
    batches = kLongBatches;
  }
  item.repetitions = std::max(
      least, std::min<int64_t>(
                 static_cast<int64_t>(kBatchSeconds / std::max(once, 1e-6)),
                 kMaximumBatch));
  while (static_cast<int>(seconds.size()) < batches) {
    ASSIGN_OR_RETURN(const double all, TimeBatch(item));
    seconds.push_back(all / static_cast<double>(item.repetitions));
  }
  std::nth_element(seconds.begin(), seconds.begin() + batches / 2,
                   seconds.end());
  const double median = seconds[batches / 2];
  // Its steps go forth and back.
  return item.operation == Operation::kSendReceive ? median / 2 : median;
}

absl::StatusOr<double> Leader::TimeBatch(const Item& item) {
  RETURN_IF_ERROR(SendToAll(item, item.members));
  double seconds = 0;
  if (std::ranges::count(item.members, group_.self()) != 0) {
    ASSIGN_OR_RETURN(const absl::Duration own,
                     RunItem(group_, item, options_.patience, buffers_));
    seconds = absl::ToDoubleSeconds(own);
  }
  for (const int member : item.members) {
    if (member == group_.self()) continue;
    std::array<std::byte, 8> answer = {};
    RETURN_IF_ERROR(group_.Exchange({}, {}, member, answer, options_.patience));
    int64_t nanoseconds = 0;
    std::memcpy(&nanoseconds, answer.data(), answer.size());
    // Who sends first in a send/receive sees whole round trips.
    if (item.operation == Operation::kSendReceive &&
        member != item.members.front()) {
      continue;
    }
    seconds = std::max(seconds, static_cast<double>(nanoseconds) * 1e-9);
  }
  return seconds;
}

absl::Status Leader::SendToAll(const Item& item,
                               const std::vector<int>& members) {
  const std::vector<std::byte> bytes = Encode(item);
  for (const int member : members) {
    if (member == group_.self()) continue;
    RETURN_IF_ERROR(group_.Exchange(member, bytes, {}, {}, options_.patience));
  }
  return absl::OkStatus();
}

// Runs what the leader asks for until it is done.
absl::Status Follow(TcpGroup& group, const TcpTimingOptions& options) {
  // The others' turns come in between.
  const auto patience = 1000 * options.patience;
  std::vector<std::byte> bytes(kItemBytes);
  Buffers buffers;
  while (true) {
    RETURN_IF_ERROR(group.Exchange({}, {}, 0, bytes, patience));
    ASSIGN_OR_RETURN(const Item item,
                     Decode(bytes, group.size(), kMaximumTimedBytes));
    if (!item.operation.has_value()) return absl::OkStatus();
    if (std::ranges::count(item.members, group.self()) == 0) {
      return absl::DataLossError(
          "the first host asks this one for the turn of others; run the same "
          "version everywhere");
    }
    ASSIGN_OR_RETURN(const absl::Duration took,
                     RunItem(group, item, options.patience, buffers));
    const int64_t nanoseconds = absl::ToInt64Nanoseconds(took);
    std::array<std::byte, 8> answer = {};
    std::memcpy(answer.data(), &nanoseconds, answer.size());
    RETURN_IF_ERROR(group.Exchange(0, answer, {}, {}, options.patience));
  }
}

}  // namespace

absl::StatusOr<std::vector<cluster::GroupTiming>> TimeHosts(
    const std::vector<TcpHost>& hosts, const std::string& self,
    const TcpTimingOptions& options) {
  if (hosts.size() > kMaximumHosts) {
    return absl::InvalidArgumentError(
        absl::StrCat(hosts.size(), " hosts are more than the ", kMaximumHosts,
                     " that are timed at once; time a part of them"));
  }
  if (options.maximum_bytes < 4096 ||
      options.maximum_bytes > kMaximumTimedBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.maximum_bytes,
                     " bytes at most is no range; give "
                     "4096 to ",
                     kMaximumTimedBytes));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<TcpGroup> group,
                   TcpGroup::Join(hosts, self, options.connect_patience));
  if (group->self() != 0) {
    RETURN_IF_ERROR(Follow(*group, options));
    return std::vector<cluster::GroupTiming>();
  }
  return Leader(*group, options).Run();
}

}  // namespace meshwright::worker::detect
