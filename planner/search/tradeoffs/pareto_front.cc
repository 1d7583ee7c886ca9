#include "planner/search/tradeoffs/pareto_front.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/problem/allowed.h"

namespace meshwright::search {
namespace {

using problem::PlanProblem;

constexpr int64_t kMaxPoints = 10'000;
// Searches for each point asked for; some find one that is known.
constexpr int64_t kSearchesPerPoint = 4;

class Tracer {
 public:
  Tracer(const PlanProblem& problem, int64_t points, const Options& options)
      : problem_(problem), points_(points), options_(options) {}

  absl::StatusOr<MemoryFront> Run() {
    const int64_t max_bytes = problem::ComputeUsableBytes(problem_).value_or(
        std::numeric_limits<int64_t>::max());
    problem_.headroom_percent = 0;
    ASSIGN_OR_RETURN(const bool is_feasible, Search(max_bytes));
    if (!is_feasible) {
      front_.is_complete = true;
      return std::move(front_);
    }
    // The limit that nothing fits says what the least memory is.
    RETURN_IF_ERROR(FindMinBytes());
    if (Size() < points_ &&
        front_.points.front().plan.peak_bytes > min_bytes_) {
      RETURN_IF_ERROR(SearchFurther(min_bytes_));
    }
    for (int64_t search = kSearchesPerPoint * points_;
         search > 0 && Size() < points_ && !is_unknown_ &&
         !options_.deadline.HasPassed();
         --search) {
      const std::optional<size_t> widest = Widest();
      if (!widest.has_value()) break;
      RETURN_IF_ERROR(SearchFurther(LimitAfter(*widest)));
    }
    RETURN_IF_ERROR(LowerPoints());
    front_.is_complete = front_.points.front().plan.peak_bytes == min_bytes_ &&
                         !Widest().has_value() && IsExact() && !is_unknown_;
    return std::move(front_);
  }

 private:
  int64_t Size() const { return static_cast<int64_t>(front_.points.size()); }

  bool IsExact() const {
    return std::all_of(
        front_.points.begin(), front_.points.end(),
        [](const FrontPoint& p) { return p.lower_bound == p.plan.time; });
  }

  absl::Status FindMinBytes() {
    min_bytes_ = 0;
    front_.least_memory_bytes = 0;
    if (front_.points.front().plan.peak_bytes == 0) return {};
    problem_.memory_limit_bytes = 0;
    auto answer = Solve(problem_, options_);
    if (answer.ok() && answer->plan.has_value()) {
      if (Size() < points_) Add(*std::move(answer), 0);
    } else if (answer.ok()) {
      min_bytes_ = answer->least_memory_bytes.value_or(0);
    } else if (answer.status().code() == absl::StatusCode::kResourceExhausted) {
      // Unproved: what is known to fit is the end of the front.
      min_bytes_ = front_.points.front().plan.peak_bytes;
      is_unknown_ = true;
      front_.least_memory_bytes.reset();
      return {};
    } else {
      return answer.status();
    }
    front_.least_memory_bytes = min_bytes_;
    return {};
  }

  // False if nothing fits.
  absl::StatusOr<bool> Search(int64_t limit) {
    problem_.memory_limit_bytes = limit;
    ASSIGN_OR_RETURN(Answer answer, Solve(problem_, options_));
    if (!answer.plan.has_value()) {
      front_.least_memory_bytes = answer.least_memory_bytes;
      return false;
    }
    Add(std::move(answer), limit);
    return true;
  }

  // A search without an answer leaves the points that are known.
  absl::Status SearchFurther(int64_t limit) {
    const absl::Status status = Search(limit).status();
    if (!absl::IsResourceExhausted(status)) return status;
    is_unknown_ = true;
    return {};
  }

