#include "coordinator/export/symbolic_json.h"

#include <nlohmann/json.hpp>

#include "base/status_macros.h"
#include "coordinator/operators/step_graph.h"
#include "planner/symbolic/profile.h"

namespace meshwright::exporting {
namespace {

using nlohmann::ordered_json;

ordered_json RowJson(const symbolic::Row& row) {
  return {{"operations", row.operations},
          {"flops", row.counts.flops},
          {"transcendentals", row.counts.transcendentals},
          {"bytes_read", row.bytes_read},
          {"bytes_written", row.bytes_written},
          {"traffic_bytes", row.traffic_bytes},
          {"forward_seconds", problem::ToSeconds(row.forward_time)},
          {"backward_seconds", problem::ToSeconds(row.backward_time)},
          {"fwd_in", row.memories.fwd_in},
          {"fwd_tmp", row.memories.fwd_tmp},
          {"fwd_out", row.memories.fwd_out},
          {"bwd_tmp", row.memories.bwd_tmp},
          {"bwd_out", row.memories.bwd_out}};
}

}  // namespace

absl::StatusOr<ordered_json> FormatSymbolicJson(
    const segmenter::Analysis& analysis, const symbolic::Device& device) {
  ASSIGN_OR_RETURN(
      const symbolic::Profile profile,
      symbolic::ProfileStep(operators::ReadStep(analysis), device));
  const symbolic::Footprint& memory = profile.footprint;
  ordered_json out;
  out["device"] = {
      {"flops_per_second", device.flops_per_second},
      {"bytes_per_second", device.bytes_per_second},
      {"flops_per_transcendental", device.flops_per_transcendental}};
  out["step"] = RowJson(profile.total);
  out["memory"] = {{"argument_bytes", memory.argument_bytes},
                   {"output_bytes", memory.output_bytes},
                   {"temporary_bytes", memory.temporary_bytes},
                   {"peak_bytes", memory.peak_bytes},
                   {"saved_bytes", memory.saved_bytes}};
  out["segment_types"] = ordered_json::array();
  for (const segmenter::SegmentIndex representative : analysis.types) {
    out["segment_types"].push_back(RowJson(profile.segments[representative]));
  }
  return out;
}

}  // namespace meshwright::exporting
