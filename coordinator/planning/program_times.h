// ProgramTimes: the times that a plan's figures are sums of, kept in its file.
//
// Concept: rows of the store change after a plan was made. They heal, a
// validation adds measurements, and every plan has a time base of its own. So a
// plan names what each measured program of its space took, on its time base.
// A validation sums baselines and random plans from these times: their
// predictions are as old as the plan's, and of the same base.
// In -> Out: a step -> the plan's times; a plan -> a step with these times.
// Units: nanoseconds. Threads: pure functions.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_PROGRAM_TIMES_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_PROGRAM_TIMES_H_

#include <set>
#include <string>
#include <vector>

#include "coordinator/planning/measured_step.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::planning {

// Adds the times of those of `programs` that were measured, each key once.
void AddProgramTimes(const std::vector<const v1::Program*>& programs,
                     const MeasuredStep& step, v1::Plan& plan);
// Of all programs of the space.
void AddProgramTimes(const MeasuredStep& step, v1::Plan& plan);

// Keys of the programs that the plan has times of. Here and below, times that
// no row could have are none.
std::set<std::string> ListTimedKeys(const v1::Plan& plan);

// Brings the step's rows, as the store has them, to the plan's time base. Of a
// plan without anchors they stay on their own.
void UseTimeBase(const v1::Plan& plan, MeasuredStep& step);

// The times of the plan take the place of those of the rows.
void UseProgramTimes(const v1::Plan& plan, store::Results& rows);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_PROGRAM_TIMES_H_