  // Keeps points that none beats, and what is known about limits between.
  void Add(Answer answer, int64_t limit) {
    std::vector<FrontPoint>& points = front_.points;
    points.push_back({*std::move(answer.plan), answer.lower_bound, limit});
    std::stable_sort(points.begin(), points.end(),
                     [](const FrontPoint& a, const FrontPoint& b) {
                       return std::pair(a.plan.peak_bytes, a.plan.time) <
                              std::pair(b.plan.peak_bytes, b.plan.time);
                     });
    std::vector<FrontPoint> kept;
    for (FrontPoint& point : points) {
      if (kept.empty() || point.plan.time < kept.back().plan.time) {
        kept.push_back(std::move(point));
        continue;
      }
      // Beaten; but what it said of its limit holds for the better plan.
      FrontPoint& better = kept.back();
      if (point.limit_bytes <= better.limit_bytes) continue;
      better.limit_bytes = point.limit_bytes;
      better.lower_bound =
          std::min(point.lower_bound, problem::Picoseconds(better.plan.time));
    }
    // A bound for more memory holds for less.
    for (size_t i = kept.size() - 1; i > 0; --i) {
      kept[i - 1].lower_bound =
          std::max(kept[i - 1].lower_bound, kept[i].lower_bound);
    }
    points = std::move(kept);
  }

  // Takes plans of fewer bytes that are as fast, where limits below a point are
  // not known.
  absl::Status LowerPoints() {
    int64_t searches = kSearchesPerPoint * Size();
    for (size_t i = Size(); i > 0; --i) {
      FrontPoint& point = front_.points[i - 1];
      // Within so many bytes every plan is slower, as far as is known.
      int64_t slower =
          i > 1 ? front_.points[i - 2].limit_bytes : min_bytes_ - 1;
      for (int64_t limit = point.plan.peak_bytes - 1;
           limit > slower && searches > 0 && !options_.deadline.HasPassed();
           --searches) {
        problem_.memory_limit_bytes = limit;
        absl::StatusOr<Answer> solved = Solve(problem_, options_);
        if (absl::IsResourceExhausted(solved.status())) {
          is_unknown_ = true;
          return {};
        }
        ASSIGN_OR_RETURN(Answer answer, std::move(solved));
        if (answer.plan.has_value() && answer.plan->time == point.plan.time) {
          point.plan = *std::move(answer.plan);
          limit = slower + (point.plan.peak_bytes - slower) / 2;
        } else {
          slower = limit;
          limit = point.plan.peak_bytes - 1;
        }
      }
    }
    return {};
  }

  // Whether limits between this point and the next are not known.
  bool IsOpen(size_t i) const {
    const std::vector<FrontPoint>& points = front_.points;
    return points[i].limit_bytes < points[i + 1].plan.peak_bytes - 1;
  }

  std::optional<size_t> Widest() const {
    std::optional<size_t> widest;
    double max_area = 0;
    for (size_t i = 0; i + 1 < front_.points.size(); ++i) {
      if (!IsOpen(i)) continue;
      const FrontPoint& a = front_.points[i];
      const FrontPoint& b = front_.points[i + 1];
      const double area =
          static_cast<double>(b.plan.peak_bytes - a.limit_bytes) *
          static_cast<double>((a.plan.time - b.plan.time).count());
      if (widest.has_value() && area <= max_area) continue;
      max_area = area;
      widest = i;
    }
    return widest;
  }

  // The middle; where the half before held nothing new, the end.
  int64_t LimitAfter(size_t i) const {
    const FrontPoint& a = front_.points[i];
    const int64_t end = front_.points[i + 1].plan.peak_bytes - 1;
    if (a.limit_bytes > a.plan.peak_bytes) return end;
    return a.limit_bytes + (end - a.limit_bytes + 1) / 2;
  }

  PlanProblem problem_;
  const int64_t points_;
  const Options& options_;
  MemoryFront front_;
  int64_t min_bytes_ = 0;
  bool is_unknown_ = false;  // of a limit, whether a plan is within it
};

}  // namespace

absl::StatusOr<MemoryFront> FindFront(const PlanProblem& problem,
                                      int64_t points, const Options& options) {
  if (points < 1 || points > kMaxPoints) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a front of ", points, " points was asked for, but it has ",
        "at least 1 and at most ", kMaxPoints));
  }
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(MemoryFront front, Tracer(problem, points, options).Run());
  front.elapsed = std::chrono::steady_clock::now() - begin;
  return front;
}

}  // namespace meshwright::search
