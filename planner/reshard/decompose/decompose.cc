#include "planner/reshard/decompose/decompose.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::reshard {
namespace {

absl::Status RefuseTensor(const std::string& sentence) {
  return absl::InvalidArgumentError(sentence);
}

// Positive, and their product at most `maximum`.
absl::StatusOr<int64_t> Product(const std::vector<int64_t>& sizes,
                                const std::string& field, int64_t maximum,
                                const char* of) {
  int64_t product = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1) {
      return RefuseTensor(absl::StrCat(field, "[", i, "] is ", sizes[i],
                                       "; give a size of at least 1"));
    }
    if (sizes[i] > maximum / product) {
      return RefuseTensor(
          absl::StrCat(field, " has more than ", maximum, " ", of));
    }
    product *= sizes[i];
  }
  return product;
}

// One mesh with its tiles.
class Tiles {
 public:
  static absl::StatusOr<Tiles> Create(const Resharding& resharding,
                                      const Side& side,
                                      const std::string& prefix,
                                      const std::string& letter) {
    Tiles tiles;
    const std::string mesh = prefix + "_mesh";
    if (side.mesh.empty()) {
      return RefuseTensor(
          absl::StrCat(mesh, " is empty; give the devices per axis"));
    }
    if (side.mesh.size() > base::kMaxSpecAxes) {
      return RefuseTensor(absl::StrCat(mesh, " has ", side.mesh.size(),
                                       " axes and a spec can name ",
                                       base::kMaxSpecAxes));
    }
    ASSIGN_OR_RETURN(tiles.devices_,
                     Product(side.mesh, mesh, kMaxDevices, "devices"));
    RETURN_IF_ERROR(CheckSpec(resharding, side, prefix));
    for (size_t d = 0; d < side.spec.size(); ++d) {
      int64_t parts = 1;
      for (const int axis : side.spec[d]) parts *= side.mesh[axis];
      tiles.tile_.push_back(base::TileSize(resharding.shape[d], parts));
    }
    RETURN_IF_ERROR(tiles.NameHosts(side, prefix, letter));
    tiles.Collect(resharding, side);
    return tiles;
  }

  using Coordinates = std::vector<int64_t>;  // of a tile, per dimension

  // The devices of every tile that holds something.
  const std::map<Coordinates, std::vector<int>>& tiles() const {
    return devices_of_;
  }
  int64_t TileSize(size_t dim) const { return tile_[dim]; }
  const std::string& FindHost(int device) const {
    return hosts_[device / per_host_];
  }
  // Names in the order of devices, each once.
  std::vector<std::string> HostNames() const {
    std::vector<std::string> names;
    absl::flat_hash_map<std::string, bool> seen;
    for (const std::string& host : hosts_) {
      if (seen.emplace(host, true).second) names.push_back(host);
    }
    return names;
  }

 private:
  static absl::Status CheckSpec(const Resharding& resharding, const Side& side,
                                const std::string& prefix) {
    const std::string field = prefix + "_spec";
    if (side.spec.size() != resharding.shape.size()) {
      return RefuseTensor(absl::StrCat(field, " has ", side.spec.size(),
                                       " dimensions and shape has ",
                                       resharding.shape.size()));
    }
    std::vector<bool> used(side.mesh.size(), false);
    for (const std::vector<int>& axes : side.spec) {
      for (const int axis : axes) {
        if (axis < 0 || axis >= static_cast<int>(side.mesh.size())) {
          return RefuseTensor(absl::StrCat(field, " names axis ", axis, " and ",
                                           prefix, "_mesh has ",
                                           side.mesh.size(), " axes"));
        }
        if (used[axis]) {
          return RefuseTensor(
              absl::StrCat(field, " names axis ", axis,
                           " twice; an axis splits one dimension"));
        }
        used[axis] = true;
      }
    }
    return {};
  }

  absl::Status NameHosts(const Side& side, const std::string& prefix,
                         const std::string& letter) {
    const int64_t row = side.mesh.back();
    const int64_t rows = devices_ / row;
    const auto named = static_cast<int64_t>(side.hosts.size());
    if (named == 0) {
      for (int64_t i = 0; i < rows; ++i) {
        hosts_.push_back(absl::StrCat(letter, i));
      }
    } else if (named == rows || named == devices_) {
      hosts_ = side.hosts;
    } else {
      return RefuseTensor(
          absl::StrCat(prefix, "_hosts has ", named, " names and ", prefix,
                       "_mesh has ", rows, " rows of ", row,
                       " devices; give one name per row or per device"));
    }
    per_host_ = devices_ / static_cast<int64_t>(hosts_.size());
    return {};
  }

  void Collect(const Resharding& resharding, const Side& side) {
    Coordinates place(side.mesh.size(), 0);
    for (int64_t device = 0; device < devices_; ++device) {
      int64_t rest = device;
      for (size_t a = side.mesh.size(); a-- > 0;) {
        place[a] = rest % side.mesh[a];
        rest /= side.mesh[a];
      }
      Coordinates part;
      bool holds = true;
      for (size_t d = 0; d < side.spec.size(); ++d) {
        int64_t index = 0;
        for (const int axis : side.spec[d]) {
          index = index * side.mesh[axis] + place[axis];
        }
        holds = holds && index * tile_[d] < resharding.shape[d];
        part.push_back(index);
      }
      if (holds) devices_of_[part].push_back(static_cast<int>(device));
    }
  }

  int64_t devices_ = 1;
  int64_t per_host_ = 1;  // devices of one entry of hosts_
  std::vector<int64_t> tile_;
  std::vector<std::string> hosts_;
  std::map<Coordinates, std::vector<int>> devices_of_;
};

