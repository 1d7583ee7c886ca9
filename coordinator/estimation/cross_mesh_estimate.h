// EstimateAcrossMeshes: the row of a program on another mesh or other links,
// estimated from the matching program where it was measured.
//
// Concept: compute scales with the work of one device (program_work.h).
// Communication is that of the measured collectives, each with the bytes that
// the other number of devices leaves it. With a table of links its time follows
// the formulas of base/link.h. Without one it is in proportion to what these
// give for links without latency. Temporaries scale with the bytes of one
// device. Every device counts as one of its own, as fast as those measured.
//   An estimate may be off by the noise of the measurement (noise_interval.h),
// scaled alike, and by kScalingUncertainty of what the scaling changed.
// The axes of a collective follow from the size of its groups; of several
// candidates the most expensive counts. A group that no axes make is a part of
// the smallest larger one.
// In → Out: the measured row, work and mesh of both → a row with
// estimate_error_ns. The meshes have equally many axes, and none of one device
// where the other has more.
// Source: docs/formats/links.md.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_CROSS_MESH_ESTIMATE_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_CROSS_MESH_ESTIMATE_H_

#include <optional>

#include "base/link.h"
#include "coordinator/estimation/program_work.h"
#include "coordinator/space/annotation/sharding.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::estimation {

inline constexpr double kScalingUncertainty = 0.25;

struct Rescaling {
  space::Mesh from;
  space::Mesh to;
  std::optional<base::Links> links;  // of `to`
};

// Adds what the collectives of a row take on these links, where one device
// stood for the mesh and they took no time. The row says so by
// estimate_error_ns.
void AddLinkTimes(const space::Mesh& mesh, const base::Links& links,
                  v1::ProfileResult& row);

v1::Measurement EstimateAcrossMeshes(const v1::Measurement& measured,
                                     const Work& from, const Work& to,
                                     const Rescaling& rescaling);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_CROSS_MESH_ESTIMATE_H_
