#include "coordinator/export/notes.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::exporting {

namespace {

using segmenter::Analysis;
using segmenter::SegmentTypeId;

std::string DescribeLoop(const Analysis& analysis,
                         const space::SegmentType& type, SegmentTypeId number) {
  const segmenter::Segment& it = analysis.plan.segments[analysis.types[number]];
  return absl::StrCat(
      "strategies: the loop of blocks ", it.first_block, " to ",
      it.last_block - 1, " has ", type.all_combinations,
      " combinations of them, of which the ", type.combinations,
      " likeliest are searched; pins of its blocks choose others");
}

}  // namespace

std::vector<std::string> ListNotes(const segmenter::Analysis& analysis,
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
  std::vector<std::string> notes = analysis.passes.cut_short;
  const std::vector<std::string>& calls = analysis.module.host_calls;
  if (!calls.empty()) {
    notes.push_back(absl::StrCat(
        "the step calls the host (jax.debug.print or another callback) ",
        calls.size(), calls.size() == 1 ? " time, at " : " times, first at ",
        calls.front(), "; what is measured and exported leaves that out"));
  }
  const std::vector<std::string>& own = analysis.module.constraints;
  if (!own.empty()) {
    notes.push_back(absl::StrCat(
        "the step's own sharding constraints (with_sharding_constraint) are "
        "left out, since the plan chooses them: ",
        own.size(), own.size() == 1 ? ", at " : ", first at ", own.front()));
  }
  for (const auto* more : {&analysis.cut_short, &analysis.plan.cut_short}) {
    notes.insert(notes.end(), more->begin(), more->end());
  }
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
    notes.push_back(absl::StrCat(segmenter::NameSwitch(which), ": ",
                                 arguments.size(),
                                 " parameters stay whole, for no dimension of "
                                 "theirs divides: arguments ",
                                 absl::StrJoin(shown, ", ")));
  }
  for (SegmentTypeId t; t < space.types.size(); ++t) {
    if (space.types[t].combinations < space.types[t].all_combinations) {
      notes.push_back(DescribeLoop(analysis, space.types[t], t));
    }
    if (!space.types[t].cut_short.empty()) {
      notes.push_back(absl::StrCat("segment ", analysis.types[t].value(), ": ",
                                   space.types[t].cut_short));
    }
  }
  return notes;
}

}  // namespace meshwright::exporting
