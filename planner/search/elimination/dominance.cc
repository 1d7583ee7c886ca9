#include "planner/search/elimination/dominance.h"

#include <algorithm>
#include <map>
#include <utility>

#include "planner/search/elimination/restrict.h"

namespace meshwright::search {
namespace {

// Later rounds seldom find more; what is left over costs time, not exactness.
constexpr int kMaxRounds = 8;

// One end of a matrix, its rows first whichever end that is.
struct Side {
  Matrix matrix;
  std::vector<Cost> least;  // by row
  std::vector<Cost> most;   // of the finite entries, by row
};

Side MakeSide(const Matrix& matrix, bool transposed) {
  Side side;
  const Link link{&matrix, transposed};
  const int rows = transposed ? matrix.columns : matrix.rows;
  const int columns = link.columns();
  side.matrix = {rows, columns, matrix.entries};
  Cost* row = side.matrix.entries.data();
  for (int r = 0; r < rows; ++r, row += columns) {
    Cost least = kNever;
    Cost most = 0;
    for (int c = 0; c < columns; ++c) {
      if (transposed) row[c] = link.at(r, c);
      least = std::min(least, row[c]);
      most = std::max(most, row[c] < kNever ? row[c] : 0);
    }
    side.least.push_back(least);
    side.most.push_back(most);
  }
  return side;
}

// A bound from below of Worst, without looking at the entries.
Cost Hint(const Side& side, int better, int worse) {
  return std::max(side.least[better] - side.least[worse],
                  side.most[better] - side.most[worse]);
}

// The most that row `better` exceeds row `worse` by, where that is allowed.
Cost Worst(const Side& side, int better, int worse) {
  const int columns = side.matrix.columns;
  const Cost* const a =
      &side.matrix.entries[static_cast<size_t>(better) * columns];
  const Cost* const b =
      &side.matrix.entries[static_cast<size_t>(worse) * columns];
  Cost worst = -kNever;
  for (int i = 0; i < columns; ++i) {
    if (b[i] < kNever) worst = std::max(worst, a[i] - b[i]);
  }
  return worst;
}

class Reducer {
 public:
  Reducer(const Model& model, bool with_memory, const base::Deadline& deadline)
      : model_(model), with_memory_(with_memory), deadline_(deadline) {
    for (const Model::Hidden& hidden : model.hidden) {
      has_hidden_.resize(model.variables.size(), false);
      has_hidden_[hidden.a] = has_hidden_[hidden.b] = true;
    }
  }

  // Empty when every value stays, or when stopped.
  Keep Run() {
    const auto joins_of = FindJoins(model_);
    Keep keep;
    bool is_same = true;
    for (size_t v = 0; v < model_.variables.size(); ++v) {
      if (deadline_.HasPassed()) return {};
      keep.push_back(FindKept(v, joins_of[v]));
      is_same = is_same && static_cast<int>(keep[v].size()) == model_.size(v);
    }
    if (is_same) keep.clear();
    return keep;
  }

 private:
  const std::vector<int>& FindKept(int v, const std::vector<int>& joins) {
    const bool has_hidden = !has_hidden_.empty() && has_hidden_[v];
    std::vector<int> alike = {model_.variables[v].domain, has_hidden};
    for (const int j : joins) {
      const bool is_row = model_.joins[j].a == v;
      alike.push_back(model_.joins[j].matrix * 2 + (is_row ? 0 : 1));
    }
    std::sort(alike.begin() + 2, alike.end());
    const auto [entry, is_new] = known_.try_emplace(alike);
    if (is_new) {
      std::vector<const Side*> sides;
      for (size_t i = 2; i < alike.size(); ++i) {
        sides.push_back(&SideAt(alike[i]));
      }
      entry->second = Keepers(model_.domain(v), sides, has_hidden);
    }
    return entry->second;
  }

  const Side& SideAt(int use) {
    const auto [entry, is_new] = sides_.try_emplace(use);
    if (is_new) {
      entry->second = MakeSide(model_.matrices[use / 2], use % 2 == 1);
    }
    return entry->second;
  }

  std::vector<int> Keepers(const Domain& domain,
                           const std::vector<const Side*>& sides,
                           bool has_hidden) const {
    std::vector<int> possible;
    for (int c = 0; c < domain.size(); ++c) {
      if (domain.time[c] < kNever &&
          std::all_of(sides.begin(), sides.end(),
                      [c](const Side* s) { return s->least[c] < kNever; })) {
        possible.push_back(c);
      }
    }
    std::vector<int> kept;
    for (const int worse : possible) {
      if (std::none_of(possible.begin(), possible.end(), [&](int better) {
            return better != worse &&
                   Dominates(domain, sides, has_hidden, better, worse);
          })) {
        kept.push_back(worse);
      }
    }
    return kept;
  }

  bool Dominates(const Domain& domain, const std::vector<const Side*>& sides,
                 bool has_hidden, int better, int worse) const {
    if (with_memory_ && (domain.bytes[better] > domain.bytes[worse] ||
                         domain.transient[better] > domain.transient[worse])) {
      return false;
    }
    // Copies inside a run change along, so that equal is not smaller there.
    const Cost most = better < worse && !has_hidden ? 0 : -1;
    __int128 sum = domain.time[better] - domain.time[worse];
    for (const Side* side : sides) sum += Hint(*side, better, worse);
    for (const Side* side : sides) {
      if (sum > most) return false;
      sum += Worst(*side, better, worse) - Hint(*side, better, worse);
    }
    return sum <= most;
  }

  const Model& model_;
  bool with_memory_;
  const base::Deadline& deadline_;
  std::vector<bool> has_hidden_;
  std::map<int, Side> sides_;  // by matrix and end
  std::map<std::vector<int>, std::vector<int>> known_;
};

}  // namespace

Model Reduce(Model model, bool with_memory, const base::Deadline& deadline) {
  model = Narrow(model, {});
  for (int round = 0; round < kMaxRounds; ++round) {
    const Keep keep = Reducer(model, with_memory, deadline).Run();
    if (keep.empty()) break;
    model = Narrow(model, keep);
  }
  return model;
}

}  // namespace meshwright::search
