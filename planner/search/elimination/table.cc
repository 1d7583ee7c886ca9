#include "planner/search/elimination/table.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "planner/search/graph/min_plus.h"

namespace meshwright::search {
namespace {

constexpr int64_t kStepsBetweenLooks = 1 << 21;
constexpr size_t kEntriesBetweenLooks = 1 << 18;

// Visits the values of `scope` in row-major order; offsets[i] is that of
// views[i]. `visit` returns whether to go on.
template <typename Visit>
void ForEach(const std::vector<int>& scope, const Shape& shape,
             const std::vector<View>& views, const Visit& visit) {
  std::vector<int64_t> offsets(views.size(), 0);
  std::vector<int> at(scope.size(), 0);
  std::vector<std::vector<int64_t>> strides;
  for (const int v : scope) {
    strides.emplace_back();
    for (const View& view : views) strides.back().push_back(view.Stride(v));
  }
  while (visit(offsets)) {
    size_t d = scope.size();
    while (d > 0) {
      const int size = shape.sizes[scope[d - 1]];
      const bool carries = ++at[d - 1] == size;
      const int64_t by = carries ? 1 - size : 1;
      for (size_t i = 0; i < views.size(); ++i) {
        offsets[i] += by * strides[d - 1][i];
      }
      if (!carries) break;
      at[--d] = 0;
    }
    if (d == 0) return;
  }
}

class Eliminating {
 public:
  Eliminating(int variable, const std::vector<Cost>& own,
              std::vector<View> views, const Shape& shape)
      : variable_(variable), own_(own), shape_(shape) {
    for (const View& view : views) {
      for (const int v : view.scope) {
        if (v != variable) rest_.push_back(v);
      }
    }
    std::sort(rest_.begin(), rest_.end(), [&](int a, int b) {
      return shape.positions[a] < shape.positions[b];
    });
    rest_.erase(std::unique(rest_.begin(), rest_.end()), rest_.end());
    if (!rest_.empty()) inner_ = Inner(views);
    for (View& view : views) {
      const bool runs_along = !rest_.empty() && view.Stride(inner_) != 0;
      (runs_along ? with_ : without_).push_back(std::move(view));
    }
  }

  Table Run(const base::Deadline& deadline) {
    Table out;
    if (rest_.empty()) {
      std::vector<Cost> base = own_;
      AddBase(std::vector<int64_t>(without_.size(), 0).data(), base);
      out.costs = {Clamp(*std::min_element(base.begin(), base.end()))};
      return out;
    }
    for (const int v : rest_) {
      if (v != inner_) out.scope.push_back(v);
    }
    const std::vector<int> outer = out.scope;
    out.scope.push_back(inner_);
    if (outer.empty() && with_.size() == 1 && with_[0].Stride(variable_) == 1) {
      OnlyColumns(out);
      return out;
    }
    if (!MergeInner(deadline)) return out;
    out.costs.reserve(CountEntries(out.scope, shape_));
    Loop(outer, deadline, out);
    return out;
  }

 private:
  // The variable to run along: one along which the largest view already lies,
  // not the one that goes next.
  int Inner(const std::vector<View>& views) const {
    if (rest_.size() == 1) return rest_[0];
    int best = rest_[1];
    int64_t largest = 0;
    for (const View& view : views) {
      const int64_t entries = CountEntries(view.scope, shape_);
      for (size_t i = 0; i < view.scope.size(); ++i) {
        const int v = view.scope[i];
        if (view.strides[i] != 1 || v == variable_ || v == rest_[0]) continue;
        if (entries <= largest) continue;
        largest = entries;
        best = v;
      }
    }
    return best;
  }

  // One neighbour, and a matrix that lies along the variable.
  void OnlyColumns(Table& out) const {
    std::vector<Cost> base = own_;
    AddBase(std::vector<int64_t>(without_.size(), 0).data(), base);
    out.costs.resize(shape_.sizes[inner_]);
    const View& view = with_[0];
    MinOverColumns({view.costs, view.Stride(inner_), shape_.sizes[inner_],
                    shape_.sizes[variable_]},
                   base.data(), out.costs.data());
  }

  // Views that run along the inner variable: adds up those whose scope is a
  // part of another's, and lays out afresh what lies otherwise. False if
  // stopped.
  bool MergeInner(const base::Deadline& deadline) {
    int64_t all = shape_.sizes[variable_];
    for (const int v : rest_) all *= shape_.sizes[v];
    std::stable_sort(
        with_.begin(), with_.end(), [&](const View& a, const View& b) {
          return CountEntries(a.scope, shape_) > CountEntries(b.scope, shape_);
        });
    std::vector<View> merged;
    for (size_t i = 0; i < with_.size(); ++i) {
      std::vector<View> group = {with_[i]};
      if (CountEntries(with_[i].scope, shape_) < all || all < kSmall) {
        for (size_t j = i + 1; j < with_.size();) {
          if (IsPart(with_[j], with_[i])) {
            group.push_back(with_[j]);
            with_.erase(with_.begin() + j);
          } else {
            ++j;
          }
        }
      }
      if (group.size() == 1 && group[0].Stride(inner_) == 1) {
        merged.push_back(group[0]);
        continue;
      }
      std::vector<int> scope = group[0].scope;
      std::erase(scope, inner_);
      scope.push_back(inner_);
      owned_.push_back(SumOver(scope, group, shape_, deadline));
      if (owned_.back().costs.empty()) return false;
      merged.push_back(MakeView(owned_.back(), shape_));
    }
    with_ = std::move(merged);
    return true;
  }

