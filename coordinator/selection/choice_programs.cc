#include "coordinator/selection/choice_programs.h"

namespace meshwright::selection {

using segmenter::SegmentIndex;

std::vector<space::ProgramId> ListPrograms(
    const space::Configuration& configuration) {
  if (!configuration.program.has_value()) return {};
  std::vector<space::ProgramId> programs = {*configuration.program};
  for (const space::Correction& correction : configuration.corrections) {
    programs.push_back(correction.program);
  }
  return programs;
}

std::set<space::ProgramId> ListChoicePrograms(
    const segmenter::Analysis& analysis, const space::ProfileSpace& space,
    const space::SegmentChoice& choice) {
  return ListRunPrograms(analysis, space, SegmentIndex(0), choice);
}

std::set<space::ProgramId> ListRunPrograms(const segmenter::Analysis& analysis,
                                           const space::ProfileSpace& space,
                                           SegmentIndex first,
                                           const std::vector<int>& run) {
  std::set<space::ProgramId> programs;
  const size_t end = first + run.size();
  for (SegmentIndex s = first; s < end; ++s) {
    const auto& type = space.types[analysis.type_of_segment[s]];
    const std::vector<space::ProgramId> own =
        ListPrograms(type.configurations[run[s - first]]);
    programs.insert(own.begin(), own.end());
  }
  const auto is_inside = [&](SegmentIndex segment) {
    return segment >= first && segment < end;
  };
  for (const auto& [pair, boundary] : space.edges) {
    if (!is_inside(pair.first) || !is_inside(pair.second)) continue;
    const auto& own =
        space.boundaries[boundary]
            .programs[run[pair.first - first]][run[pair.second - first]];
    programs.insert(own.begin(), own.end());
  }
  return programs;
}

}  // namespace meshwright::selection
