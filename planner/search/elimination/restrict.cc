#include "planner/search/elimination/restrict.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace meshwright::search {
namespace {

// The entry of every value where all are the same and finite.
std::optional<Cost> Constant(const Matrix& matrix) {
  const Cost first = matrix.entries.front();
  if (first >= kNever) return std::nullopt;
  for (const Cost entry : matrix.entries) {
    if (entry != first) return std::nullopt;
  }
  return first;
}

class Restriction {
 public:
  Restriction(const Model& model, const Keep& keep) : old_(model) {
    made_.base = model.base;
    made_.hidden = model.hidden;
    for (const Domain& domain : model.domains) {
      all_.emplace_back(domain.size());
      std::iota(all_.back().begin(), all_.back().end(), 0);
    }
    values_.reserve(model.variables.size());
    for (size_t v = 0; v < model.variables.size(); ++v) {
      values_.push_back(keep.empty() ? &all_[model.variables[v].domain]
                                     : &keep[v]);
    }
    extra_.resize(model.variables.size());
  }

  Model Make() {
    for (const Model::Join& join : old_.joins) AddJoin(join);
    for (size_t v = 0; v < old_.variables.size(); ++v) {
      made_.variables.push_back({MakeDomain(v), old_.variables[v].slot});
    }
    return std::move(made_);
  }

 private:
  using Values = std::vector<int>;

  void AddJoin(const Model::Join& join) {
    const Values& rows = *values_[join.a];
    const Values& columns = *values_[join.b];
    if (rows.empty() || columns.empty()) return;
    const Matrix& whole = old_.matrices[join.matrix];
    if (rows.size() == 1 || columns.size() == 1) {
      Absorb(join, whole, rows, columns);
      return;
    }
    const auto [entry, is_new] =
        matrices_.try_emplace({join.matrix, rows, columns}, Known{});
    Known& known = entry->second;
    if (is_new) {
      Matrix part = Part(whole, rows, columns);
      // The values of a run's copies depend on both its ends, at any cost.
      if (!join.is_run) known.constant = Constant(part);
      if (!known.constant.has_value()) {
        known.matrix = made_.matrices.size();
        made_.matrices.push_back(std::move(part));
      }
    }
    if (known.constant.has_value()) {
      made_.base = Clamp(made_.base + *known.constant);
      return;
    }
    made_.joins.push_back({join.a, join.b, known.matrix, join.is_run});
  }

  void Absorb(const Model::Join& join, const Matrix& whole, const Values& rows,
              const Values& columns) {
    std::vector<Cost>& extra = extra_[rows.size() == 1 ? join.b : join.a];
    extra.resize(std::max(rows.size(), columns.size()), 0);
    size_t i = 0;
    for (const int row : rows) {
      for (const int column : columns) {
        extra[i] = Clamp(extra[i] + whole.at(row, column));
        ++i;
      }
    }
  }

  int MakeDomain(int v) {
    const Domain& old = old_.domain(v);
    const auto [entry, is_new] =
        domains_.try_emplace({old_.variables[v].domain, *values_[v], extra_[v]},
                             static_cast<int>(made_.domains.size()));
    if (is_new) {
      Domain domain;
      for (const int value : *values_[v]) {
        domain.configs.push_back(old.configs[value]);
        domain.time.push_back(old.time[value]);
        domain.bytes.push_back(old.bytes[value]);
        domain.transient.push_back(old.transient[value]);
      }
      for (size_t i = 0; i < extra_[v].size(); ++i) {
        domain.time[i] = Clamp(domain.time[i] + extra_[v][i]);
      }
      made_.domains.push_back(std::move(domain));
    }
    return entry->second;
  }

  struct Known {
    int matrix = 0;
    std::optional<Cost> constant;
  };

  const Model& old_;
  std::vector<Values> all_;               // by domain
  std::vector<const Values*> values_;     // by variable
  std::vector<std::vector<Cost>> extra_;  // absorbed joins, by value kept
  std::map<std::tuple<int, Values, Values>, Known> matrices_;
  std::map<std::tuple<int, Values, std::vector<Cost>>, int> domains_;
  Model made_;
};

}  // namespace

Model Restrict(const Model& model, const Keep& keep) {
  return Restriction(model, keep).Make();
}

}  // namespace meshwright::search
