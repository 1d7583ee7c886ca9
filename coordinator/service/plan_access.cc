#include "coordinator/service/plan_access.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/security/role.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::service {
namespace {

constexpr int kDefaultPage = 100;
constexpr int kMaxPage = 1000;
constexpr size_t kMaxPageBytes = 8 << 20;  // or one plan

bool MayDoAll(const security::Caller& caller) {
  return caller.id.empty() ||
         security::Grants(caller.roles, security::Role::kAdmin);
}

// "ipv4:10.0.0.7:41288" without the port, which each connection has anew. All
// who come over a path are "unix:".
std::string NamePeer(const std::string& peer) {
  if (peer == "unix:") return "local";
  const size_t port = peer.rfind(':');
  return absl::StartsWith(peer, "ip") && port != std::string::npos
             ? peer.substr(0, port)
             : peer;
}

// Each once, in ascending order: a store keeps the text of every query, and one
// for each set of states is few.
absl::StatusOr<std::set<v1::PlanState>> ReadStates(
    const v1::ListPlansRequest& request) {
  std::set<v1::PlanState> states;
  for (const int state : request.states()) {
    if (state == v1::PLAN_STATE_UNSPECIFIED || !v1::PlanState_IsValid(state)) {
      return absl::InvalidArgumentError(
          absl::StrCat("no plan is ever in state ", state,
                       "; name states of PlanState, or none for all plans"));
    }
    states.insert(static_cast<v1::PlanState>(state));
  }
  return states;
}

}  // namespace

std::string FindNamespace(const security::Caller& caller) {
  return caller.name_space.empty() ? store::kSharedPool : caller.name_space;
}

v1::SubmitPlanRequest SubmitAs(const security::Caller& caller,
                               const std::string& peer,
                               const v1::SubmitPlanRequest& request) {
  v1::SubmitPlanRequest named = request;
  if (!MayDoAll(caller)) {
    named.set_owner(caller.id);
    named.set_namespace_(FindNamespace(caller));
    // Nobody puts himself before another team.
    named.set_priority(std::min(request.priority(), 0));
  } else if (request.owner().empty()) {
    named.set_owner(caller.id.empty() ? NamePeer(peer) : caller.id);
  }
  return named;
}

jobs::JobOrigin OriginOf(const security::Caller& caller,
                         const std::string& peer) {
  return {.owner = caller.id.empty() ? NamePeer(peer) : caller.id,
          .name_space = FindNamespace(caller)};
}

jobs::JobOrigin OriginOf(const security::Caller& caller,
                         const std::string& peer, const v1::PlanRecord& plan) {
  jobs::JobOrigin origin = OriginOf(caller, peer);
  origin.model = plan.request().model_name();
  origin.plan = plan.id();
  origin.priority = std::min(plan.priority(), 0);
  if (!MayDoAll(caller)) return origin;
  origin.owner = plan.owner();
  origin.name_space = plan.namespace_();
  origin.priority = plan.priority();
  return origin;
}

std::optional<std::vector<std::string>> SelectNamespaces(
    const security::Caller& caller, const std::string& team) {
  using Namespaces = std::vector<std::string>;
  if (MayDoAll(caller)) return team.empty() ? Namespaces() : Namespaces{team};
  Namespaces visible = {FindNamespace(caller)};
  if (visible.front() != store::kSharedPool) {
    visible.emplace_back(store::kSharedPool);
  }
  if (team.empty()) return visible;
  if (std::find(visible.begin(), visible.end(), team) == visible.end()) {
    return std::nullopt;
  }
  return Namespaces{team};
}

