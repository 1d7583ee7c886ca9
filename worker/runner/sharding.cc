#include "worker/runner/sharding.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "worker/pjrt/element_type.h"

namespace meshwright::worker::runner {
namespace {

int64_t Product(const std::vector<int64_t>& values) {
  int64_t product = 1;
  for (const int64_t value : values) product *= value;
  return product;
}

// Row-major digits of `index` in a box.
std::vector<int64_t> Digits(int64_t index, const std::vector<int64_t>& box) {
  std::vector<int64_t> digits(box.size());
  for (size_t d = box.size(); d-- > 0;) {
    digits[d] = index % box[d];
    index /= box[d];
  }
  return digits;
}

// The devices of the tile assignment, row-major; empty if malformed.
std::vector<int64_t> AssignedDevices(const hlo::OpSharding& sharding,
                                     int64_t count) {
  std::vector<int64_t> devices;
  if (sharding.iota_reshape_dims_size() == 0) {
    devices.assign(sharding.tile_assignment_devices().begin(),
                   sharding.tile_assignment_devices().end());
    return devices;
  }
  // iota(count) reshaped to `reshape`, transposed by `perm`, read row-major.
  const std::vector<int64_t> reshape(sharding.iota_reshape_dims().begin(),
                                     sharding.iota_reshape_dims().end());
  const std::vector<int> perm(sharding.iota_transpose_perm().begin(),
                              sharding.iota_transpose_perm().end());
  std::set<int> distinct(perm.begin(), perm.end());
  const int rank = static_cast<int>(reshape.size());
  if (std::any_of(reshape.begin(), reshape.end(),
                  [](int64_t size) { return size < 1; }) ||
      Product(reshape) != count || static_cast<int>(perm.size()) != rank ||
      static_cast<int>(distinct.size()) != rank || *distinct.begin() != 0 ||
      *distinct.rbegin() != rank - 1) {
    return {};
  }
  std::vector<int64_t> transposed(rank);
  for (int d = 0; d < rank; ++d) transposed[d] = reshape[perm[d]];
  for (int64_t index = 0; index < count; ++index) {
    const std::vector<int64_t> digits = Digits(index, transposed);
    std::vector<int64_t> source(rank);
    for (int d = 0; d < rank; ++d) source[perm[d]] = digits[d];
    int64_t device = 0;
    for (int d = 0; d < rank; ++d) device = device * reshape[d] + source[d];
    devices.push_back(device);
  }
  return devices;
}

// Copies a box of `extent` elements; trailing dimensions that the box covers
// whole on both sides move in one piece.
void CopyBox(const char* source, const std::vector<int64_t>& source_dimensions,
             const std::vector<int64_t>& source_offset, char* target,
             const std::vector<int64_t>& target_dimensions,
             const std::vector<int64_t>& target_offset,
             const std::vector<int64_t>& extent, int64_t element_bytes) {
  if (Product(extent) == 0) return;
  const int rank = static_cast<int>(extent.size());
  int inner = rank;  // first dimension of the contiguous piece
  int64_t piece = element_bytes;
  while (inner > 0) {
    --inner;
    piece *= extent[inner];
    if (extent[inner] != source_dimensions[inner] ||
        extent[inner] != target_dimensions[inner]) {
      break;
    }
  }
  const std::vector<int64_t> outer(extent.begin(), extent.begin() + inner);
  const int64_t pieces = Product(outer);
  for (int64_t index = 0; index < pieces; ++index) {
    const std::vector<int64_t> digits = Digits(index, outer);
    int64_t from = 0;
    int64_t to = 0;
    for (int d = 0; d < rank; ++d) {
      const int64_t digit = d < inner ? digits[d] : 0;
      from = from * source_dimensions[d] + source_offset[d] + digit;
      to = to * target_dimensions[d] + target_offset[d] + digit;
    }
    std::memcpy(target + to * element_bytes, source + from * element_bytes,
                piece);
  }
}

std::vector<int64_t> ValidExtent(const TileAssignment& tiling,
                                 const std::vector<int64_t>& offset) {
  std::vector<int64_t> extent = tiling.shard_dimensions();
  for (size_t d = 0; d < extent.size(); ++d) {
    extent[d] =
        std::clamp<int64_t>(tiling.dimensions()[d] - offset[d], 0, extent[d]);
  }
  return extent;
}

}  // namespace

absl::StatusOr<TileAssignment> TileAssignment::Create(
    const hlo::OpSharding& sharding, std::vector<int64_t> dimensions,
    int partition_count) {
  TileAssignment tiling;
  const size_t rank = dimensions.size();
  tiling.places_.assign(partition_count, std::vector<int64_t>(rank, 0));
  tiling.shard_ = dimensions;
  tiling.dimensions_ = std::move(dimensions);
  if (partition_count == 1 || sharding.type() == hlo::OpSharding::REPLICATED) {
    return tiling;
  }
  if (sharding.type() != hlo::OpSharding::OTHER) {
    return absl::UnimplementedError(absl::StrCat(
        "a sharding of type ", hlo::OpSharding::Type_Name(sharding.type()),
        " on an input or output is not supported"));
  }
  const std::vector<int64_t> tiles(
      sharding.tile_assignment_dimensions().begin(),
      sharding.tile_assignment_dimensions().end());
  const size_t expected =
      rank + (sharding.replicate_on_last_tile_dim() ? 1 : 0);
  const bool positive = std::all_of(tiles.begin(), tiles.end(),
                                    [](int64_t size) { return size > 0; });
  if (tiles.size() != expected || !positive ||
      Product(tiles) != partition_count) {
    return absl::InvalidArgumentError(
        absl::StrCat("a sharding with tiles [", absl::StrJoin(tiles, ","),
                     "] does not fit a tensor of rank ", rank, " on ",
                     partition_count, " devices"));
  }
  const std::vector<int64_t> devices =
      AssignedDevices(sharding, partition_count);
  std::set<int64_t> distinct(devices.begin(), devices.end());
  if (static_cast<int>(devices.size()) != partition_count ||
      static_cast<int>(distinct.size()) != partition_count ||
      *distinct.begin() != 0 || *distinct.rbegin() != partition_count - 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a sharding does not name each of the ", partition_count,
                     " devices once"));
  }
  for (size_t d = 0; d < rank; ++d) {
    tiling.shard_[d] = (tiling.dimensions_[d] + tiles[d] - 1) / tiles[d];
  }
  for (int64_t index = 0; index < partition_count; ++index) {
    std::vector<int64_t> place = Digits(index, tiles);
    place.resize(rank);
    tiling.places_[devices[index]] = std::move(place);
  }
  return tiling;
}

