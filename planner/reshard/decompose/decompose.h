// Decompose: a tensor moved between two meshes as unit communication tasks.
//
//   tensor on mesh A (spec a)      one unit per (distinct tile of A ∩ distinct
//   ┌────┬────┐   ┌────┬────┐      tile of B) that holds something; its devices
//   │ 0  │ 1  │ → ├────┼────┤      are all that hold, and all that need, it
//   └────┴────┘   └────┴────┘
//
// Shapes: devices are numbered along their mesh, the last axis fastest.
// A host is a row of the mesh (the devices along its last axis), unless the
// request names the host of every device or row. Hosts of one name in both
// meshes are one host. Such a host takes a unit that it both needs and holds
// from itself, so it is no receiver of that unit.
// Source: papers/cross_mesh_resharding.txt 2.2.
#ifndef MESHWRIGHT_PLANNER_RESHARD_DECOMPOSE_DECOMPOSE_H_
#define MESHWRIGHT_PLANNER_RESHARD_DECOMPOSE_DECOMPOSE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/sharding.h"
#include "planner/reshard/problem/reshard_problem.h"

namespace meshwright::reshard {

inline constexpr int64_t kMaxDevices = int64_t{1} << 14;  // of a mesh
// Every unit lists its hosts by name and its devices, so that a finely sharded
// tensor of many replicas makes a large answer of a small request.
inline constexpr int64_t kMaxMentionBytes = int64_t{1} << 28;

struct Side {
  base::Mesh mesh;
  base::ShardingSpec spec;
  // Per device or per row; empty: a host per row, s0.. or d0.. .
  std::vector<std::string> hosts;
};

struct Resharding {
  std::vector<int64_t> shape;
  int64_t elem_bytes = 0;
  Side source;
  Side target;
};

struct Unit {
  std::vector<int64_t> begin;  // the slice: [begin, end) per dimension
  std::vector<int64_t> end;
  int64_t size_bytes = 0;
  int source_tile = 0;
  int target_tile = 0;
  std::vector<int> senders;    // hosts, ascending
  std::vector<int> receivers;  // hosts without the slice, ascending
};

struct Units {
  std::vector<std::string> hosts;  // by index: those of the source first
  // Tiles that hold something: their devices, ascending.
  std::vector<std::vector<int>> source_tiles;
  std::vector<std::vector<int>> target_tiles;
  // By source tile, then target tile, the last dimension fastest.
  std::vector<Unit> units;
};

// Errors: kInvalidArgument that names the field.
absl::StatusOr<Units> Decompose(const Resharding& resharding);

// The units as tasks with the ids "0", "1", ... .
ReshardProblem ToProblem(const Units& units, double bandwidth_bytes_per_s);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_DECOMPOSE_DECOMPOSE_H_
