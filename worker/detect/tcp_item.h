// Item: one batch that the leader asks of some hosts, and its run.
//
// Shapes: kItemBytes on the wire: six little-endian words (operation, bytes,
// repetitions, number of members, 0, 0), then a word for every member.
// Errors: Decode gives kDataLoss for bytes that are no item; RunItem those of
// TcpGroup::Exchange.
// Threads: one.
#ifndef MESHWRIGHT_WORKER_DETECT_TCP_ITEM_H_
#define MESHWRIGHT_WORKER_DETECT_TCP_ITEM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "planner/cluster/timing.h"
#include "worker/detect/tcp_group.h"

namespace meshwright::worker::detect {

struct Item {
  std::optional<cluster::Operation> operation;  // none: all is done
  int64_t bytes = 0;
  int64_t repetitions = 0;
  std::vector<int> members;  // hosts, by rank
};

inline constexpr int kMaximumHosts = 256;
inline constexpr size_t kItemBytes = 8 * (4 + kMaximumHosts);

std::vector<std::byte> Encode(const Item& item);
absl::StatusOr<Item> Decode(const std::vector<std::byte>& bytes, int hosts,
                            int64_t maximum_bytes);

// Room that the runs of a host share.
struct Buffers {
  std::vector<std::byte> out;
  std::vector<std::byte> in;
};

// Runs the part of one member. How long the repetitions took, seen from here.
absl::StatusOr<absl::Duration> RunItem(TcpGroup& group, const Item& item,
                                       TcpGroup::Clock::duration patience,
                                       Buffers& buffers);

}  // namespace meshwright::worker::detect

#endif  // MESHWRIGHT_WORKER_DETECT_TCP_ITEM_H_
