#include "coordinator/estimation/segment_tables.h"

#include <algorithm>
#include <utility>

#include "coordinator/estimation/measured_cost.h"
#include "coordinator/estimation/noise_interval.h"
#include "profiledb/store/row_time.h"

namespace meshwright::estimation {

using segmenter::SegmentIndex;

void Forbid(int row, int column, problem::Table& table) {
  const size_t at = static_cast<size_t>(row) * table.columns + column;
  table.entries[at].reset();
  table.noise[at] = {};
}

problem::Table Transpose(const problem::Table& table) {
  problem::Table turned;
  turned.rows = table.columns;
  turned.columns = table.rows;
  for (int b = 0; b < table.columns; ++b) {
    for (int a = 0; a < table.rows; ++a) {
      turned.entries.push_back(
          table.entries[static_cast<size_t>(a) * table.columns + b]);
      turned.noise.push_back(table.NoiseAt(a, b));
    }
  }
  return turned;
}

void AddTo(problem::Table& sum, const problem::Table& table) {
  for (size_t i = 0; i < sum.entries.size(); ++i) {
    auto& entry = sum.entries[i];
    if (!entry.has_value() || !table.entries[i].has_value()) {
      entry.reset();
      sum.noise[i] = {};
    } else {
      *entry = std::min(*entry + *table.entries[i], kLongestCost);
      problem::NoiseInterval& noise = sum.noise[i];
      noise.below = std::min(noise.below + table.noise[i].below, kLongestCost);
      noise.above = std::min(noise.above + table.noise[i].above, kLongestCost);
    }
  }
}

problem::Table SegmentTables::BuildFreeTable(SegmentIndex from,
                                             SegmentIndex to) const {
  problem::Table table;
  table.rows = static_cast<int>(Usable(from).size());
  table.columns = static_cast<int>(Usable(to).size());
  table.entries.assign(static_cast<size_t>(table.rows) * table.columns,
                       problem::Picoseconds(0));
  table.noise.resize(table.entries.size());
  return table;
}

problem::Table SegmentTables::BuildBoundaryTable(SegmentIndex from,
                                                 SegmentIndex to,
                                                 int boundary) const {
  problem::Table table = BuildFreeTable(from, to);
  const space::Boundary& it = space_.boundaries[boundary];
  const int64_t trips = segmenter::CountTripsAround(
      analysis_,
      analysis_.graphs[from].values[it.tensors[0].from_value].origin);
  for (int a = 0; a < table.rows; ++a) {
    for (int b = 0; b < table.columns; ++b) {
      const size_t at = static_cast<size_t>(a) * table.columns + b;
      auto& entry = table.entries[at];
      double nanoseconds = 0;
      IndependentNoise noise;
      for (const space::ProgramId program :
           it.programs[Usable(from)[a]][Usable(to)[b]]) {
        const v1::ProfileResult* row =
            FindMeasuredRow(space_, results_, program);
        if (row == nullptr) {
          entry.reset();
          break;
        }
        nanoseconds +=
            static_cast<double>(store::GetTimeNs(row->measurement())) *
            static_cast<double>(trips);
        noise.Add(EstimateNoiseNs(row->measurement()) *
                  static_cast<double>(trips));
      }
      if (!entry.has_value()) continue;
      *entry = ToCost(nanoseconds);
      table.noise[at] = noise.Around(*entry);
    }
  }
  return table;
}

void SegmentTables::ForbidSplits(const space::SharedParameter& shared,
                                 problem::Table& table) const {
  const std::vector<int>& ends = Usable(shared.end_segment);
  const std::vector<int>& blocks = Usable(shared.block_segment);
  const bool end_first = shared.end_segment < shared.block_segment;
  for (int i = 0; i < static_cast<int>(ends.size()); ++i) {
    for (int j = 0; j < static_cast<int>(blocks.size()); ++j) {
      if (SplitAlike(analysis_, space_, shared, ends[i], blocks[j])) continue;
      Forbid(end_first ? i : j, end_first ? j : i, table);
    }
  }
}

std::vector<std::vector<space::Sharding>> SegmentTables::SplitsAt(
    SegmentIndex segment, const std::vector<int>& values) const {
  const auto& configurations =
      space_.types[analysis_.type_of_segment[segment]].configurations;
  std::vector<std::vector<space::Sharding>> splits;
  for (const int configuration : Usable(segment)) {
    splits.push_back(GetSplits(analysis_, segment,
                               configurations[configuration], values,
                               space_.context.mesh));
  }
  return splits;
}

void SegmentTables::ForbidUnlike(const space::ParameterLink& link,
                                 problem::Table& table) const {
  std::vector<int> values[2];
  for (const auto& [from, to] : link.values) {
    values[0].push_back(from);
    values[1].push_back(to);
  }
  const auto rows = SplitsAt(link.from_segment, values[0]);
  const auto columns = SplitsAt(link.to_segment, values[1]);
  for (int a = 0; a < table.rows; ++a) {
    for (int b = 0; b < table.columns; ++b) {
      if (rows[a] != columns[b]) Forbid(a, b, table);
    }
  }
}

}  // namespace meshwright::estimation
