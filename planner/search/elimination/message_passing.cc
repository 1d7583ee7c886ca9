#include "planner/search/elimination/message_passing.h"

#include <algorithm>

#include "planner/search/graph/min_plus.h"

namespace meshwright::search {
namespace {

// Of dead values, wherever they count. Above every cost, and small enough that
// a join's entry can be added.
constexpr Cost kDead = kNever / 2;
constexpr int kMaxPasses = 40;
// Passes go on while the bound rises by more than this part of itself.
constexpr Cost kSmallRise = 20'000;

}  // namespace

MessagePassing::MessagePassing(const Model& model, const Cutoff& cutoff)
    : model_(model),
      earlier_(model.variables.size()),
      later_(model.variables.size()),
      own_(ChargeTimes(model, 0)) {
  for (size_t j = 0; j < model.joins.size(); ++j) {
    const Model::Join& join = model.joins[j];
    const bool is_rising = join.a < join.b;
    const int number = static_cast<int>(j);
    (is_rising ? later_ : earlier_)[join.a].push_back({number, true});
    (is_rising ? earlier_ : later_)[join.b].push_back({number, false});
    rows_.emplace_back(model.size(join.a), 0);
    columns_.emplace_back(model.size(join.b), 0);
  }
  for (size_t v = 0; v < own_.size(); ++v) {
    rounding_ += std::max(earlier_[v].size(), later_[v].size());
    is_empty_ = is_empty_ || own_[v].empty();
  }
  SetCutoff(cutoff);
}

void MessagePassing::SetCutoff(const Cutoff& cutoff) {
  std::vector<std::vector<Cost>> risen;
  transients_.clear();
  for (const Domain& domain : model_.domains) {
    risen.emplace_back();
    transients_.emplace_back();
    for (int c = 0; c < domain.size(); ++c) {
      risen.back().push_back(Charge(cutoff.multiplier, domain.bytes[c]) -
                             Charge(cutoff_.multiplier, domain.bytes[c]));
      transients_.back().push_back(
          domain.transient[c] <= cutoff.free_transient
              ? 0
              : Charge(cutoff.multiplier,
                       domain.transient[c] - cutoff.free_transient));
    }
  }
  for (size_t v = 0; v < own_.size(); ++v) {
    const std::vector<Cost>& by = risen[model_.variables[v].domain];
    for (size_t c = 0; c < own_[v].size(); ++c) {
      if (own_[v][c] < kDead) own_[v][c] += by[c];
    }
  }
  cutoff_ = cutoff;
  bound_ = Bound();
}

bool MessagePassing::Pass(const base::Deadline& deadline) {
  for (const bool forward : {true, false}) {
    if (is_empty_) return false;
    Sweep(forward, deadline);
  }
  bound_ = Bound();
  return !is_empty_;
}

bool MessagePassing::Converge(const base::Deadline& deadline) {
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    const Cost before = bound_;
    if (!Pass(deadline)) return false;
    if (deadline.HasPassed()) return true;
    if (pass > 0 && bound_ - before <= bound_ / kSmallRise) return true;
  }
  return true;
}

void MessagePassing::Sweep(bool forward, const base::Deadline& deadline) {
  is_empty_ = bound_ >= kDead;
  const int size = static_cast<int>(own_.size());
  for (int i = 0; i < size && !is_empty_ && !deadline.HasPassed(); ++i) {
    const int v = forward ? i : size - 1 - i;
    const auto& behind = forward ? earlier_[v] : later_[v];
    const auto& ahead = forward ? later_[v] : earlier_[v];
    for (const Side& side : behind) Draw(v, side);
    Bury(v);
    HandOn(v, ahead, std::max(earlier_[v].size(), later_[v].size()));
  }
}

// Moves into the variable what the join guarantees for each of its values.
void MessagePassing::Draw(int v, const Side& side) {
  const Model::Join& join = model_.joins[side.join];
  const Matrix& matrix = model_.matrices[join.matrix];
  std::vector<Cost>& near = (side.is_row ? rows_ : columns_)[side.join];
  const std::vector<Cost>& far = (side.is_row ? columns_ : rows_)[side.join];
  minima_.assign(near.size(), kNever);
  const Rows rows{matrix.entries.data(), matrix.columns, matrix.rows,
                  matrix.columns};
  if (side.is_row) {
    MinOverColumns(rows, far.data(), minima_.data());
  } else {
    MinOverRows(rows, far.data(), minima_.data());
  }
  for (size_t c = 0; c < near.size(); ++c) {
    if (own_[v][c] >= kDead) continue;
    if (minima_[c] >= kDead) {
      own_[v][c] = kDead;
      continue;
    }
    own_[v][c] += minima_[c] + near[c];
    near[c] = -minima_[c];
  }
}

