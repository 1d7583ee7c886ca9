// ListSchedule: an event-driven schedule. Whenever a port falls free, of the
// jobs that could start the most urgent one does.
//
// Concept: a job is as urgent as the fullest of its ports: what the port has
// still to carry. A port that has to be busy to the end for the bound to be
// met is thus never left to wait for one that has time. Senders are taken from
// those free, the one on which least depends. `noise` blurs urgencies by up to
// so many ticks, so that other seeds give other schedules.
#ifndef MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_LIST_SCHEDULE_H_
#define MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_LIST_SCHEDULE_H_

#include <cstdint>

#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

Order ListSchedule(const Instance& instance, uint64_t seed, Ticks noise);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_LIST_SCHEDULE_H_
