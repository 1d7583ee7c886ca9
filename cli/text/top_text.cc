#include "cli/text/top_text.h"

#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/text/format.h"
#include "cli/text/jobs_text.h"
#include "cli/text/json.h"
#include "cli/text/plans_text.h"
#include "cli/text/table.h"

namespace meshwright::cli {
namespace {

using Counts = std::map<std::string, int>;

std::string Count(const char* things, const Counts& counts) {
  const std::string listed =
      absl::StrJoin(counts, ", ", [](std::string* out, const auto& it) {
        absl::StrAppend(out, it.second, " ", it.first);
      });
  return absl::StrCat(things, ": ", listed.empty() ? "none" : listed, "\n");
}

bool IsDone(const v1::JobSummary& job) {
  return job.state() == v1::JobSummary::DONE;
}

std::string FormatCounts(const TopFrame& frame) {
  Counts workers, plans, jobs;
  int64_t programs = 0, finished = 0;
  for (const v1::WorkerSummary& it : frame.workers.workers()) {
    ++workers[FormatState(it.state())];
  }
  for (const v1::PlanRecord& it : frame.plans.plans()) {
    ++plans[FormatPlanState(it.state())];
  }
  for (const v1::JobSummary& it : frame.jobs.jobs()) {
    if (IsDone(it)) continue;
    ++jobs[FormatState(it.state())];
    programs += it.programs();
    finished += it.finished();
  }
  return absl::StrCat(Count("workers", workers), Count("plans", plans),
                      Count("jobs", jobs), "programs of these jobs: ", finished,
                      " of ", programs, " done\n");
}

std::string FormatBusyWorkers(const TopFrame& frame) {
  std::map<std::string, const v1::JobSummary*> jobs;
  for (const v1::JobSummary& it : frame.jobs.jobs()) jobs[it.id()] = &it;
  const v1::JobSummary none;
  std::vector<TableRow> rows;
  for (const v1::WorkerSummary& worker : frame.workers.workers()) {
    const auto found = jobs.find(worker.job_id());
    const bool runs = found != jobs.end();
    const v1::JobSummary& job = runs ? *found->second : none;
    rows.push_back(
        {worker.id(), FormatState(worker.state()), worker.job_id(), job.plan(),
         job.model(),
         runs ? absl::StrCat(job.finished(), "/", job.programs()) : "",
         absl::StrCat(worker.programs_measured()),
         FormatSeconds(worker.seen_seconds_ago()), worker.reason()});
  }
  return FormatTable({{"worker", Align::kLeft},
                      {"state", Align::kLeft},
                      {"job", Align::kLeft},
                      {"plan", Align::kLeft},
                      {"model", Align::kLeft},
                      {"done"},
                      {"measured"},
                      {"last seen"},
                      {"reason", Align::kLeft}},
                     rows);
}

}  // namespace

std::string FormatTop(const TopFrame& frame) {
  std::string text = absl::StrCat(
      "coordinator ", frame.address, " at ",
      absl::FormatTime("%H:%M:%S", frame.asked, absl::LocalTimeZone()), "\n");
  absl::StrAppend(&text, FormatCounts(frame));
  if (!frame.workers.workers().empty()) {
    absl::StrAppend(&text, "\n", FormatBusyWorkers(frame));
  }
  if (!frame.plans.plans().empty()) {
    absl::StrAppend(
        &text, "\n",
        FormatPlans({frame.plans.plans().begin(), frame.plans.plans().end()},
                    frame.asked));
  }
  if (!frame.plans.next_page_token().empty()) {
    absl::StrAppend(&text, "and older plans; see meshwright plans list\n");
  }
  return text;
}

nlohmann::ordered_json TopToJson(const TopFrame& frame) {
  v1::ListJobsResponse jobs;
  for (const v1::JobSummary& it : frame.jobs.jobs()) {
    if (!IsDone(it)) *jobs.add_jobs() = it;
  }
  nlohmann::ordered_json json;
  json["workers"] = ToJson(frame.workers)["workers"];
  json["jobs"] = ToJson(jobs)["jobs"];
  json["plans"] = nlohmann::ordered_json::array();
  for (const v1::PlanRecord& it : frame.plans.plans()) {
    json["plans"].push_back(PlanRecordToJson(it, frame.asked, false));
  }
  return json;
}

}  // namespace meshwright::cli
