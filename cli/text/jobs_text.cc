#include "cli/text/jobs_text.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/enum_words.h"
#include "cli/text/format.h"
#include "cli/text/table.h"
#include "cli/text/tame.h"

namespace meshwright::cli {
namespace {

std::string FormatProgramState(const v1::JobProgram& program) {
  return base::ToWords(program.state() == v1::JobProgram::DONE
                           ? v1::Outcome_Name(program.outcome())
                           : v1::JobProgram::State_Name(program.state()));
}

}  // namespace

std::string FormatState(v1::JobSummary::State state) {
  return base::ToWords(v1::JobSummary::State_Name(state));
}

std::string FormatState(v1::WorkerSummary::State state) {
  if (state == v1::WorkerSummary::STATE_UNSPECIFIED) return "unknown";
  return base::ToWords(v1::WorkerSummary::State_Name(state));
}

std::string FormatJobs(const std::vector<v1::JobSummary>& jobs) {
  std::vector<TableRow> rows;
  rows.reserve(jobs.size());
  for (const v1::JobSummary& job : jobs) {
    rows.push_back({job.id(), job.owner(), job.model(),
                    FormatState(job.state()), FormatSeconds(job.age_seconds()),
                    absl::StrCat(job.finished(), "/", job.programs()),
                    absl::StrCat(job.failed()), job.plan(), job.worker_id(),
                    job.reason()});
  }
  return FormatTable({{"job", Align::kLeft},
                      {"owner", Align::kLeft},
                      {"model", Align::kLeft},
                      {"state", Align::kLeft},
                      {"elapsed"},
                      {"done"},
                      {"failed"},
                      {"plan", Align::kLeft},
                      {"worker", Align::kLeft},
                      {"reason", Align::kLeft}},
                     rows);
}

std::string FormatJob(const v1::JobDetails& details) {
  std::vector<TableRow> rows;
  rows.reserve(details.programs_size());
  for (const v1::JobProgram& program : details.programs()) {
    rows.push_back({program.label().empty() ? program.key().substr(0, 12)
                                            : program.label(),
                    FormatProgramState(program), program.worker(),
                    program.reason()});
  }
  return absl::StrCat(FormatJobs({details.job()}), "\n",
                      FormatTable({{"program", Align::kLeft},
                                   {"state", Align::kLeft},
                                   {"worker", Align::kLeft},
                                   {"reason", Align::kLeft}},
                                  rows));
}

std::string FormatJobLog(const v1::JobDetails& details) {
  std::string text;
  for (const v1::JobLine& line : details.log()) {
    // What a process printed has several lines.
    std::vector<std::string> lines = absl::StrSplit(line.text(), '\n');
    for (std::string& it : lines) it = Tame(std::move(it));
    absl::StrAppendFormat(&text, "%10.3f s  %s\n", line.seconds(),
                          absl::StrJoin(lines, "\n"));
  }
  return text;
}

std::string FormatWorkers(const std::vector<v1::WorkerSummary>& workers) {
  std::vector<TableRow> rows;
  rows.reserve(workers.size());
  for (const v1::WorkerSummary& worker : workers) {
    rows.push_back({worker.id(), FormatState(worker.state()), worker.platform(),
                    absl::StrCat(worker.device_count()),
                    absl::StrCat(worker.programs_measured()),
                    FormatSeconds(worker.seen_seconds_ago()), worker.job_id(),
                    worker.reason()});
  }
  return FormatTable({{"worker", Align::kLeft},
                      {"state", Align::kLeft},
                      {"platform", Align::kLeft},
                      {"devices"},
                      {"measured"},
                      {"last seen"},
                      {"job", Align::kLeft},
                      {"reason", Align::kLeft}},
                     rows);
}

}  // namespace meshwright::cli
