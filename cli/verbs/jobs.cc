#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/security_flags.h"
#include "cli/text/format.h"
#include "cli/text/json.h"
#include "cli/text/table.h"
#include "cli/verbs/context.h"
#include "coordinator/service/planning_client.h"

namespace meshwright::cli {
namespace {

std::string FormatJobs(const v1::ListJobsResponse& jobs) {
  std::vector<TableRow> rows;
  for (const v1::JobSummary& job : jobs.jobs()) {
    rows.push_back({job.id(), job.state(),
                    absl::StrCat(job.finished(), "/", job.programs()),
                    absl::StrCat(job.failed()),
                    FormatSeconds(job.age_seconds()), job.worker_id()});
  }
  return FormatTable({{"job", Align::kLeft},
                      {"state", Align::kLeft},
                      {"programs"},
                      {"failed"},
                      {"age"},
                      {"worker", Align::kLeft}},
                     rows);
}

std::string FormatWorkers(const v1::ListWorkersResponse& workers) {
  std::vector<TableRow> rows;
  for (const v1::WorkerSummary& worker : workers.workers()) {
    rows.push_back({worker.id(), worker.state(), worker.platform(),
                    absl::StrCat(worker.device_count()),
                    absl::StrCat(worker.programs_measured()),
                    FormatSeconds(worker.seen_seconds_ago())});
  }
  return FormatTable({{"worker", Align::kLeft},
                      {"state", Align::kLeft},
                      {"platform", Align::kLeft},
                      {"devices"},
                      {"measured"},
                      {"last seen"}},
                     rows);
}

struct TableFlags {
  std::string address = kDefaultAddress;
  base::ChannelSecurity security;
};

// Asks the coordinator and prints its answer.
template <typename Response>
absl::Status List(const Context& context, const TableFlags& flags,
                  absl::StatusOr<Response> (service::PlanningClient::*ask)(),
                  std::string (*format)(const Response&)) {
  ASSIGN_OR_RETURN(const auto client,
                   service::PlanningClient::Connect(
                       flags.address, base::WithEnvironment(flags.security)));
  ASSIGN_OR_RETURN(const Response response, ((*client).*ask)());
  *context.out << (context.json ? ToJson(response).dump(2) + "\n"
                                : format(response));
  return absl::OkStatus();
}

template <typename Response>
void AddList(CLI::App& app, Context& context, const std::string& noun,
             const std::string& description,
             absl::StatusOr<Response> (service::PlanningClient::*ask)(),
             std::string (*format)(const Response&)) {
  CLI::App* const parent = app.add_subcommand(noun, description);
  parent->require_subcommand(0, 1);
  const auto flags = std::make_shared<TableFlags>();
  CLI::App* const verb = AddVerb(*parent, context, "list", description,
                                 [&context, flags, ask, format] {
                                   return List(context, *flags, ask, format);
                                 });
  verb->add_option("--coordinator", flags->address, "HOST:PORT")
      ->capture_default_str();
  AddClientSecurityFlags(*verb, &flags->security);
}

}  // namespace

void AddJobsVerb(CLI::App& app, Context& context) {
  AddList(app, context, "jobs", "list the jobs of a coordinator",
          &service::PlanningClient::ListJobs, FormatJobs);
}

void AddWorkersVerb(CLI::App& app, Context& context) {
  AddList(app, context, "workers", "list the workers of a coordinator",
          &service::PlanningClient::ListWorkers, FormatWorkers);
}

}  // namespace meshwright::cli
