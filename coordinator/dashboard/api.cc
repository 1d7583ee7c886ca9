#include "coordinator/dashboard/api.h"

#include <algorithm>
#include <map>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "coordinator/dashboard/views.h"
#include "coordinator/service/job_access.h"
#include "coordinator/service/plan_access.h"

namespace meshwright::dashboard {
namespace {

constexpr absl::string_view kRoot = "/api/";
constexpr absl::string_view kPlanRoot = "/api/plans/";

// Path -> the RPC whose role it needs.
constexpr std::pair<absl::string_view, absl::string_view> kRoles[] = {
    {"/api/service", "/meshwright.v1.Plans/List"},
    {"/api/plans", "/meshwright.v1.Plans/List"},
    {"/api/tasks", "/meshwright.v1.Planning/ListJobs"},
    {"/api/workers", "/meshwright.v1.Planning/ListWorkers"},
    {"/api/store", "/meshwright.v1.Profiles/Coverage"},
    {"/api/quality", "/meshwright.v1.Profiles/Coverage"},
};

absl::Status NoSuchPath(const std::string& path) {
  return absl::NotFoundError(
      absl::StrCat("the dashboard has no ", path,
                   "; its page is at / and asks for the rest"));
}

absl::StatusOr<std::string> FindRpc(const std::string& path) {
  if (absl::StartsWith(path, kPlanRoot)) return "/meshwright.v1.Plans/Get";
  const auto* const found =
      std::find_if(std::begin(kRoles), std::end(kRoles),
                   [&path](const auto& row) { return row.first == path; });
  if (found == std::end(kRoles)) return NoSuchPath(path);
  return std::string(found->second);
}

absl::StatusOr<v1::PlanState> ParseState(absl::string_view name) {
  v1::PlanState state = v1::PLAN_STATE_UNSPECIFIED;
  if (v1::PlanState_Parse(absl::AsciiStrToUpper(name), &state) &&
      state != v1::PLAN_STATE_UNSPECIFIED) {
    return state;
  }
  return absl::InvalidArgumentError(
      "no plan is ever in one of these states; see docs/formats/dashboard.md");
}

absl::StatusOr<v1::ListPlansRequest> ParseQuery(const std::string& query) {
  v1::ListPlansRequest request;
  for (const absl::string_view part :
       absl::StrSplit(query, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    const auto& [name, value] = pair;
    int size = 0;
    if (name == "states") {
      for (const absl::string_view state :
           absl::StrSplit(value, ',', absl::SkipEmpty())) {
        ASSIGN_OR_RETURN(const v1::PlanState parsed, ParseState(state));
        request.add_states(parsed);
      }
    } else if (name == "page") {
      request.set_page_token(std::string(value));
    } else if (name == "size" && absl::SimpleAtoi(value, &size) && size > 0) {
      request.set_page_size(size);
    } else {
      return absl::InvalidArgumentError(
          "plans are asked for with states=, page= and size= alone; see "
          "docs/formats/dashboard.md");
    }
  }
  return request;
}

// Names come from clients, and need not be UTF-8.
std::string ToText(const Json& view) {
  return view.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<std::string> ListPlans(const Sources& sources,
                                      const security::Caller& caller,
                                      const std::string& query) {
  ASSIGN_OR_RETURN(const v1::ListPlansRequest request, ParseQuery(query));
  ASSIGN_OR_RETURN(const v1::ListPlansResponse page,
                   service::ListPlans(*sources.plans, caller, request));
  std::optional<std::map<v1::PlanState, int64_t>> counts;
  const auto seen = service::SelectNamespaces(caller, "");
  if (seen.has_value() && seen->empty()) {
    ASSIGN_OR_RETURN(counts, sources.plans->CountByState());
  }
  return ToText(ViewPlans(page, counts));
}

absl::StatusOr<std::string> ShowPlan(const Sources& sources,
                                     const security::Call& call,
                                     const std::string& id) {
  ASSIGN_OR_RETURN(
      const v1::PlanRecord record,
      service::FindSeenPlan(*sources.guard, *sources.plans, call, id));
  return ToText(ViewPlan(record));
}

absl::StatusOr<Json> ListTasks(const Sources& sources,
                               const security::Caller& caller) {
  RETURN_IF_ERROR(plans::CheckHoldsWorkers(sources.leadership));
  std::vector<v1::JobSummary> jobs = sources.queue->Jobs();
  for (v1::JobSummary& job : jobs) {
    job = service::ShowTo(caller, std::move(job));
  }
  Json view = ViewTasks(std::move(jobs), sources.clock->Now());
  const jobs::QueueCounts counts = sources.queue->Count();
  view["programs_waiting"] = counts.programs_waiting;
  view["programs_leased"] = counts.programs_leased;
  return view;
}

absl::StatusOr<Json> ListWorkers(const Sources& sources) {
  RETURN_IF_ERROR(plans::CheckHoldsWorkers(sources.leadership));
  return ViewWorkers(sources.workers());
}

Json DescribeService(const Sources& sources, const security::Caller& caller,
                     absl::Time started) {
  const plans::Leadership* const leadership = sources.leadership;
  return {{"version", base::Version()},
          {"address", sources.address},
          {"started", absl::ToUnixSeconds(started)},
          {"leads", leadership == nullptr || leadership->Leads()},
          {"leader", leadership == nullptr ? "" : leadership->leader()},
          {"caller", caller.id},
          {"namespace", caller.name_space},
          {"roles", security::DescribeRoles(caller.roles)}};
}

}  // namespace

Api::Api(const Sources& sources)
    : sources_(sources),
      started_(sources.clock->Now()),
      plans_wait_(sources.store_patience) {
  if (sources_.profiles != nullptr) {
    census_ = std::make_unique<metrics::Census<StoreSurvey>>(
        [profiles = sources_.profiles](const std::stop_token& stop) {
          return SurveyStore(*profiles, stop);
        },
        sources_.clock);
  }
}

bool Api::HasPath(absl::string_view path) {
  return absl::StartsWith(path, kRoot);
}

void Api::AwaitCensus() {
  if (census_ != nullptr) census_->AwaitIdle(absl::InfiniteDuration());
}

absl::StatusOr<std::string> Api::Answer(const http::Request& request) {
  const std::string& path = request.path;
  ASSIGN_OR_RETURN(const std::string rpc, FindRpc(path));
  const security::Call call = {rpc, request.authorization, request.certificate,
                               request.peer};
  RETURN_IF_ERROR(sources_.guard->Admit(call));
  ASSIGN_OR_RETURN(const security::Caller caller,
                   sources_.guard->Identify(call));
  absl::string_view id = path;
  Json view;
  if (path == "/api/service") {
    view = DescribeService(sources_, caller, started_);
  } else if (path == "/api/plans") {
    return plans_wait_.Ask<std::string>([this, caller, query = request.query] {
      return ListPlans(sources_, caller, query);
    });
  } else if (absl::ConsumePrefix(&id, kPlanRoot)) {
    return plans_wait_.Ask<std::string>([this, call, name = std::string(id)] {
      return ShowPlan(sources_, call, name);
    });
  } else if (path == "/api/tasks") {
    ASSIGN_OR_RETURN(view, ListTasks(sources_, caller));
  } else if (path == "/api/workers") {
    ASSIGN_OR_RETURN(view, ListWorkers(sources_));
  } else {
    std::optional<SurveyCount> survey;
    if (census_ != nullptr) survey = census_->Newest();
    view = path == "/api/store"
               ? ViewStore(survey)
               : ViewQuality(survey, sources_.predictions->List());
  }
  return ToText(view);
}

}  // namespace meshwright::dashboard
