#include "planner/checkpoint/chain_json.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "planner/problem/json_fields.h"
#include "planner/problem/known_names.h"
#include "planner/problem/parse_json.h"

namespace meshwright::checkpoint {
namespace {

using nlohmann::json;

enum class Presence { kNeeded, kOptional };

template <typename Value, typename Read>
absl::Status ReadList(const json& document, const char* field,
                      Presence presence, const Read& read,
                      std::vector<Value>& list) {
  if (presence == Presence::kOptional &&
      (!document.contains(field) || document[field].is_null())) {
    return {};
  }
  ASSIGN_OR_RETURN(const json* values, problem::Member(document, "", field));
  RETURN_IF_ERROR(problem::CheckArray(*values, field));
  // Before a list of any length is read.
  if (values->size() > kMostStages + 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, " has ", values->size(), " entries, but at most ", kMostStages,
        " stages are planned; join neighbours into one stage"));
  }
  for (size_t i = 0; i < values->size(); ++i) {
    ASSIGN_OR_RETURN(const Value value,
                     read((*values)[i], absl::StrCat(field, "[", i, "]")));
    list.push_back(value);
  }
  // An empty list stands for zeros only where it is absent.
  if (presence == Presence::kOptional && list.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " is empty; leave it out or give every stage"));
  }
  return {};
}

}  // namespace

absl::StatusOr<Chain> ChainFromJson(std::string_view text) {
  ASSIGN_OR_RETURN(const json document, problem::ParseJson(text));
  RETURN_IF_ERROR(problem::CheckNames(
      document, "",
      {"fwd_time", "bwd_time", "act_size", "saved_size", "fwd_tmp", "bwd_tmp",
       "fwd_comm_time", "bwd_comm_time", "fwd_comm_tmp", "bwd_comm_tmp",
       "loss_time"}));
  Chain chain;
  const struct {
    const char* field;
    Presence presence;
    std::vector<Picoseconds>& list;
  } times[] = {
      {"fwd_time", Presence::kNeeded, chain.forward},
      {"bwd_time", Presence::kNeeded, chain.backward},
      {"fwd_comm_time", Presence::kOptional, chain.forward_communication},
      {"bwd_comm_time", Presence::kOptional, chain.backward_communication},
  };
  for (const auto& [field, presence, list] : times) {
    RETURN_IF_ERROR(
        ReadList(document, field, presence, problem::ReadSeconds, list));
  }
  const struct {
    const char* field;
    Presence presence;
    std::vector<int64_t>& list;
  } sizes[] = {
      {"act_size", Presence::kNeeded, chain.act_bytes},
      {"saved_size", Presence::kNeeded, chain.saved_bytes},
      {"fwd_tmp", Presence::kOptional, chain.forward_transient_bytes},
      {"bwd_tmp", Presence::kOptional, chain.backward_transient_bytes},
      {"fwd_comm_tmp", Presence::kOptional, chain.forward_communication_bytes},
      {"bwd_comm_tmp", Presence::kOptional, chain.backward_communication_bytes},
  };
  for (const auto& [field, presence, list] : sizes) {
    RETURN_IF_ERROR(
        ReadList(document, field, presence, problem::ReadInteger, list));
  }
  if (const auto loss = document.find("loss_time");
      loss != document.end() && !loss->is_null()) {
    ASSIGN_OR_RETURN(chain.loss, problem::ReadSeconds(*loss, "loss_time"));
  }
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

absl::StatusOr<std::string> CheckpointJson(std::string_view json,
                                           int64_t budget_bytes,
                                           const Options& options) {
  ASSIGN_OR_RETURN(const Chain chain, ChainFromJson(json));
  ASSIGN_OR_RETURN(const Answer answer, Solve(chain, budget_bytes, options));
  return AnswerToJson(answer, budget_bytes);
}

}  // namespace meshwright::checkpoint