  static bool IsPart(const View& part, const View& whole) {
    return std::all_of(part.scope.begin(), part.scope.end(),
                       [&](int v) { return whole.Stride(v) != 0; });
  }

  void Loop(const std::vector<int>& outer, const base::Deadline& deadline,
            Table& out) {
    const int rows = shape_.sizes[variable_];
    const int columns = shape_.sizes[inner_];
    std::vector<View> views = with_;
    views.insert(views.end(), without_.begin(), without_.end());
    std::vector<int64_t> along;  // strides of the variable
    for (const View& view : with_) along.push_back(view.Stride(variable_));
    std::vector<Cost> base;
    std::vector<Cost> sums;
    int64_t steps = 0;
    ForEach(outer, shape_, views, [&](const std::vector<int64_t>& offsets) {
      base = own_;
      AddBase(offsets.data() + with_.size(), base);
      Rows along_inner{with_[0].costs + offsets[0], along[0], rows, columns};
      if (with_.size() > 1) {
        sums.resize(static_cast<size_t>(rows) * columns);
        AddRows(offsets, along, base, sums);
        along_inner.first = sums.data();
        along_inner.stride = columns;
      }
      // Grown row by row, so that no time goes into a table that is not filled.
      const size_t done = out.costs.size();
      out.costs.resize(done + columns, kNever);
      MinOverRows(along_inner, base.data(), out.costs.data() + done);
      steps += static_cast<int64_t>(rows) * columns;
      if (steps < kStepsBetweenLooks) return true;
      steps = 0;
      if (!deadline.HasPassed()) return true;
      out.costs.clear();
      return false;
    });
  }

  void AddBase(const int64_t* offsets, std::vector<Cost>& base) const {
    for (size_t i = 0; i < without_.size(); ++i) {
      const int64_t stride = without_[i].Stride(variable_);
      const Cost* from = without_[i].costs + offsets[i];
      for (Cost& cost : base) {
        cost = Clamp(cost + *from);
        from += stride;
      }
    }
  }

  // Row by row the sum of all views along the inner variable.
  void AddRows(const std::vector<int64_t>& offsets,
               const std::vector<int64_t>& along, const std::vector<Cost>& base,
               std::vector<Cost>& sums) const {
    const int columns = shape_.sizes[inner_];
    for (size_t c = 0; c < base.size(); ++c) {
      if (base[c] >= kNever) continue;
      Cost* const to = &sums[c * columns];
      const Cost* const a = with_[0].costs + offsets[0] + c * along[0];
      const Cost* const b = with_[1].costs + offsets[1] + c * along[1];
      for (int i = 0; i < columns; ++i) to[i] = a[i] + b[i];
      for (size_t w = 2; w < with_.size(); ++w) {
        const Cost* const from = with_[w].costs + offsets[w] + c * along[w];
        for (int i = 0; i < columns; ++i) to[i] = Clamp(to[i]) + from[i];
      }
    }
  }

  static constexpr int64_t kSmall = 1 << 12;

  int variable_;
  const std::vector<Cost>& own_;
  const Shape& shape_;
  std::vector<int> rest_;      // the scope left, by position
  int inner_ = 0;              // where the scope is not empty
  std::vector<View> with_;     // views over the inner variable
  std::vector<View> without_;  // and the others
  std::deque<Table> owned_;
};

}  // namespace

int64_t View::Stride(int variable) const {
  for (size_t i = 0; i < scope.size(); ++i) {
    if (scope[i] == variable) return strides[i];
  }
  return 0;
}

int64_t View::Offset(const std::vector<int>& values) const {
  int64_t offset = 0;
  for (size_t i = 0; i < scope.size(); ++i) {
    offset += values[scope[i]] * strides[i];
  }
  return offset;
}

int64_t CountEntries(const std::vector<int>& scope, const Shape& shape) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  int64_t entries = 1;
  for (const int v : scope) {
    entries = std::min(entries * shape.sizes[v], kHuge);
  }
  return entries;
}

View MakeView(const Table& table, const Shape& shape) {
  View view{table.scope, std::vector<int64_t>(table.scope.size()),
            table.costs.data()};
  int64_t stride = 1;
  for (size_t i = view.scope.size(); i > 0; --i) {
    view.strides[i - 1] = stride;
    stride *= shape.sizes[view.scope[i - 1]];
  }
  return view;
}

Table SumOver(const std::vector<int>& scope, const std::vector<View>& views,
              const Shape& shape, const base::Deadline& deadline) {
  Table sum{scope, {}};
  sum.costs.reserve(CountEntries(scope, shape));
  bool is_stopped = false;
  ForEach(scope, shape, views, [&](const std::vector<int64_t>& offsets) {
    Cost cost = 0;
    for (size_t i = 0; i < views.size(); ++i) {
      cost = Clamp(cost + views[i].costs[offsets[i]]);
    }
    sum.costs.push_back(cost);
    if (sum.costs.size() % kEntriesBetweenLooks != 0) return true;
    is_stopped = deadline.HasPassed();
    return !is_stopped;
  });
  if (is_stopped) sum.costs.clear();
  return sum;
}

Table Eliminate(int variable, const std::vector<Cost>& own,
                std::vector<View> views, const Shape& shape,
                const base::Deadline& deadline) {
  return Eliminating(variable, own, std::move(views), shape).Run(deadline);
}

}  // namespace meshwright::search
