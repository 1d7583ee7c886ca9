// MeasureWithProgress: a measurement whose programs are counted for people.
//
// Threads and errors: those of Measurer::Measure.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_PROGRESS_H_
#define MESHWRIGHT_COORDINATOR_JOBS_PROGRESS_H_

#include "absl/status/status.h"
#include "coordinator/jobs/measurer.h"
#include "proto/v1/job.pb.h"

namespace meshwright::jobs {

// Says when a program is compiled or measured, and after each result how many
// there are.
absl::Status MeasureWithProgress(Measurer* measurer,
                                 const v1::RunnerRequest& request,
                                 const Measurer::OnResult& on_result,
                                 const ProgressFunction& on_progress);

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_PROGRESS_H_
