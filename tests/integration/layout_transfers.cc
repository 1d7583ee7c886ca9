#include "tests/integration/layout_transfers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace meshwright::layout {
namespace {

std::vector<int64_t> Coordinates(const std::vector<int64_t>& mesh,
                                 int64_t device) {
  std::vector<int64_t> coordinates(mesh.size());
  for (size_t axis = mesh.size(); axis-- > 0;) {
    coordinates[axis] = device % mesh[axis];
    device /= mesh[axis];
  }
  return coordinates;
}

// The number of the device at coordinate 0 of `axes`, else where `device` is.
int64_t Anchor(const std::vector<int64_t>& mesh, int64_t device,
               const std::vector<int>& axes) {
  std::vector<int64_t> at = Coordinates(mesh, device);
  for (const int axis : axes) at[axis] = 0;
  int64_t number = 0;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    number = number * mesh[axis] + at[axis];
  }
  return number;
}

Box Intersection(const Box& a, const Box& b) {
  Box both;
  for (size_t d = 0; d < a.start.size(); ++d) {
    both.start.push_back(std::max(a.start[d], b.start[d]));
    both.stop.push_back(
        std::max(both.start.back(), std::min(a.stop[d], b.stop[d])));
  }
  return both;
}

struct Tiles {
  std::vector<Box> before;
  std::vector<Box> after;
};

// Every device gets what it wants and lacks from the others of its group.
std::vector<Transfer> AlongAxis(const LayoutProblem& problem,
                                const Tiles& tiles, int axis) {
  int64_t stride = 1;
  for (size_t a = axis + 1; a < problem.mesh.size(); ++a) {
    stride *= problem.mesh[a];
  }
  std::vector<Transfer> transfers;
  const auto devices = static_cast<int64_t>(tiles.before.size());
  for (int64_t to = 0; to < devices; ++to) {
    const int64_t first = Anchor(problem.mesh, to, {axis});
    for (int64_t i = 0; i < problem.mesh[axis]; ++i) {
      const int64_t from = first + i * stride;
      if (from == to) continue;
      Box box = Intersection(tiles.before[from], tiles.after[to]);
      if (!box.Empty()) transfers.push_back({from, to, std::move(box)});
    }
  }
  return transfers;
}

// Within each group of the step's axes, holders and wanters of a tile are
// paired: first every device with itself, then in order.
absl::StatusOr<std::vector<Transfer>> Permuted(const LayoutProblem& problem,
                                               const Tiles& tiles,
                                               const std::vector<int>& axes) {
  const auto devices = static_cast<int64_t>(tiles.before.size());
  using Key = std::pair<int64_t, std::vector<int64_t>>;
  std::map<Key, std::vector<int64_t>> holders;
  std::vector<int64_t> source(devices, -1);
  const auto key = [&](int64_t device, const Box& tile) {
    std::vector<int64_t> corners = tile.start;
    corners.insert(corners.end(), tile.stop.begin(), tile.stop.end());
    return Key{Anchor(problem.mesh, device, axes), std::move(corners)};
  };
  for (int64_t device = devices; device-- > 0;) {
    if (tiles.before[device] == tiles.after[device]) {
      source[device] = device;
    } else {
      holders[key(device, tiles.before[device])].push_back(device);
    }
  }
  std::vector<Transfer> transfers;
  for (int64_t to = 0; to < devices; ++to) {
    if (source[to] < 0) {
      const auto found = holders.find(key(to, tiles.after[to]));
      if (found == holders.end() || found->second.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "no device can send device ", to,
            " its tile in this collective-permute; give the step of a path"));
      }
      source[to] = found->second.back();
      found->second.pop_back();
    }
    transfers.push_back({source[to], to, tiles.after[to]});
  }
  return transfers;
}

}  // namespace

bool Box::Empty() const {
  for (size_t d = 0; d < start.size(); ++d) {
    if (start[d] == stop[d]) return true;
  }
  return false;
}

int64_t CountDevices(const std::vector<int64_t>& mesh) {
  int64_t devices = 1;
  for (const int64_t size : mesh) devices *= size;
  return devices;
}

Box FindTile(const LayoutProblem& problem, const Spec& spec, int64_t device) {
  const std::vector<int64_t> at = Coordinates(problem.mesh, device);
  Box box;
  for (size_t d = 0; d < spec.size(); ++d) {
    int64_t part = 0;
    int64_t parts = 1;
    for (const int axis : spec[d]) {
      part = part * problem.mesh[axis] + at[axis];
      parts *= problem.mesh[axis];
    }
    const int64_t size = problem.shape[d];
    const int64_t tile = (size - 1) / parts + 1;
    box.start.push_back(std::min(part * tile, size));
    box.stop.push_back(std::min(part * tile + tile, size));
  }
  if (box.Empty()) {
    box.start.assign(spec.size(), 0);
    box.stop = box.start;
  }
  return box;
}

absl::StatusOr<std::vector<Transfer>> Transfers(const LayoutProblem& problem,
                                                const Path& path, int index) {
  const Step& step = path.steps[index];
  Tiles tiles;
  const int64_t devices = CountDevices(problem.mesh);
  for (int64_t device = 0; device < devices; ++device) {
    tiles.before.push_back(FindTile(problem, path.specs[index], device));
    tiles.after.push_back(FindTile(problem, path.specs[index + 1], device));
  }
  switch (step.op) {
    case Op::kSlice:
      return std::vector<Transfer>();
    case Op::kAllGather:
    case Op::kAllToAll:
      return AlongAxis(problem, tiles, step.axis);
    case Op::kCollectivePermute:
      return Permuted(problem, tiles, step.axes);
  }
  return absl::InvalidArgumentError("the step has no operation");
}

}  // namespace meshwright::layout
