#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "cli/flags/defaults.h"
#include "cli/text/json.h"
#include "cli/verbs/context.h"
#include "coordinator/service/planning_client.h"

namespace meshwright::cli {
namespace {

absl::Status ListJobs(const Context& context, const std::string& address) {
  ASSIGN_OR_RETURN(const auto client,
                   service::PlanningClient::Connect(address));
  ASSIGN_OR_RETURN(const v1::ListJobsResponse jobs, client->ListJobs());
  if (context.json) {
    *context.out << ToJson(jobs).dump(2) << "\n";
    return absl::OkStatus();
  }
  *context.out << absl::StreamFormat("%-10s %-8s %9s %7s %8s  %s\n", "job",
                                     "state", "programs", "failed", "age",
                                     "worker");
  for (const v1::JobSummary& job : jobs.jobs()) {
    *context.out << absl::StreamFormat("%-10s %-8s %4d/%4d %7d %7.0fs  %s\n",
                                       job.id(), job.state(), job.finished(),
                                       job.programs(), job.failed(),
                                       job.age_seconds(), job.worker_id());
  }
  return absl::OkStatus();
}

absl::Status ListWorkers(const Context& context, const std::string& address) {
  ASSIGN_OR_RETURN(const auto client,
                   service::PlanningClient::Connect(address));
  ASSIGN_OR_RETURN(const v1::ListWorkersResponse workers,
                   client->ListWorkers());
  if (context.json) {
    *context.out << ToJson(workers).dump(2) << "\n";
    return absl::OkStatus();
  }
  *context.out << absl::StreamFormat("%-24s %-9s %-9s %7s %9s %9s\n", "worker",
                                     "state", "platform", "devices", "measured",
                                     "seen");
  for (const v1::WorkerSummary& worker : workers.workers()) {
    *context.out << absl::StreamFormat(
        "%-24s %-9s %-9s %7d %9d %8.0fs\n", worker.id(), worker.state(),
        worker.platform(), worker.device_count(), worker.programs_measured(),
        worker.seen_seconds_ago());
  }
  return absl::OkStatus();
}

using ListFunction = absl::Status (*)(const Context&, const std::string&);

void AddList(CLI::App& app, Context& context, const std::string& noun,
             const std::string& description, ListFunction list) {
  CLI::App* const parent = app.add_subcommand(noun, description);
  parent->require_subcommand(0, 1);
  const auto address = std::make_shared<std::string>(kDefaultAddress);
  CLI::App* const verb =
      AddVerb(*parent, context, "list", description,
              [&context, address, list] { return list(context, *address); });
  verb->add_option("--coordinator", *address, "HOST:PORT")
      ->capture_default_str();
}

}  // namespace

void AddJobsVerb(CLI::App& app, Context& context) {
  AddList(app, context, "jobs", "the jobs of a coordinator", ListJobs);
}

void AddWorkersVerb(CLI::App& app, Context& context) {
  AddList(app, context, "workers", "the workers of a coordinator", ListWorkers);
}

}  // namespace meshwright::cli
