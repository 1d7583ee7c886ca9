#include "coordinator/export/notes.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::exporting {

std::vector<std::string> SwitchNotes(const segmenter::Analysis& analysis,
                                     const space::ProfileSpace& space) {
  constexpr size_t kShown = 8;
  std::map<segmenter::SegmentSwitch, std::set<int64_t>> whole;
  for (size_t s = 0; s < analysis.graphs.size(); ++s) {
    for (const space::KeptWhole& it :
         space.types[analysis.type_of_segment[s]].kept_whole) {
      const ir::ValueId origin = analysis.graphs[s].values[it.value].origin;
      whole[it.segment_switch].insert(
          analysis.module.at(origin).attributes().parameter_number());
    }
  }
  std::vector<std::string> notes;
  for (const auto& [which, arguments] : whole) {
    std::vector<std::string> shown;
    for (int64_t argument : arguments) {
      if (shown.size() == kShown) {
        shown.push_back("...");
        break;
      }
      const ir::ValueId id = analysis.module.parameters[argument];
      shown.push_back(absl::StrCat(
          argument, " [", absl::StrJoin(analysis.module.at(id).shape.dims, ","),
          "]"));
    }
    notes.push_back(absl::StrCat(segmenter::SwitchName(which), ": ",
                                 arguments.size(),
                                 " parameters stay whole, for no dimension of "
                                 "theirs divides: arguments ",
                                 absl::StrJoin(shown, ", ")));
  }
  return notes;
}

}  // namespace meshwright::exporting
