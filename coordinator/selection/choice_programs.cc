#include "coordinator/selection/choice_programs.h"

namespace meshwright::selection {

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
  std::set<space::ProgramId> programs;
  for (size_t s = 0; s < choice.size(); ++s) {
    const auto& type = space.types[analysis.type_of_segment[s]];
    const std::vector<space::ProgramId> own =
        ListPrograms(type.configurations[choice[s]]);
    programs.insert(own.begin(), own.end());
  }
  for (const auto& [pair, boundary] : space.edges) {
    const auto& own = space.boundaries[boundary]
                          .programs[choice[pair.first]][choice[pair.second]];
    programs.insert(own.begin(), own.end());
  }
  return programs;
}

}  // namespace meshwright::selection
