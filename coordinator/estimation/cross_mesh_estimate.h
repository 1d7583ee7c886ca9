// ScaledRow: what a program is told to take on another mesh or other links,
// from what its counterpart took where it was measured.
//
// Concept: compute goes with the work of one device (program_work.h).
// Communication is that of the measured collectives, each with the bytes that
// the other number of devices leaves it: with a link table, by its formulas
// (link_table.h); without, in proportion to what these say for links without
// latency. Temporaries go with the bytes of one device. Every device counts as
// one of its own, as fast as those measured.
//   An estimate may be off by what the measurement may (spreads.h), scaled
// alike, and by kDoubt of what the scaling changed.
// Which axes a collective ran on is told from the size of its groups; where
// several would do, the dearest counts.
// In → Out: the measured row, work and mesh of both → a row with
// estimate_error_ns. The meshes have equally many axes, and none of one device
// where the other has more.
// Source: design, section 8 (Link).
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_CROSS_MESH_ESTIMATE_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_CROSS_MESH_ESTIMATE_H_

#include <optional>

#include "coordinator/estimation/link_table.h"
#include "coordinator/estimation/program_work.h"
#include "coordinator/space/annotation/sharding.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::estimation {

inline constexpr double kDoubt = 0.25;

struct Rescaling {
  space::Mesh from;
  space::Mesh to;
  std::optional<LinkTable> links;  // of `to`
};

v1::Measurement ScaledRow(const v1::Measurement& measured, const Work& from,
                          const Work& to, const Rescaling& rescaling);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_CROSS_MESH_ESTIMATE_H_
