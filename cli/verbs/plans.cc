#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/rpc/channel_security.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/change_flags.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/plan_flags.h"
#include "cli/flags/security_flags.h"
#include "cli/flags/watch_flag.h"
#include "cli/text/difference_text.h"
#include "cli/text/explanation_text.h"
#include "cli/text/format.h"
#include "cli/text/json.h"
#include "cli/text/next_steps.h"
#include "cli/text/plan_summary.h"
#include "cli/text/plan_text.h"
#include "cli/text/plans_text.h"
#include "cli/text/progress.h"
#include "cli/text/table.h"
#include "cli/text/validation_text.h"
#include "cli/verbs/plan_watching.h"
#include "cli/verbs/verbs.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/validation/report.h"
#include "coordinator/validation/staged_report.h"

namespace meshwright::cli {
namespace {

using client::PlanningClient;
using nlohmann::ordered_json;

struct Address {
  std::string value;
  base::ChannelSecurity security;
};

void AddAddress(CLI::App& verb, Address* address) {
  AddAddressFlags(verb, &address->value, &address->security);
}

absl::StatusOr<std::unique_ptr<PlanningClient>> ConnectTo(
    const Address& address) {
  return PlanningClient::Connect(address.value,
                                 base::WithEnvironment(address.security));
}

struct SubmitFlags {
  Address address;
  PlanFlags plan;
  std::string owner;
  std::string team;
  std::string request_id;
  int priority = 0;
  std::string timeout;
};

struct ListFlags {
  Address address;
  std::vector<std::string> states;
  std::string owner;
  std::string team;
  int limit = 100;
  WatchFlag watch;
};

struct OneFlags {
  Address address;
  std::string id;
  std::string output;
  bool verbose = false;
};

std::string UserName() {
  const char* const name = std::getenv("USER");
  return name == nullptr ? "" : name;
}

absl::Status SubmitPlan(const Context& context, const SubmitFlags& flags) {
  v1::SubmitPlanRequest request;
  ASSIGN_OR_RETURN(*request.mutable_request(), ToPlanRequest(flags.plan));
  RETURN_IF_ERROR(ToDeviceSpec(flags.plan.devices, 1, false).status());
  request.set_owner(flags.owner);
  request.set_namespace_(flags.team);
  request.set_request_id(flags.request_id);
  request.set_priority(flags.priority);
  if (!flags.timeout.empty()) {
    ASSIGN_OR_RETURN(const absl::Duration timeout,
                     ParseTime("--timeout", flags.timeout));
    request.set_timeout_ns(absl::ToInt64Nanoseconds(timeout));
  }
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  ASSIGN_OR_RETURN(const v1::PlanRecord record, client->SubmitPlan(request));
  if (context.json) {
    ordered_json said;
    said["id"] = record.id();
    said["state"] = FormatPlanState(record.state());
    *context.out << said.dump() << "\n";
  } else {
    *context.out << record.id() << "\n";
  }
  return absl::OkStatus();
}

// At most `limit` plans, page by page.
absl::StatusOr<Listing> AskForPlans(PlanningClient& client,
                                    v1::ListPlansRequest request, size_t limit,
                                    absl::Time now) {
  std::vector<v1::PlanRecord> records;
  do {
    request.set_page_size(static_cast<int>(limit - records.size()));
    ASSIGN_OR_RETURN(const v1::ListPlansResponse page,
                     client.ListPlans(request));
    records.insert(records.end(), page.plans().begin(), page.plans().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty() && records.size() < limit);
  const bool are_more = !request.page_token().empty();
  Listing listing{FormatPlans(records, now), {}};
  if (are_more) {
    listing.text += "there are older plans; a larger --limit lists them\n";
  }
  ordered_json plans = ordered_json::array();
  for (const v1::PlanRecord& record : records) {
    plans.push_back(PlanRecordToJson(record, now, false));
  }
  listing.json = {{"plans", plans}, {"more", are_more}};
  return listing;
}

absl::Status ListPlans(const Context& context, const ListFlags& flags) {
  v1::ListPlansRequest request;
  for (const std::string& name : flags.states) {
    ASSIGN_OR_RETURN(const v1::PlanState state, ParsePlanState(name));
    request.add_states(state);
  }
  request.set_owner(flags.owner);
  request.set_namespace_(flags.team);
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  return ShowListing(*context.out, context.json, flags.watch, [&] {
    return AskForPlans(*client, request, static_cast<size_t>(flags.limit),
                       context.clock->Now());
  });
}

std::string FormatKeptPlan(const v1::Plan& plan, const OneFlags& flags) {
  if (flags.verbose) return DescribePlan(plan);
  return SummarizePlan(
      plan,
      ListNextSteps(flags.id, WriteAddressFlags(flags.address.value,
                                                flags.address.security)),
      /*remeasure=*/"");
}

absl::Status PrintPlan(const Context& context, const OneFlags& flags,
                       const v1::PlanRecord& record) {
  const absl::Time now = context.clock->Now();
  if (context.json) {
    *context.out << PlanRecordToJson(record, now, true).dump(2) << "\n";
    return absl::OkStatus();
  }
  *context.out << FormatPlans({record}, now);
  if (record.has_plan()) {
    *context.out << "\n" << FormatKeptPlan(record.plan(), flags);
  }
  return absl::OkStatus();
}

absl::Status GetPlan(const Context& context, const OneFlags& flags) {
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  ASSIGN_OR_RETURN(const v1::PlanRecord record, client->GetPlan(flags.id));
  return PrintPlan(context, flags, record);
}

absl::Status WatchPlan(const Context& context, const OneFlags& flags) {
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  ASSIGN_OR_RETURN(
      const v1::Plan plan,
      WatchPlanToEnd(context, *client, flags.id, interrupt.token()));
  *context.out << (context.json ? PlanToJsonText(plan)
                                : FormatKeptPlan(plan, flags));
  return absl::OkStatus();
}

absl::Status CancelPlan(const Context& context, const OneFlags& flags) {
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  RETURN_IF_ERROR(client->CancelPlan(flags.id).status());
  // A plan that runs ends a moment later.
  absl::Status ended =
      WatchPlanToEnd(context, *client, flags.id, interrupt.token()).status();
  if (interrupt.token().stop_requested()) return ended;
  ASSIGN_OR_RETURN(const v1::PlanRecord record, client->GetPlan(flags.id));
  return PrintPlan(context, flags, record);
}

absl::StatusOr<v1::Plan> GetDonePlan(PlanningClient& client,
                                     const std::string& id) {
  ASSIGN_OR_RETURN(v1::PlanRecord record, client.GetPlan(id));
  if (record.has_plan()) return std::move(*record.mutable_plan());
  return absl::FailedPreconditionError(absl::StrCat(
      id, " has no plan: it is ", FormatPlanState(record.state()),
      record.reason().empty() ? "" : absl::StrCat(" (", record.reason(), ")"),
      "; watch it with `meshwright plans watch ", id, "`"));
}

absl::Status ExportPlan(const Context& context, const OneFlags& flags) {
  if (!flags.output.empty()) RETURN_IF_ERROR(CheckWritable(flags.output));
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  ASSIGN_OR_RETURN(const v1::Plan plan, GetDonePlan(*client, flags.id));
  const std::string json = PlanToJsonText(plan);
  if (flags.output.empty()) {
    *context.out << json;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(base::WriteFile(flags.output, json));
  *context.err << "wrote " << flags.output << "\n";
  return absl::OkStatus();
}

absl::Status WritePlanModules(const Context& context, const OneFlags& flags) {
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  ASSIGN_OR_RETURN(const auto files,
                   client->ExportPlan(flags.id, interrupt.token()));
  RETURN_IF_ERROR(WriteModules(flags.output, files));
  *context.out << FormatModules(flags.output, files, context.json);
  return absl::OkStatus();
}

struct TwoFlags {
  Address address;
  std::string a;
  std::string b;
};

struct ChangedFlags {
  Address address;
  std::string id;
  ChangeFlags change;
};

struct RunFlags {
  Address address;
  std::string id;
  int random = 0;
  uint64_t seed = 0;
};

absl::Status ExplainPlan(const Context& context, const OneFlags& flags) {
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  ASSIGN_OR_RETURN(const v1::PlanExplanation explanation,
                   client->ExplainPlan(flags.id));
  *context.out << (context.json ? ToJson(explanation).dump(2) + "\n"
                                : DescribeExplanation(explanation));
  return absl::OkStatus();
}

absl::Status DiffPlans(const Context& context, const TwoFlags& flags) {
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  ASSIGN_OR_RETURN(const v1::Plan a, GetDonePlan(*client, flags.a));
  ASSIGN_OR_RETURN(const v1::Plan b, GetDonePlan(*client, flags.b));
  *context.out << (context.json ? DifferenceToJson(a, b).dump(2) + "\n"
                                : DescribeDifference(a, b));
  return absl::OkStatus();
}

absl::Status AskWhatIf(const Context& context, const ChangedFlags& flags) {
  ASSIGN_OR_RETURN(const v1::WhatIfChange change, ParseChange(flags.change));
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  ASSIGN_OR_RETURN(const v1::Plan plan, client->AskWhatIf(flags.id, change));
  *context.out << (context.json ? PlanToJsonText(plan) : DescribePlan(plan));
  return absl::OkStatus();
}

absl::Status ValidatePlan(const Context& context, const RunFlags& flags) {
  v1::ValidatePlanRequest request;
  request.set_id(flags.id);
  request.set_random_plans(flags.random);
  request.set_seed(flags.seed);
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  ProgressDisplay display(context.err, context.terminal, context.clock);
  v1::ValidationReport report;
  std::optional<v1::StagedValidationReport> staged;
  RETURN_IF_ERROR(client->ValidatePlan(
      request,
      [&](const v1::ValidatePlanEvent& event) {
        if (event.has_progress()) return display.Show(event.progress());
        display.Close();
        if (event.has_note()) *context.err << event.note() << "\n";
        if (event.has_staged_report()) {
          staged = event.staged_report();
          *context.out << FormatValidation(*staged, context.json);
        }
        if (!event.has_report()) return;
        report = event.report();
        *context.out << FormatValidation(report, context.json);
      },
      interrupt.token()));
  return staged.has_value() ? validation::CheckOutputs(*staged)
                            : validation::CheckReport(report);
}

struct QuotasFlags {
  Address address;
};

// "3 of 10"; "3" without a limit.
template <typename Format>
std::string FormatUse(int64_t used, bool is_limited, int64_t limit,
                      const Format& format) {
  return is_limited ? absl::StrCat(format(used), " of ", format(limit))
                    : format(used);
}

absl::Status ListQuotas(const Context& context, const QuotasFlags& flags) {
  ASSIGN_OR_RETURN(const auto client, ConnectTo(flags.address));
  ASSIGN_OR_RETURN(const v1::ListQuotasResponse quotas, client->ListQuotas());
  if (context.json) {
    *context.out << ToJson(quotas).dump(2) << "\n";
    return absl::OkStatus();
  }
  const auto count = [](int64_t number) { return absl::StrCat(number); };
  std::vector<TableRow> rows;
  for (const v1::NamespaceQuota& it : quotas.namespaces()) {
    rows.push_back(
        {it.namespace_(),
         FormatUse(it.plans(), it.has_max_plans(), it.max_plans(), count),
         FormatUse(it.module_bytes(), it.has_max_module_bytes(),
                   it.max_module_bytes(), FormatBytes),
         FormatUse(it.stored_bytes(), it.has_max_stored_bytes(),
                   it.max_stored_bytes(), FormatBytes),
         it.has_max_programs() ? count(it.max_programs()) : "-"});
  }
  *context.out << (rows.empty() ? "no namespace has a quota or a plan\n"
                                : FormatTable({{"namespace", Align::kLeft},
                                               {"unfinished plans"},
                                               {"their models"},
                                               {"stored models"},
                                               {"programs a plan"}},
                                              rows));
  return absl::OkStatus();
}

OneFlags* AddOne(CLI::App& parent, Context& context, const std::string& name,
                 const std::string& description,
                 absl::Status (*run)(const Context&, const OneFlags&)) {
  const auto [verb, flags] = AddVerb(parent, context, name, description, run);
  verb->add_option("id", flags->id, "plan-N, as `plans list` has it")
      ->required();
  AddAddress(*verb, &flags->address);
  if (name == "export") {
    verb->add_option("-o,--output", flags->output,
                     "file to write the plan to (default: stdout)");
  } else if (name == "modules") {
    verb->add_option("-o,--output", flags->output,
                     "file for the annotated HloModuleProto; for a plan with "
                     "stages, a folder of modules")
        ->required();
  } else if (name == "get" || name == "watch") {
    verb->add_flag("--verbose", flags->verbose,
                   "print all of the plan: arguments, ties, programs left out");
  }
  return flags;
}

}  // namespace

void AddPlansVerb(CLI::App& app, Context& context) {
  CLI::App* const plans = app.add_subcommand(
      "plans", "submit plans to a coordinator and see what becomes of them");
  {
    const auto [verb, flags] = AddVerb(
        *plans, context, "submit",
        "hand a model to a coordinator and print the plan's id", SubmitPlan);
    flags->owner = UserName();
    AddPlanFlags(*verb, &flags->plan);
    verb->add_option("--owner", flags->owner, "whose plan it is")
        ->capture_default_str();
    verb->add_option("--namespace", flags->team,
                     "of the team (default: the shared one)");
    verb->add_option("--request-id", flags->request_id,
                     "a submission that comes again with this id is the same "
                     "plan");
    verb->add_option("--priority", flags->priority,
                     "programs of plans of a higher one are measured first")
        ->capture_default_str()
        ->check(CLI::Range(-100, 100));
    verb->add_option("--timeout", flags->timeout,
                     "fail the plan if it has not ended so long after its "
                     "submission: 45m, 12h, 2d (default: never)");
    AddAddress(*verb, &flags->address);
  }
  {
    const auto [verb, flags] = AddVerb(
        *plans, context, "list", "list plans, the newest first", ListPlans);
    verb->add_option("--state", flags->states,
                     "only plans in this state; may be given several times");
    verb->add_option("--owner", flags->owner, "only plans of this owner");
    verb->add_option("--namespace", flags->team, "only plans of this team");
    verb->add_option("--limit", flags->limit, "at most this many")
        ->capture_default_str()
        ->check(CLI::Range(1, 1'000'000));
    AddWatchFlag(*verb, &flags->watch);
    AddAddress(*verb, &flags->address);
  }
  AddOne(*plans, context, "get", "show a plan as it stands", GetPlan);
  AddOne(*plans, context, "watch", "show a plan until it ends", WatchPlan);
  AddOne(*plans, context, "cancel", "end a plan", CancelPlan);
  AddOne(*plans, context, "export", "write the plan of one that is done",
         ExportPlan);
  AddOne(*plans, context, "modules",
         "write the model with the shardings of a plan that is done",
         WritePlanModules);
  AddOne(*plans, context, "explain", "show the time that each choice saves",
         ExplainPlan);
  {
    const auto [verb, flags] =
        AddVerb(*plans, context, "diff", "compare two plans", DiffPlans);
    verb->add_option("a", flags->a, "plan-N")->required();
    verb->add_option("b", flags->b, "the plan to compare it with")->required();
    AddAddress(*verb, &flags->address);
  }
  {
    const auto [verb, flags] = AddVerb(
        *plans, context, "what-if",
        "plan for another memory limit or mesh without measuring", AskWhatIf);
    verb->add_option("id", flags->id, "plan-N")->required();
    AddChangeFlags(*verb, &flags->change);
    AddAddress(*verb, &flags->address);
  }
  {
    const auto [verb, flags] =
        AddVerb(*plans, context, "validate",
                "run the whole step with a plan and with baselines, on the "
                "coordinator's workers",
                ValidatePlan);
    verb->add_option("id", flags->id, "plan-N")->required();
    verb->add_option("--random", flags->random, "number of random plans to add")
        ->check(CLI::Range(0, 1000));
    verb->add_option("--seed", flags->seed, "seed of the random plans");
    AddAddress(*verb, &flags->address);
  }
  {
    const auto [verb, flags] = AddVerb(
        *plans, context, "quotas",
        "list what the plans of each namespace take, and may take", ListQuotas);
    AddAddress(*verb, &flags->address);
  }
}

}  // namespace meshwright::cli