std::vector<int64_t> TileAssignment::Offset(int device) const {
  std::vector<int64_t> offset = places_[device];
  for (size_t d = 0; d < offset.size(); ++d) {
    // A tile wholly outside starts at the end.
    offset[d] = std::min(offset[d] * shard_[d], dimensions_[d]);
  }
  return offset;
}

std::vector<int> TileAssignment::ListFirstHolders() const {
  std::vector<int> holders;
  std::set<std::vector<int64_t>> seen;
  for (int device = 0; device < partition_count(); ++device) {
    if (seen.insert(places_[device]).second) holders.push_back(device);
  }
  return holders;
}

pjrt::HostArray Cut(const pjrt::HostArray& whole, const TileAssignment& tiling,
                    int device) {
  pjrt::HostArray shard;
  shard.type = whole.type;
  shard.dimensions = tiling.shard_dimensions();
  if (shard.dimensions == whole.dimensions) {
    shard.bytes = whole.bytes;
    return shard;
  }
  const int64_t element_bytes = pjrt::CountElementBytes(whole.type);
  shard.bytes.assign(shard.ElementCount() * element_bytes, '\0');
  const std::vector<int64_t> offset = tiling.Offset(device);
  CopyBox(whole.bytes.data(), whole.dimensions, offset, shard.bytes.data(),
          shard.dimensions, std::vector<int64_t>(offset.size(), 0),
          ValidExtent(tiling, offset), element_bytes);
  return shard;
}

void Paste(const pjrt::HostArray& shard, const TileAssignment& tiling,
           int device, pjrt::HostArray& whole) {
  const std::vector<int64_t> offset = tiling.Offset(device);
  CopyBox(shard.bytes.data(), shard.dimensions,
          std::vector<int64_t>(offset.size(), 0), whole.bytes.data(),
          whole.dimensions, offset, ValidExtent(tiling, offset),
          pjrt::CountElementBytes(whole.type));
}

}  // namespace meshwright::worker::runner
