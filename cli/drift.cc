#include "cli/drift.h"

#include <algorithm>
#include <set>

#include "coordinator/service/selection.h"

namespace meshwright::cli {

std::vector<Anchor> ChooseAnchors(
    const service::MeasuredStep& step,
    const std::vector<exporting::SegmentChoice>& plans) {
  std::vector<Anchor> anchors;
  std::set<std::string> taken;
  const auto take = [&](int index) {
    const v1::Program& program = step.space.programs[index];
    const auto row = step.results.find(program.key());
    if (row == step.results.end() || row->second.outcome() != v1::MEASURED) {
      return;
    }
    if (!taken.insert(program.key()).second) return;
    Anchor& anchor = anchors.emplace_back();
    anchor.program = program;
    anchor.program.set_timed_only(true);
    anchor.profiled_ns = row->second.measurement().minimum_ns();
  };
  for (const exporting::SegmentChoice& plan : plans) {
    for (size_t segment = 0; segment < plan.size(); ++segment) {
      const int type = step.analysis.type_of_segment[segment];
      const auto& configurations = step.space.types[type].configurations;
      for (const int program :
           service::ProgramsOf(configurations[plan[segment]])) {
        if (static_cast<int>(anchors.size()) == kMostAnchors) return anchors;
        take(program);
      }
    }
  }
  return anchors;
}

std::optional<double> Drift(
    const std::map<std::string, int64_t>& profiled_ns,
    const std::map<std::string, v1::ProfileResult>& results) {
  std::vector<double> ratios;
  for (const auto& [key, then] : profiled_ns) {
    const auto now = results.find(key);
    if (now == results.end() || now->second.outcome() != v1::MEASURED ||
        then <= 0) {
      continue;
    }
    ratios.push_back(
        static_cast<double>(now->second.measurement().minimum_ns()) /
        static_cast<double>(then));
  }
  if (ratios.empty()) return std::nullopt;
  std::sort(ratios.begin(), ratios.end());
  const size_t middle = ratios.size() / 2;
  return ratios.size() % 2 == 1 ? ratios[middle]
                                : (ratios[middle - 1] + ratios[middle]) / 2;
}

}  // namespace meshwright::cli
