#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/flags/security_flags.h"
#include "cli/flags/watch_flag.h"
#include "cli/text/jobs_text.h"
#include "cli/text/json.h"
#include "cli/verbs/verbs.h"
#include "coordinator/client/planning_client.h"

namespace meshwright::cli {
namespace {

using client::PlanningClient;

struct TableFlags {
  std::string address;
  base::ChannelSecurity security;
};

struct WatchedFlags : TableFlags {
  WatchFlag watch;
};

struct OrderFlags : TableFlags {
  std::string name;  // of the job or worker
  std::string reason;
};

absl::StatusOr<std::unique_ptr<PlanningClient>> Connect(
    const TableFlags& flags) {
  return PlanningClient::Connect(flags.address,
                                 base::WithEnvironment(flags.security));
}

// Asks the coordinator and prints its answer.
template <typename Response, typename Ask, typename Format>
absl::Status Print(const Context& context, const TableFlags& flags,
                   const Ask& ask, const Format& format) {
  ASSIGN_OR_RETURN(const auto client, Connect(flags));
  ASSIGN_OR_RETURN(const Response response, ask(*client));
  *context.out << (context.json ? ToJson(response).dump(2) + "\n"
                                : format(response));
  return absl::OkStatus();
}

absl::Status ListJobs(const Context& context, const WatchedFlags& flags) {
  ASSIGN_OR_RETURN(const auto client, Connect(flags));
  return ShowListing(
      *context.out, context.json, flags.watch,
      [&]() -> absl::StatusOr<Listing> {
        ASSIGN_OR_RETURN(const v1::ListJobsResponse listed, client->ListJobs());
        return Listing{FormatJobs({listed.jobs().begin(), listed.jobs().end()}),
                       ToJson(listed)};
      });
}

absl::Status ListWorkers(const Context& context, const WatchedFlags& flags) {
  ASSIGN_OR_RETURN(const auto client, Connect(flags));
  return ShowListing(*context.out, context.json, flags.watch,
                     [&]() -> absl::StatusOr<Listing> {
                       ASSIGN_OR_RETURN(const v1::ListWorkersResponse listed,
                                        client->ListWorkers());
                       return Listing{FormatWorkers({listed.workers().begin(),
                                                     listed.workers().end()}),
                                      ToJson(listed)};
                     });
}

v1::JobRequest MakeJobRequest(const OrderFlags& flags) {
  v1::JobRequest request;
  request.set_job(flags.name);
  request.set_reason(flags.reason);
  return request;
}

absl::Status ShowJob(const Context& context, const OrderFlags& flags,
                     std::string (*format)(const v1::JobDetails&)) {
  return Print<v1::JobDetails>(
      context, flags,
      [&](PlanningClient& client) {
        return client.GetJob(MakeJobRequest(flags));
      },
      format);
}

absl::Status GetJob(const Context& context, const OrderFlags& flags) {
  return ShowJob(context, flags, FormatJob);
}

absl::Status LogJob(const Context& context, const OrderFlags& flags) {
  return ShowJob(context, flags, FormatJobLog);
}

absl::Status OrderJob(const Context& context, const OrderFlags& flags,
                      absl::StatusOr<v1::JobSummary> (PlanningClient::*order)(
                          const v1::JobRequest&)) {
  return Print<v1::JobSummary>(
      context, flags,
      [&](PlanningClient& client) {
        return (client.*order)(MakeJobRequest(flags));
      },
      [](const v1::JobSummary& job) { return FormatJobs({job}); });
}

absl::Status CancelJob(const Context& context, const OrderFlags& flags) {
  return OrderJob(context, flags, &PlanningClient::CancelJob);
}

absl::Status RetryJob(const Context& context, const OrderFlags& flags) {
  return OrderJob(context, flags, &PlanningClient::RetryJob);
}

absl::Status OrderWorker(
    const Context& context, const OrderFlags& flags,
    absl::StatusOr<v1::WorkerSummary> (PlanningClient::*order)(
        const v1::WorkerRequest&)) {
  return Print<v1::WorkerSummary>(
      context, flags,
      [&](PlanningClient& client) {
        v1::WorkerRequest request;
        request.set_worker(flags.name);
        request.set_reason(flags.reason);
        return (client.*order)(request);
      },
      [](const v1::WorkerSummary& worker) { return FormatWorkers({worker}); });
}

absl::Status DrainWorker(const Context& context, const OrderFlags& flags) {
  return OrderWorker(context, flags, &PlanningClient::DrainWorker);
}

absl::Status QuarantineWorker(const Context& context, const OrderFlags& flags) {
  return OrderWorker(context, flags, &PlanningClient::QuarantineWorker);
}

absl::Status ResumeWorker(const Context& context, const OrderFlags& flags) {
  return OrderWorker(context, flags, &PlanningClient::ResumeWorker);
}

void AddAddress(CLI::App& verb, TableFlags* flags) {
  AddAddressFlags(verb, &flags->address, &flags->security);
}

CLI::App* AddNoun(CLI::App& app, Context& context, const std::string& noun,
                  const std::string& description,
                  absl::Status (*list)(const Context&, const WatchedFlags&)) {
  CLI::App* const parent = app.add_subcommand(noun, description);
  parent->require_subcommand(0, 1);
  const auto [verb, flags] =
      AddVerb(*parent, context, "list", absl::StrCat("list the ", noun), list);
  AddWatchFlag(*verb, &flags->watch);
  AddAddress(*verb, flags);
  return parent;
}

// A verb about one job or worker; its flags.
OrderFlags* AddOrder(CLI::App& noun, Context& context, const std::string& name,
                     const std::string& description, const std::string& about,
                     absl::Status (*run)(const Context&, const OrderFlags&),
                     CLI::App** added = nullptr) {
  const auto [verb, flags] = AddVerb(noun, context, name, description, run);
  verb->add_option(about, flags->name, "as listed")->required();
  AddAddress(*verb, flags);
  if (added != nullptr) *added = verb;
  return flags;
}

void AddReason(CLI::App& verb, OrderFlags* flags) {
  verb.add_option("--reason", flags->reason, "shown to whoever asks why");
}

}  // namespace

void AddJobsVerb(CLI::App& app, Context& context) {
  CLI::App* const jobs = AddNoun(app, context, "jobs",
                                 "see what a coordinator measures", ListJobs);
  AddOrder(*jobs, context, "get", "one job with its programs", "job", GetJob);
  AddOrder(*jobs, context, "logs", "what happened to a job", "job", LogJob);
  CLI::App* cancel = nullptr;
  OrderFlags* const flags =
      AddOrder(*jobs, context, "cancel", "end a job; its plan fails", "job",
               CancelJob, &cancel);
  AddReason(*cancel, flags);
  AddOrder(*jobs, context, "retry",
           "run the programs again that a job failed at", "job", RetryJob);
}

void AddWorkersVerb(CLI::App& app, Context& context) {
  CLI::App* const workers = AddNoun(app, context, "workers",
                                    "list, drain, resume or quarantine the "
                                    "workers of a coordinator",
                                    ListWorkers);
  CLI::App* verb = nullptr;
  OrderFlags* flags =
      AddOrder(*workers, context, "drain",
               "give a worker no more programs; it ends what it has", "worker",
               DrainWorker, &verb);
  AddReason(*verb, flags);
  flags = AddOrder(*workers, context, "quarantine",
                   "give a worker no programs and take back what it has",
                   "worker", QuarantineWorker, &verb);
  AddReason(*verb, flags);
  AddOrder(*workers, context, "resume",
           "give a worker programs again, also one that was set aside",
           "worker", ResumeWorker);
}

}  // namespace meshwright::cli
