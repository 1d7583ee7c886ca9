#include "planner/search/elimination/buckets.h"

#include <algorithm>
#include <utility>

namespace meshwright::search {
namespace {

void Merge(std::vector<int>& scope, const std::vector<int>& other, int but) {
  for (const int v : other) {
    if (v != but && std::find(scope.begin(), scope.end(), v) == scope.end()) {
      scope.push_back(v);
    }
  }
}

}  // namespace

std::vector<std::vector<Cost>> ChargeTimes(const Model& model,
                                           int64_t multiplier) {
  std::vector<std::vector<Cost>> by_domain;
  for (const Domain& domain : model.domains) {
    by_domain.push_back(domain.time);
    for (int c = 0; c < domain.size(); ++c) {
      Cost& cost = by_domain.back()[c];
      cost = Clamp(cost + Charge(multiplier, domain.bytes[c]));
    }
  }
  std::vector<std::vector<Cost>> times;
  times.reserve(model.variables.size());
  for (const Model::Variable& v : model.variables) {
    times.push_back(by_domain[v.domain]);
  }
  return times;
}

Buckets::Buckets(const Model& model, int64_t multiplier,
                 const std::vector<int>& sequence, int64_t max_entries,
                 const Potentials* potentials, const base::Deadline& deadline)
    : model_(model),
      sequence_(sequence),
      own_(potentials != nullptr ? potentials->own
                                 : ChargeTimes(model, multiplier)),
      buckets_(model.variables.size()),
      bound_(potentials != nullptr ? potentials->base : model.base) {
  shape_.positions.resize(sequence.size());
  for (size_t i = 0; i < sequence.size(); ++i) {
    shape_.positions[sequence[i]] = i;
  }
  for (size_t v = 0; v < sequence.size(); ++v) {
    shape_.sizes.push_back(model.size(v));
    if (model.size(v) == 0) bound_ = kNever;
  }
  if (bound_ >= kNever) return;
  AddJoins(potentials);
  for (const int v : sequence_) {
    is_complete_ = !deadline.HasPassed();
    if (is_complete_) Split(v, max_entries);
    is_complete_ = is_complete_ && Close(v, deadline);
    if (!is_complete_) return;
  }
}

void Buckets::AddJoins(const Potentials* potentials) {
  for (size_t j = 0; j < model_.joins.size(); ++j) {
    const Model::Join& join = model_.joins[j];
    const Matrix& matrix = potentials != nullptr ? potentials->joins[j]
                                                 : model_.matrices[join.matrix];
    Put({{join.a, join.b}, {matrix.columns, 1}, matrix.entries.data()});
  }
}

// Into the bucket of the variable of its scope that goes first.
void Buckets::Put(const View& view) {
  const int first = *std::min_element(
      view.scope.begin(), view.scope.end(),
      [&](int a, int b) { return shape_.positions[a] < shape_.positions[b]; });
  buckets_[first].views.push_back(view);
}

void Buckets::Split(int v, int64_t max_entries) {
  Bucket& bucket = buckets_[v];
  for (const View& view : bucket.views) Merge(bucket.scope, view.scope, v);
  if (CountEntries(bucket.scope, shape_) <= max_entries) {
    bucket.parts.push_back({std::move(bucket.views), {}, {}});
    return;
  }
  is_exact_ = false;
  std::stable_sort(bucket.views.begin(), bucket.views.end(),
                   [&](const View& a, const View& b) {
                     return CountEntries(a.scope, shape_) >
                            CountEntries(b.scope, shape_);
                   });
  std::vector<std::vector<int>> scopes;
  for (const View& view : bucket.views) {
    size_t part = 0;
    for (; part < scopes.size(); ++part) {
      std::vector<int> together = scopes[part];
      Merge(together, view.scope, v);
      if (CountEntries(together, shape_) > max_entries) continue;
      scopes[part] = std::move(together);
      break;
    }
    if (part == scopes.size()) {
      scopes.emplace_back();
      Merge(scopes.back(), view.scope, v);
      bucket.parts.emplace_back();
    }
    bucket.parts[part].views.push_back(view);
  }
}

// The variable's own costs count in its first part. False if stopped.
bool Buckets::Close(int v, const base::Deadline& deadline) {
  Bucket& bucket = buckets_[v];
  bucket.views.clear();
  for (size_t p = 0; p < bucket.parts.size(); ++p) {
    Part& part = bucket.parts[p];
    part.left =
        Eliminate(v, p == 0 ? own_[v] : std::vector<Cost>(own_[v].size(), 0),
                  part.views, shape_, deadline);
    if (part.left.costs.empty()) return false;
    part.left_view = MakeView(part.left, shape_);
    if (part.left.scope.empty()) {
      bound_ = Clamp(bound_ + part.left.costs[0]);
    } else {
      Put(part.left_view);
    }
  }
  return true;
}

void Buckets::Additions(int v, const std::vector<int>& values,
                        std::vector<Cost>& out) const {
  const Bucket& bucket = buckets_[v];
  out = own_[v];
  Cost left = 0;
  for (const Part& part : bucket.parts) {
    left = Clamp(left + part.left.costs[part.left_view.Offset(values)]);
    for (const View& view : part.views) {
      const int64_t stride = view.Stride(v);
      const Cost* from = view.costs;
      for (size_t i = 0; i < view.scope.size(); ++i) {
        if (view.scope[i] != v) from += values[view.scope[i]] * view.strides[i];
      }
      for (Cost& cost : out) {
        cost = Clamp(cost + *from);
        from += stride;
      }
    }
  }
  for (Cost& cost : out) cost = cost >= kNever ? kNever : cost - left;
}

Cost Buckets::Addition(int v, const std::vector<int>& values) const {
  Cost cost = own_[v][values[v]];
  Cost left = 0;
  for (const Part& part : buckets_[v].parts) {
    left = Clamp(left + part.left.costs[part.left_view.Offset(values)]);
    for (const View& view : part.views) {
      cost = Clamp(cost + view.costs[view.Offset(values)]);
    }
  }
  return cost >= kNever ? kNever : cost - left;
}

}  // namespace meshwright::search