absl::StatusOr<v1::ListPlansResponse> ListPlans(
    store::PlanStore& plans, const security::Caller& caller,
    const v1::ListPlansRequest& request) {
  store::PlanFilter filter;
  auto namespaces = SelectNamespaces(caller, request.namespace_());
  if (!namespaces.has_value()) return v1::ListPlansResponse();
  filter.teams = *std::move(namespaces);
  ASSIGN_OR_RETURN(const std::set<v1::PlanState> states, ReadStates(request));
  filter.states.assign(states.begin(), states.end());
  filter.owner = request.owner();
  const int page_size = request.page_size() <= 0
                            ? kDefaultPage
                            : std::min(request.page_size(), kMaxPage);
  filter.limit = page_size + 1;  // the last says whether a page follows
  if (!request.page_token().empty()) {
    ASSIGN_OR_RETURN(filter.before, store::ParsePlanId(request.page_token()));
  }
  ASSIGN_OR_RETURN(std::vector<v1::PlanRecord> page, plans.List(filter));
  v1::ListPlansResponse response;
  if (static_cast<int>(page.size()) > page_size) {
    page.pop_back();
    response.set_next_page_token(page.back().id());
  }
  size_t bytes = 0;
  for (v1::PlanRecord& record : page) {
    bytes += record.ByteSizeLong();
    if (bytes > kMaxPageBytes && response.plans_size() > 0) {
      response.set_next_page_token(response.plans().rbegin()->id());
      break;
    }
    *response.add_plans() = std::move(record);
  }
  return response;
}

absl::StatusOr<std::string> FindReadNamespace(const security::Caller& caller,
                                              const std::string& team) {
  if (team.empty()) return FindNamespace(caller);
  if (SelectNamespaces(caller, team).has_value()) return team;
  return absl::PermissionDeniedError(
      absl::StrCat("the rows of namespace ", team,
                   " are not for this token; ask with one of that namespace, "
                   "or an administrator"));
}

plans::PlanQuota FindPlanQuota(const security::Guard& guard,
                               const std::string& name_space) {
  const security::Quota quota =
      guard.FindQuota(name_space.empty() ? store::kSharedPool : name_space);
  return {.limits = {.plans = quota.plans,
                     .module_bytes = quota.module_bytes,
                     .stored_bytes = quota.stored_bytes},
          .programs = quota.programs};
}

absl::Status CheckMaySee(const security::Caller& caller,
                         const v1::PlanRecord& record) {
  if (MayDoAll(caller) || record.namespace_() == FindNamespace(caller) ||
      record.namespace_() == store::kSharedPool) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const store::PlanId id, store::ParsePlanId(record.id()));
  return store::MakeNoSuchPlanError(id);
}

absl::Status CheckMayEnd(const security::Caller& caller,
                         const v1::PlanRecord& record) {
  RETURN_IF_ERROR(CheckMaySee(caller, record));
  if (MayDoAll(caller) || record.owner() == caller.id) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat(record.id(), " is ", record.owner(),
                   "'s; its owner or an administrator may end it"));
}

absl::StatusOr<v1::PlanRecord> FindSeenPlan(const security::Guard& guard,
                                            store::PlanStore& plans,
                                            const security::Call& call,
                                            const std::string& id) {
  ASSIGN_OR_RETURN(const security::Caller caller, guard.Identify(call));
  ASSIGN_OR_RETURN(const store::PlanId number, store::ParsePlanId(id));
  ASSIGN_OR_RETURN(v1::PlanRecord record, plans.Get(number));
  RETURN_IF_ERROR(CheckMaySee(caller, record));
  return record;
}

absl::StatusOr<v1::PlanRecord> FindDonePlan(const security::Guard& guard,
                                            store::PlanStore& plans,
                                            const security::Call& call,
                                            const std::string& id) {
  ASSIGN_OR_RETURN(v1::PlanRecord record, FindSeenPlan(guard, plans, call, id));
  if (record.has_plan()) return record;
  if (store::HasEnded(record.state())) {
    return absl::FailedPreconditionError(
        absl::StrCat(record.id(), " ended without a plan (", record.reason(),
                     "); submit it again"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat(record.id(), " is not done; watch it until it is"));
}

}  // namespace meshwright::service
