#include "cli/drift.h"

#include <algorithm>

namespace meshwright::cli {

std::vector<Anchor> ChooseAnchors(
    const service::MeasuredStep& step,
    const std::vector<exporting::SegmentChoice>& plans) {
  std::map<int, double> runs;  // by program of the space
  for (const exporting::SegmentChoice& plan : plans) {
    for (size_t segment = 0; segment < plan.size(); ++segment) {
      const int type = step.analysis.type_of_segment[segment];
      const space::Configuration& it =
          step.space.types[type].configurations[plan[segment]];
      if (it.program < 0) continue;
      runs[it.program] += it.weight;
      for (const space::Correction& correction : it.corrections) {
        runs[correction.program] += correction.weight;
      }
    }
  }
  std::vector<Anchor> anchors;
  for (const auto& [index, times] : runs) {
    const v1::Program& program = step.space.programs[index];
    const auto row = step.results.find(program.key());
    if (row == step.results.end() || row->second.outcome() != v1::MEASURED ||
        times <= 0) {
      continue;
    }
    const double once =
        static_cast<double>(row->second.measurement().minimum_ns());
    anchors.push_back({program, times * once, times});
    anchors.back().program.set_timed_only(true);
  }
  std::stable_sort(anchors.begin(), anchors.end(),
                   [](const Anchor& a, const Anchor& b) {
                     return a.profiled_ns > b.profiled_ns;
                   });
  if (anchors.size() > kMostAnchors) anchors.resize(kMostAnchors);
  return anchors;
}

std::optional<double> Drift(
    const std::vector<Anchor>& anchors,
    const std::map<std::string, v1::ProfileResult>& results) {
  double now = 0;
  double then = 0;
  for (const Anchor& anchor : anchors) {
    const auto found = results.find(anchor.program.key());
    if (found == results.end() || found->second.outcome() != v1::MEASURED) {
      continue;
    }
    now += anchor.runs *
           static_cast<double>(found->second.measurement().median_ns());
    then += anchor.profiled_ns;
  }
  if (then <= 0) return std::nullopt;
  return now / then;
}

}  // namespace meshwright::cli
