#include "planner/layout/planner.h"

#include <string>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "planner/layout/validate.h"

namespace meshwright::layout {
namespace {

// A problem without links never gets into the cache, but is looked up.
const std::string& LinkContent(const LayoutProblem& problem) {
  static const std::string* const kNone = new std::string;
  return problem.links == nullptr ? *kNone : problem.links->content();
}

auto Content(const LayoutProblem& problem) {
  return std::tuple<const std::vector<int64_t>&, int64_t,
                    const std::vector<int64_t>&, const Spec&, const Spec&,
                    const std::string&>(problem.shape, problem.elem_bytes,
                                        problem.mesh, problem.source,
                                        problem.target, LinkContent(problem));
}

}  // namespace

size_t LayoutPlanner::ContentHash::operator()(
    const LayoutProblem& problem) const {
  return absl::HashOf(Content(problem));
}

bool LayoutPlanner::ContentEqual::operator()(const LayoutProblem& a,
                                             const LayoutProblem& b) const {
  return Content(a) == Content(b);
}

absl::StatusOr<std::shared_ptr<const Conversion>> LayoutPlanner::Convert(
    const LayoutProblem& problem, const SearchOptions& options) {
  {
    base::MutexLock lock(&mutex_);
    const auto found = known_.find(problem);
    if (found != known_.end()) return found->second;
  }
  RETURN_IF_ERROR(Validate(problem));
  ASSIGN_OR_RETURN(Conversion conversion, FindCheapestPath(problem, options));
  const bool proved = !conversion.path.has_value() ||
                      conversion.path->time == conversion.lower_bound;
  auto answer = std::make_shared<const Conversion>(std::move(conversion));
  if (!proved) return answer;
  base::MutexLock lock(&mutex_);
  if (known_.size() >= kMaxEntries) known_.clear();
  return known_.try_emplace(problem, std::move(answer)).first->second;
}

size_t LayoutPlanner::entries() const {
  base::MutexLock lock(&mutex_);
  return known_.size();
}

}  // namespace meshwright::layout