using HostIndex = absl::flat_hash_map<std::string, int>;

std::vector<int> ListHosts(const Tiles& tiles, const std::vector<int>& devices,
                           const HostIndex& index) {
  std::vector<int> hosts;
  hosts.reserve(devices.size());
  for (const int device : devices) {
    hosts.push_back(index.at(tiles.FindHost(device)));
  }
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

// What one unit's mention of a tile's hosts and devices takes in an answer.
int64_t MentionBytes(const std::vector<std::string>& names,
                     const std::vector<int>& hosts,
                     const std::vector<int>& devices) {
  constexpr int64_t kBesideAName = 40;  // a string and the pointer to it
  auto bytes = static_cast<int64_t>(devices.size() * sizeof(int));
  for (const int host : hosts) {
    bytes += kBesideAName + static_cast<int64_t>(names[host].size());
  }
  return bytes;
}

}  // namespace

absl::StatusOr<Units> Decompose(const Resharding& resharding) {
  if (resharding.elem_bytes < 1) {
    return RefuseTensor(absl::StrCat("elem_bytes is ", resharding.elem_bytes,
                                     "; give a size of at least 1"));
  }
  RETURN_IF_ERROR(Product(resharding.shape, "shape",
                          kMaxBytes / resharding.elem_bytes,
                          "elements, and a tensor has at most 2^62 bytes")
                      .status());
  ASSIGN_OR_RETURN(const Tiles source,
                   Tiles::Create(resharding, resharding.source, "src", "s"));
  ASSIGN_OR_RETURN(const Tiles target,
                   Tiles::Create(resharding, resharding.target, "dst", "d"));
  Units answer;
  HostIndex index;
  for (const Tiles* side : {&source, &target}) {
    for (const std::string& name : side->HostNames()) {
      if (index.emplace(name, answer.hosts.size()).second) {
        answer.hosts.push_back(name);
      }
    }
  }
  std::map<Tiles::Coordinates, int> place;  // of a target tile
  std::vector<std::vector<int>> needing;
  std::vector<int64_t> needing_bytes;
  int64_t mention_bytes = 0;  // of all units
  for (const auto& [part, devices] : target.tiles()) {
    place[part] = static_cast<int>(needing.size());
    needing.push_back(ListHosts(target, devices, index));
    needing_bytes.push_back(
        MentionBytes(answer.hosts, needing.back(), devices));
    answer.target_tiles.push_back(devices);
  }
  const size_t dims = resharding.shape.size();
  for (const auto& [from, holders] : source.tiles()) {
    const std::vector<int> senders = ListHosts(source, holders, index);
    const int64_t sender_bytes = MentionBytes(answer.hosts, senders, holders);
    answer.source_tiles.push_back(holders);
    // The target parts that meet this tile, from first to last per dimension.
    Tiles::Coordinates first(dims), last(dims);
    std::vector<int64_t> begin(dims), end(dims);
    for (size_t d = 0; d < dims; ++d) {
      begin[d] = from[d] * source.TileSize(d);
      end[d] = std::min(begin[d] + source.TileSize(d), resharding.shape[d]);
      first[d] = begin[d] / target.TileSize(d);
      last[d] = (end[d] - 1) / target.TileSize(d);
    }
    Tiles::Coordinates to = first;
    while (true) {
      if (answer.units.size() >= kMaxTasks) {
        return RefuseTensor(
            absl::StrCat("src_spec and dst_spec cut the tensor into "
                         "more than ",
                         kMaxTasks, " slices; shard it less finely"));
      }
      const int target_tile = place.at(to);
      mention_bytes += sender_bytes + needing_bytes[target_tile];
      if (mention_bytes > kMaxMentionBytes) {
        return RefuseTensor(absl::StrCat(
            "src_spec and dst_spec cut the tensor into slices "
            "that name their hosts and devices in more than ",
            kMaxMentionBytes, " bytes; shard or replicate it less finely"));
      }
      Unit unit;
      unit.size_bytes = resharding.elem_bytes;
      for (size_t d = 0; d < dims; ++d) {
        const int64_t tile = target.TileSize(d);
        unit.begin.push_back(std::max(begin[d], to[d] * tile));
        unit.end.push_back(std::min(end[d], to[d] * tile + tile));
        unit.size_bytes *= unit.end[d] - unit.begin[d];
      }
      unit.source_tile = static_cast<int>(answer.source_tiles.size()) - 1;
      unit.target_tile = target_tile;
      unit.senders = senders;
      const std::vector<int>& needed = needing[unit.target_tile];
      std::set_difference(needed.begin(), needed.end(), senders.begin(),
                          senders.end(), std::back_inserter(unit.receivers));
      answer.units.push_back(std::move(unit));
      size_t d = dims;
      while (d > 0 && to[d - 1] == last[d - 1]) {
        --d;
        to[d] = first[d];
      }
      if (d == 0) break;
      ++to[d - 1];
    }
  }
  return answer;
}

ReshardProblem ToProblem(const Units& units, double bandwidth_bytes_per_s) {
  ReshardProblem problem;
  problem.bandwidth_bytes_per_s = bandwidth_bytes_per_s;
  for (const std::string& name : units.hosts) {
    problem.hosts.push_back({.name = name});
  }
  for (size_t i = 0; i < units.units.size(); ++i) {
    const Unit& unit = units.units[i];
    problem.tasks.push_back({.id = absl::StrCat(i),
                             .size_bytes = unit.size_bytes,
                             .senders = unit.senders,
                             .receivers = unit.receivers});
  }
  return problem;
}

}  // namespace meshwright::reshard
