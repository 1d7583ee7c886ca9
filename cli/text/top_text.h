// The screen of `meshwright top`: what a coordinator does at a moment.
//
// Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_CLI_TEXT_TOP_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_TOP_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/time/time.h"
#include "proto/v1/plans.pb.h"
#include "proto/v1/services.pb.h"

namespace meshwright::cli {

struct TopFrame {
  std::string address;
  absl::Time asked;
  v1::ListWorkersResponse workers;
  v1::ListJobsResponse jobs;
  v1::ListPlansResponse plans;  // that have not ended, the newest first
};

// Counts, then the workers with what they run, then the plans.
std::string FormatTop(const TopFrame& frame);

// {"workers", "jobs", "plans"}, without the jobs that are done.
nlohmann::ordered_json TopToJson(const TopFrame& frame);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_TOP_TEXT_H_
