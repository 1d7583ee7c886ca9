// Halves: segments cut in two, so that few programs estimate many.
//
// Concept: a segment type of many configurations is cut between two of its
// blocks, where one activation crosses. Its halves have the square root of its
// configurations each. The time of a whole configuration is about that of its
// two halves, plus the resharding between them where they disagree.
//
// Of a half in a loop only the program of one trip is measured.
//
//     rows, columns | columns, contraction
//     first half      second half          9 + 9 programs instead of 81
//
// In -> Out: analysis and profile space -> the profile space of the step cut
// once more, and for every configuration the two of the halves.
// Shapes: `types[t]` belongs to type t of the whole space.
// Source: docs/decisions/pruning-by-halves.md.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_HALVES_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_HALVES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/estimation/estimate.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::estimation {

struct HalfConfigurations {
  int first = 0;
  int second = 0;
};

struct HalvedType {
  segmenter::SegmentTypeId first;  // of Halves::space_
  segmenter::SegmentTypeId second;
  int boundary = 0;   // index of Halves::space_.boundaries
  int64_t trips = 1;  // how often a step crosses it
  // By configuration of the whole: those of the halves; none where one differs
  // from an earlier one by its switch alone.
  std::vector<std::optional<HalfConfigurations>> configurations;
};

class Halves {
 public:
  // Cuts the types with `cut[type]`; one that has no boundary of a single
  // activation stays whole.
  Halves(const segmenter::Analysis& analysis, const space::ProfileSpace& space,
         const std::vector<bool>& cut);

  bool IsCut(segmenter::SegmentTypeId type) const {
    return types_[type].has_value();
  }

  // Distinct programs of the halves and of the resharding between them.
  const std::vector<v1::Program>& programs() const { return programs_; }

  // The summed time of a configuration of a type that was cut. nullopt where
  // one of its programs was not measured, or halves do not estimate it.
  std::optional<Estimate> Sum(segmenter::SegmentTypeId type, int configuration,
                              const store::Results& results) const;

  // The row of one of its programs that failed, if any did.
  const v1::ProfileResult* Failure(segmenter::SegmentTypeId type,
                                   int configuration,
                                   const store::Results& results) const;

 private:
  std::vector<space::ProgramId> ListPrograms(segmenter::SegmentTypeId type,
                                             int configuration) const;
  void Pair(const segmenter::Analysis& analysis,
            const space::ProfileSpace& whole, const segmenter::Analysis& halved,
            segmenter::SegmentTypeId type, int blocks);
  void Collect();

  space::ProfileSpace space_;
  // By type of the whole; none where it was not cut.
  std::vector<std::optional<HalvedType>> types_;
  std::vector<v1::Program> programs_;
};

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_HALVES_H_
