// SegmentTables: what two segments cost one another, by their configurations.
//
// Concept: a table's rows are the states of the first segment's type in the
// problem, its columns those of the second's. An entry is the measured time of
// resharding the tensors of a boundary. An entry is empty where the pair is
// forbidden because a program failed or a shared parameter would be split in
// two ways. Several reasons between one pair of segments add up in one table.
// Shapes: `usable[t]` maps states of type t to configurations of the space.
// Errors: none; a missing row forbids its pairs.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_SEGMENT_TABLES_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_SEGMENT_TABLES_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/configurations/parameter_links.h"
#include "coordinator/space/profile_space.h"
#include "planner/problem/plan_problem.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::estimation {

void Forbid(int row, int column, problem::Table& table);
problem::Table Transpose(const problem::Table& table);
// A pair that either forbids stays forbidden. The same program may be in both,
// so that their noise adds up.
void AddTo(problem::Table& sum, const problem::Table& table);

class SegmentTables {
 public:
  // The references outlive it.
  SegmentTables(const segmenter::Analysis& analysis,
                const space::ProfileSpace& space, const store::Results& results,
                const std::vector<std::vector<int>>& usable)
      : analysis_(analysis),
        space_(space),
        results_(results),
        usable_(usable) {}

  // Segments; all pairs are free.
  problem::Table BuildFreeTable(segmenter::SegmentIndex from,
                                segmenter::SegmentIndex to) const;
  // `boundary`: index in the space.
  problem::Table BuildBoundaryTable(segmenter::SegmentIndex from,
                                    segmenter::SegmentIndex to,
                                    int boundary) const;
  // The table leads from the earlier of the two segments to the later.
  void ForbidSplits(const space::SharedParameter& shared,
                    problem::Table& table) const;
  // Forbids the pairs that split the linked parameter in two ways. The table
  // leads from `link.from_segment` to `link.to_segment`.
  void ForbidUnlike(const space::ParameterLink& link,
                    problem::Table& table) const;

 private:
  const std::vector<int>& Usable(segmenter::SegmentIndex segment) const {
    return usable_[analysis_.type_of_segment[segment]];
  }
  // By state how it splits what a link shares.
  std::vector<std::vector<space::Sharding>> SplitsAt(
      segmenter::SegmentIndex segment, const std::vector<int>& values) const;

  const segmenter::Analysis& analysis_;
  const space::ProfileSpace& space_;
  const store::Results& results_;
  const std::vector<std::vector<int>>& usable_;
};

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_SEGMENT_TABLES_H_
