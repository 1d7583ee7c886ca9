#include "planner/search/elimination/message_passing.h"

#include <algorithm>

#include "planner/search/graph/min_plus.h"

namespace meshwright::search {
namespace {

// Of dead places, wherever they count. Above every cost, and small enough that
// a join's entry can be added.
constexpr Cost kDead = kNever / 2;

}  // namespace

Duals::Duals(const Model& model, int64_t price, Cost most)
    : model_(model),
      most_(most),
      earlier_(model.variables.size()),
      later_(model.variables.size()),
      own_(PricedTimes(model, price)) {
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
}

bool Duals::Pass(const base::Deadline& deadline) {
  for (const bool forward : {true, false}) {
    if (is_empty_) return false;
    Sweep(forward, deadline);
  }
  return !is_empty_;
}

void Duals::Sweep(bool forward, const base::Deadline& deadline) {
  const Cost bound = Bound() - rounding_;
  is_empty_ = bound >= kDead;
  const int size = static_cast<int>(own_.size());
  for (int i = 0; i < size && !is_empty_ && !deadline.HasPassed(); ++i) {
    const int v = forward ? i : size - 1 - i;
    const auto& behind = forward ? earlier_[v] : later_[v];
    const auto& ahead = forward ? later_[v] : earlier_[v];
    for (const Side& side : behind) Draw(v, side);
    Bury(v, bound);
    HandOn(v, ahead, std::max(earlier_[v].size(), later_[v].size()));
  }
}

// Moves into the variable what the join guarantees for each of its places.
void Duals::Draw(int v, const Side& side) {
  const Model::Join& join = model_.joins[side.join];
  const Matrix& matrix = model_.matrices[join.matrix];
  std::vector<Cost>& near = (side.is_row ? rows_ : columns_)[side.join];
  const std::vector<Cost>& far = (side.is_row ? columns_ : rows_)[side.join];
  least_.assign(near.size(), kNever);
  const Rows rows{matrix.entries.data(), matrix.columns, matrix.rows,
                  matrix.columns};
  if (side.is_row) {
    MinOverColumns(rows, far.data(), least_.data());
  } else {
    MinOverRows(rows, far.data(), least_.data());
  }
  for (size_t c = 0; c < near.size(); ++c) {
    if (own_[v][c] >= kDead) continue;
    if (least_[c] >= kDead) {
      own_[v][c] = kDead;
      continue;
    }
    own_[v][c] += least_[c] + near[c];
    near[c] = -least_[c];
  }
}

// `bound` is one of all choices. The joins behind the variable guarantee
// nothing more, so those through a place cost more by what it exceeds the
// variable's least by.
void Duals::Bury(int v, Cost bound) {
  const Cost least = *std::min_element(own_[v].begin(), own_[v].end());
  if (least >= kDead) {
    is_empty_ = true;
    return;
  }
  is_empty_ = true;
  for (size_t c = 0; c < own_[v].size(); ++c) {
    Cost& own = own_[v][c];
    if (own < kDead && bound + own - least <= most_) {
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

void Duals::HandOn(int v, const std::vector<Side>& sides, int shares) {
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

Cost Duals::LeastOf(int join) const {
  const Matrix& matrix = model_.matrices[model_.joins[join].matrix];
  std::vector<Cost> by_row(matrix.rows);
  MinOverColumns(
      {matrix.entries.data(), matrix.columns, matrix.rows, matrix.columns},
      columns_[join].data(), by_row.data());
  Cost least = kDead;
  for (int row = 0; row < matrix.rows; ++row) {
    least = std::min(least, by_row[row] + rows_[join][row]);
  }
  return least;
}

Cost Duals::Bound() const {
  if (is_empty_) return kNever;
  Cost bound = model_.base;
  for (const std::vector<Cost>& own : own_) {
    bound += *std::min_element(own.begin(), own.end());
  }
  for (size_t j = 0; j < model_.joins.size(); ++j) {
    const Cost least = LeastOf(static_cast<int>(j));
    if (least >= kDead / 2) return kNever;
    bound += least;
  }
  return bound;
}

Keep Duals::Alive() const {
  Keep alive(own_.size());
  for (size_t v = 0; v < own_.size(); ++v) {
    for (size_t c = 0; c < own_[v].size(); ++c) {
      if (own_[v][c] < kDead) alive[v].push_back(static_cast<int>(c));
    }
  }
  return alive;
}

Potentials Duals::Moved() const {
  Potentials moved{.base = Bound(), .own = own_};
  for (std::vector<Cost>& own : moved.own) {
    const Cost least = *std::min_element(own.begin(), own.end());
    for (Cost& cost : own) cost = cost >= kDead ? kNever : cost - least;
  }
  for (size_t j = 0; j < model_.joins.size(); ++j) {
    Matrix matrix = model_.matrices[model_.joins[j].matrix];
    const Cost least = LeastOf(static_cast<int>(j));
    for (int row = 0; row < matrix.rows; ++row) {
      for (int column = 0; column < matrix.columns; ++column) {
        Cost& entry =
            matrix.entries[static_cast<size_t>(row) * matrix.columns + column];
        entry += rows_[j][row] + columns_[j][column];
        entry = entry >= kDead ? kNever : entry - least;
      }
    }
    moved.joins.push_back(std::move(matrix));
  }
  return moved;
}

}  // namespace meshwright::search
