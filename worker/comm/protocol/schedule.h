// ComputeSchedule: when each task of a plan runs, by the model alone.
//
// In → Out: a valid plan → start and end per task, and the last end. The rule
// is that of plan.h: in the given order, each as soon as its ports are free.
// Units: seconds. With t = size x beta, a broadcast takes t whatever its
// receivers. send_receive takes t per receiver,
// local_all_gather t per node, global_all_gather 2 t (paper, section 3.1; with
// one receiver t). Alpha is left out: these are bounds to hold runs against.
// Source: papers/cross_mesh_resharding.txt, Eqs. 1-3 and section 3.1.
#ifndef MESHWRIGHT_WORKER_COMM_PROTOCOL_SCHEDULE_H_
#define MESHWRIGHT_WORKER_COMM_PROTOCOL_SCHEDULE_H_

#include <vector>

#include "worker/comm/protocol/plan.h"

namespace meshwright::worker::comm {

struct Schedule {
  struct Slot {
    double start_seconds = 0;
    double end_seconds = 0;
  };
  std::vector<Slot> slots;  // by task
  double makespan_seconds = 0;
};

Schedule ComputeSchedule(const Plan& plan);

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_PROTOCOL_SCHEDULE_H_
