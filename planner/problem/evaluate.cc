#include "planner/problem/evaluate.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/problem/validate.h"

namespace meshwright::problem {
namespace {

using Wide = __int128;

constexpr Wide kMax = std::numeric_limits<int64_t>::max();

absl::Status AddEntry(const PlanProblem& problem, int table, int from, int to,
                      Wide& sum) {
  const auto& entry = problem.tables[table].at(from, to);
  if (!entry.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "tables[", table, "][", from, "][", to, "] forbids this plan"));
  }
  sum += entry->count();
  return {};
}

}  // namespace

absl::StatusOr<Evaluation> Evaluate(const PlanProblem& problem,
                                    const Choice& choice) {
  RETURN_IF_ERROR(ValidateChoice(problem, choice));
  std::vector<const SelfEdge*> self(problem.types.size(), nullptr);
  for (const SelfEdge& edge : problem.self_edges) self[edge.type] = &edge;
  Wide compute = 0;
  Wide resharding = 0;
  Wide bytes = 0;
  int64_t transient = 0;
  for (size_t n = 0; n < choice.size(); ++n) {
    const int type = problem.nodes[n].type;
    for (size_t copy = 0; copy < choice[n].size(); ++copy) {
      const Config& config = problem.types[type].configs[choice[n][copy]];
      compute += config.time.count();
      bytes += config.persistent_bytes;
      bytes += config.saved_bytes;
      transient = std::max(transient, config.transient_bytes);
      if (copy == 0 || self[type] == nullptr) continue;
      RETURN_IF_ERROR(AddEntry(problem, self[type]->table, choice[n][copy - 1],
                               choice[n][copy], resharding));
    }
  }
  for (const Edge& edge : problem.edges) {
    RETURN_IF_ERROR(AddEntry(problem, edge.table, choice[edge.from].back(),
                             choice[edge.to].front(), resharding));
  }
  if (compute + resharding > kMax) {
    return absl::OutOfRangeError(
        "the plan takes more picoseconds than 63 bits hold; give smaller "
        "seconds in types and tables");
  }
  if (bytes + transient > kMax) {
    return absl::OutOfRangeError(
        "the plan needs more bytes than 63 bits hold; give a "
        "memory_limit_bytes, or fewer bytes in types");
  }
  return Evaluation{
      .time = Picoseconds(static_cast<int64_t>(compute + resharding)),
      .resharding_time = Picoseconds(static_cast<int64_t>(resharding)),
      .peak_bytes = static_cast<int64_t>(bytes + transient)};
}

}  // namespace meshwright::problem