// The joins behind the variable guarantee nothing more, so choices through a
// value cost more than the bound of all by what it exceeds the least by.
void MessagePassing::Bury(int v) {
  const Cost min_cost = *std::min_element(own_[v].begin(), own_[v].end());
  is_empty_ = true;
  if (min_cost >= kDead) return;
  const std::vector<Cost>& transients = transients_[model_.variables[v].domain];
  const Cost max_own = cutoff_.max_cost - (bound_ - 2 * rounding_) + min_cost;
  for (size_t c = 0; c < own_[v].size(); ++c) {
    Cost& own = own_[v][c];
    if (own < kDead && own + transients[c] <= max_own) {
      is_empty_ = false;
      continue;
    }
    own = kDead;
    for (const auto* sides : {&earlier_[v], &later_[v]}) {
      for (const Side& side : *sides) {
        (side.is_row ? rows_ : columns_)[side.join][c] = kDead;
      }
    }
  }
}

void MessagePassing::HandOn(int v, const std::vector<Side>& sides, int shares) {
  if (sides.empty()) return;
  for (size_t c = 0; c < own_[v].size(); ++c) {
    Cost& own = own_[v][c];
    if (own >= kDead) continue;
    // Rounded down, also below zero.
    const Cost share =
        own >= 0 ? own / shares : -((-own + shares - 1) / shares);
    for (const Side& side : sides) {
      (side.is_row ? rows_ : columns_)[side.join][c] += share;
      own -= share;
    }
  }
}

Cost MessagePassing::FindMin(int join) const {
  const Matrix& matrix = model_.matrices[model_.joins[join].matrix];
  std::vector<Cost> by_row(matrix.rows);
  MinOverColumns(
      {matrix.entries.data(), matrix.columns, matrix.rows, matrix.columns},
      columns_[join].data(), by_row.data());
  Cost min_cost = kDead;
  for (int row = 0; row < matrix.rows; ++row) {
    min_cost = std::min(min_cost, by_row[row] + rows_[join][row]);
  }
  return min_cost;
}

Cost MessagePassing::Bound() const {
  if (is_empty_) return kNever;
  Cost bound = model_.base;
  for (const std::vector<Cost>& own : own_) {
    bound += *std::min_element(own.begin(), own.end());
  }
  for (size_t j = 0; j < model_.joins.size(); ++j) {
    const Cost min_cost = FindMin(static_cast<int>(j));
    if (min_cost >= kDead / 2) return kNever;
    bound += min_cost;
  }
  return bound;
}

std::vector<int> MessagePassing::Values() const {
  std::vector<int> values;
  std::vector<Cost> costs;
  for (size_t v = 0; v < own_.size(); ++v) {
    costs = own_[v];
    for (const Side& side : earlier_[v]) {
      const Model::Join& join = model_.joins[side.join];
      const MatrixView link{&model_.matrices[join.matrix], !side.is_row};
      const std::vector<Cost>& near =
          (side.is_row ? rows_ : columns_)[side.join];
      const int other = values[side.is_row ? join.b : join.a];
      for (size_t c = 0; c < costs.size(); ++c) {
        costs[c] = Clamp(costs[c] + near[c] + link.at(c, other));
      }
    }
    values.push_back(static_cast<int>(
        std::min_element(costs.begin(), costs.end()) - costs.begin()));
  }
  return values;
}

Keep MessagePassing::Alive() const {
  Keep alive(own_.size());
  for (size_t v = 0; v < own_.size(); ++v) {
    for (size_t c = 0; c < own_[v].size(); ++c) {
      if (own_[v][c] < kDead) alive[v].push_back(static_cast<int>(c));
    }
  }
  return alive;
}

Potentials MessagePassing::Moved() const {
  Potentials moved{.base = bound_, .own = own_};
  for (std::vector<Cost>& own : moved.own) {
    const Cost min_cost = *std::min_element(own.begin(), own.end());
    for (Cost& cost : own) cost = cost >= kDead ? kNever : cost - min_cost;
  }
  for (size_t j = 0; j < model_.joins.size(); ++j) {
    Matrix matrix = model_.matrices[model_.joins[j].matrix];
    const Cost min_cost = FindMin(static_cast<int>(j));
    for (int row = 0; row < matrix.rows; ++row) {
      for (int column = 0; column < matrix.columns; ++column) {
        Cost& entry =
            matrix.entries[static_cast<size_t>(row) * matrix.columns + column];
        entry += rows_[j][row] + columns_[j][column];
        entry = entry >= kDead ? kNever : entry - min_cost;
      }
    }
    moved.joins.push_back(std::move(matrix));
  }
  return moved;
}

}  // namespace meshwright::search
