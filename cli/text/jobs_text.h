// Jobs and workers of a coordinator, as tables for people.
//
// Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_CLI_TEXT_JOBS_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_JOBS_TEXT_H_

#include <string>
#include <vector>

#include "proto/v1/reports.pb.h"

namespace meshwright::cli {

// "set aside"
std::string FormatState(v1::JobSummary::State state);
std::string FormatState(v1::WorkerSummary::State state);

std::string FormatJobs(const std::vector<v1::JobSummary>& jobs);
// The job, and its programs.
std::string FormatJob(const v1::JobDetails& details);
// A line for each thing that happened.
std::string FormatJobLog(const v1::JobDetails& details);
std::string FormatWorkers(const std::vector<v1::WorkerSummary>& workers);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_JOBS_TEXT_H_
