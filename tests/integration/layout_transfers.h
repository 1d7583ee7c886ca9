// Transfers: what every device sends in a step of a conversion.
//
// Concept: a device holds one tile, a box of elements of the tensor. In
//   - a slice it sends nothing: the new tile is inside the old one;
//   - an all-gather it sends its tile to every other device along the axis;
//   - an all-to-all it sends to every other device along the axis the part of
//     its tile that the other one's new tile wants;
//   - a collective-permute it sends its tile to one device, which differs from
//     it along the axes of the step only, and receives one tile. A device
//     whose tile stays sends it to itself.
// The rest of the new tile is what it held already. Transfers of no elements
// are left out, but for a permute, whose pairs are a permutation of all
// devices.
// Shapes: devices are numbered along the mesh, the last axis fastest.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_LAYOUT_TRANSFERS_H_
#define MESHWRIGHT_TESTS_INTEGRATION_LAYOUT_TRANSFERS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/layout/layout_problem.h"

namespace meshwright::layout {

// Elements start[d] <= i < stop[d]; none when start[d] == stop[d] for some d.
struct Box {
  std::vector<int64_t> start;
  std::vector<int64_t> stop;

  bool Empty() const;
  bool operator==(const Box&) const = default;
};

struct Transfer {
  int64_t from = 0;
  int64_t to = 0;
  Box box;
};

int64_t CountDevices(const std::vector<int64_t>& mesh);

// Of one device. An empty tile is all zeros.
Box FindTile(const LayoutProblem& problem, const Spec& spec, int64_t device);

// Step `index` of a path of `problem`, ordered by receiver, then sender.
// kInvalidArgument when the step does not make its spec.
absl::StatusOr<std::vector<Transfer>> Transfers(const LayoutProblem& problem,
                                                const Path& path, int index);

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_TESTS_INTEGRATION_LAYOUT_TRANSFERS_H_
