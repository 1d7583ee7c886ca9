// FindFault: which results of a worker are believed.
//
// Concept: rows are shared, so figures that no device can have measured are
// turned away where they come in. The rule is the store's for its rows
// (profiledb/store/check_row.h), and a few more for what no store gets to see.
// A program that is only compiled has no times; the outputs of a comparison may
// differ by infinity; a transient failure says nothing.
// In -> Out: a program and what a worker says of it -> what is wrong, empty
// where nothing is. Threads: pure function.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_CHECK_RESULT_H_
#define MESHWRIGHT_COORDINATOR_JOBS_CHECK_RESULT_H_

#include <string>

#include "proto/v1/job.pb.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::jobs {

std::string FindFault(const v1::Program& program,
                      const v1::ProfileResult& result);

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_CHECK_RESULT_H_
