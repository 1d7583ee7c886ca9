// Cutting whole logical tensors into the shards of a sharding, and back.
//
// Concept: an XLA sharding splits dimension d of a tensor into
// tile_assignment_dimensions[d] tiles and says which device holds which tile.
// Every device holds a shard of one shape: ceil(dimension / tiles), so that
// the last tiles may be padded or lie wholly outside. A trailing tile
// dimension replicates: its devices hold the same tile.
// Shapes: a device's tile starts at Offset(device)[d] = its place * tile[d].
// Errors: kInvalidArgument for a sharding that does not fit the tensor or the
// number of partitions, kUnimplemented for MAXIMAL, MANUAL and subgroups.
#ifndef MESHWRIGHT_WORKER_RUNNER_SHARDING_H_
#define MESHWRIGHT_WORKER_RUNNER_SHARDING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/hlo/hlo.pb.h"
#include "worker/pjrt/buffer.h"

namespace meshwright::worker::runner {

class TileAssignment {
 public:
  // How `partition_count` devices share a tensor of these dimensions. Errors:
  // see above.
  static absl::StatusOr<TileAssignment> Create(const hlo::OpSharding& sharding,
                                               std::vector<int64_t> dimensions,
                                               int partition_count);

  int partition_count() const { return static_cast<int>(places_.size()); }
  const std::vector<int64_t>& dimensions() const { return dimensions_; }
  const std::vector<int64_t>& shard_dimensions() const { return shard_; }
  // Where the device's tile begins; at the tensor's end for a tile wholly
  // outside.
  std::vector<int64_t> Offset(int device) const;
  // The devices whose shards, together, are the whole tensor: the first
  // holder of every tile.
  std::vector<int> ListFirstHolders() const;

 private:
  TileAssignment() = default;

  std::vector<int64_t> dimensions_;
  std::vector<int64_t> shard_;
  std::vector<std::vector<int64_t>> places_;  // [device][dimension]
};

// The shard of one device; its padding is zero.
pjrt::HostArray Cut(const pjrt::HostArray& whole, const TileAssignment& tiling,
                    int device);

// Writes the unpadded part of one device's shard into the whole tensor.
void Paste(const pjrt::HostArray& shard, const TileAssignment& tiling,
           int device, pjrt::HostArray& whole);

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_SHARDING_H_
