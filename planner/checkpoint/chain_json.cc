#include "planner/checkpoint/chain_json.h"

#include <vector>

#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "planner/problem/duration_json.h"

namespace meshwright::checkpoint {
namespace {

// An empty list would stand for zeros, as an absent one does.
template <typename Value>
auto IntoStages(std::vector<Value>& list) {
  return [&list](const base::JsonValue& value) {
    base::ReadJsonValue(value, list);
    if (value.HasFailed() || !list.empty()) return;
    value.Fail("is empty; leave it out or give every stage");
  };
}

}  // namespace

void Describe(base::JsonFields& it, Chain& chain) {
  it.Required("fwd_time", chain.forward);
  it.Required("bwd_time", chain.backward);
  it.Optional("fwd_comm_time", IntoStages(chain.forward_communication));
  it.Optional("bwd_comm_time", IntoStages(chain.backward_communication));
  it.Required("act_size", chain.act_bytes);
  it.Required("saved_size", chain.saved_bytes);
  it.Optional("fwd_tmp", IntoStages(chain.forward_transient_bytes));
  it.Optional("bwd_tmp", IntoStages(chain.backward_transient_bytes));
  it.Optional("fwd_comm_tmp", IntoStages(chain.forward_communication_bytes));
  it.Optional("bwd_comm_tmp", IntoStages(chain.backward_communication_bytes));
  it.Optional("loss_time", chain.loss);
}

absl::StatusOr<Chain> ParseChain(std::string_view text) {
  Chain chain;
  RETURN_IF_ERROR(base::ReadJson(text, chain));
  RETURN_IF_ERROR(Validate(chain));
  return chain;
}

std::string AnswerToJson(const Answer& answer, int64_t budget_bytes) {
  nlohmann::ordered_json document;
  document["feasible"] = answer.plan.has_value();
  if (answer.plan.has_value()) {
    document["makespan"] = problem::ToSeconds(answer.plan->makespan);
    document["lower_bound"] = problem::ToSeconds(answer.lower_bound);
    document["peak_bytes"] = answer.plan->peak_bytes;
    auto& sequence = document["sequence"] = nlohmann::ordered_json::array();
    for (const Operation& operation : answer.plan->sequence) {
      sequence.push_back(Name(operation));
    }
  } else {
    for (const char* figure :
         {"makespan", "lower_bound", "peak_bytes", "sequence"}) {
      document[figure] = nullptr;
    }
    document["least_memory_bytes"] =
        answer.least_memory_bytes.has_value()
            ? nlohmann::ordered_json(*answer.least_memory_bytes)
            : nlohmann::ordered_json();
    document["limit_bytes"] = budget_bytes;
  }
  document["solver"] = answer.solver;
  document["solve_seconds"] = answer.elapsed.count();
  return document.dump();
}

absl::StatusOr<std::string> AnswerCheckpointJson(std::string_view json,
                                                 int64_t budget_bytes,
                                                 const Options& options) {
  ASSIGN_OR_RETURN(const Chain chain, ParseChain(json));
  ASSIGN_OR_RETURN(const Answer answer, Solve(chain, budget_bytes, options));
  return AnswerToJson(answer, budget_bytes);
}

}  // namespace meshwright::checkpoint
