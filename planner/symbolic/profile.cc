#include "planner/symbolic/profile.h"

#include <algorithm>
#include <optional>

#include "base/status_macros.h"

namespace meshwright::symbolic {
namespace {

using problem::Picoseconds;
using problem::SaturatingAdd;
using problem::SaturatingMultiply;

Picoseconds Capped(int64_t time) {
  return Picoseconds(std::min(time, problem::kMaxTime.count()));
}

Row MakeRow(const OpGraph& graph, const StorageMap& storage, int index,
            const Device& device) {
  const Operation& it = graph.operations[index];
  Row row;
  row.operations = 1;
  row.counts = ScaleCounts(it.counts, it.trips);
  for (const Read& read : it.reads) {
    row.bytes_read = SaturatingAdd(row.bytes_read, read.bytes);
  }
  row.bytes_read = SaturatingMultiply(row.bytes_read, it.trips);
  row.bytes_written = SaturatingMultiply(it.written_bytes, it.trips);
  const int64_t traffic = CountTraffic(graph, storage, index);
  row.traffic_bytes = SaturatingMultiply(traffic, it.trips);
  Picoseconds& time = it.forward ? row.forward_time : row.backward_time;
  time = Capped(SaturatingMultiply(
      EstimateByRoofline(it.counts, traffic, device).count(), it.trips));
  return row;
}

void Add(const Row& row, Row& to) {
  to.operations += row.operations;
  to.counts = Sum(to.counts, row.counts);
  to.bytes_read = SaturatingAdd(to.bytes_read, row.bytes_read);
  to.bytes_written = SaturatingAdd(to.bytes_written, row.bytes_written);
  to.traffic_bytes = SaturatingAdd(to.traffic_bytes, row.traffic_bytes);
  to.forward_time = Capped(to.forward_time.count() + row.forward_time.count());
  to.backward_time =
      Capped(to.backward_time.count() + row.backward_time.count());
}

}  // namespace

absl::StatusOr<Profile> ProfileStep(const OpGraph& graph,
                                    const Device& device) {
  RETURN_IF_ERROR(Validate(device));
  RETURN_IF_ERROR(Validate(graph));
  const StorageMap storage = MapStorage(graph);
  const std::vector<std::vector<int>> readers = Readers(graph, storage);
  const int count = static_cast<int>(graph.operations.size());
  Profile profile;
  profile.operators.resize(graph.operators);
  profile.segments.resize(graph.segments);
  std::vector<std::optional<int>> operator_of;
  std::vector<std::optional<int>> segment_of;
  for (int i = 0; i < count; ++i) {
    const Operation& it = graph.operations[i];
    const Row row = MakeRow(graph, storage, i, device);
    profile.operations.push_back(row);
    Add(row, profile.operators[it.op]);
    if (it.segment.has_value()) Add(row, profile.segments[*it.segment]);
    Add(row, profile.total);
    operator_of.push_back(it.op);
    segment_of.push_back(it.segment);
  }
  const auto fill = [&](const std::vector<std::optional<int>>& set_of,
                        std::vector<Row>& rows) {
    const std::vector<Memories> memories = MeasureMemories(
        graph, storage, readers, set_of, static_cast<int>(rows.size()));
    for (size_t i = 0; i < rows.size(); ++i) rows[i].memories = memories[i];
  };
  fill(operator_of, profile.operators);
  fill(segment_of, profile.segments);
  std::vector<Row> step(1);
  fill(std::vector<std::optional<int>>(count, 0), step);
  profile.total.memories = step[0].memories;
  profile.footprint = Measure(graph, storage, readers);
  return profile;
}

}  // namespace meshwright::symbolic
