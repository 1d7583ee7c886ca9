#include "planner/layout/testing/exhaustive.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace meshwright::layout {
namespace {

using Range = std::pair<int64_t, int64_t>;
using DeviceTile = std::vector<Range>;  // by dimension
using Cost = std::pair<int64_t, int>;   // picoseconds, steps

constexpr Cost kUnreached = {std::numeric_limits<int64_t>::max(), 0};

class Oracle {
 public:
  Oracle(const LayoutProblem& problem, const std::vector<double>& alpha,
         const std::vector<double>& beta)
      : problem_(problem), alpha_(alpha), beta_(beta) {
    devices_ = 1;
    for (const int64_t size : problem.mesh) devices_ *= size;
    Spec empty(problem.shape.size());
    Enumerate(empty, 0);
    for (const Spec& spec : specs_) AddTiles(spec);
    Connect();
  }

  std::optional<ExhaustivePath> Solve() const {
    const int goal = Index(problem_.target);
    std::vector<Cost> left(specs_.size(), kUnreached);
    std::vector<bool> done(specs_.size(), false);
    left[goal] = {0, 0};
    while (true) {
      int at = -1;
      for (size_t i = 0; i < specs_.size(); ++i) {
        if (!done[i] && left[i] != kUnreached &&
            (at < 0 || left[i] < left[at])) {
          at = static_cast<int>(i);
        }
      }
      if (at < 0) break;
      done[at] = true;
      for (const auto& [from, time] : into_[at]) {
        left[from] = std::min(left[from],
                              Cost{left[at].first + time, left[at].second + 1});
      }
    }
    int at = Index(problem_.source);
    if (left[at] == kUnreached) return std::nullopt;
    ExhaustivePath path{left[at].first, {specs_[at]}};
    while (at != goal) {
      int next = -1;
      for (const auto& [to, time] : out_of_[at]) {
        if (left[to] == kUnreached) continue;
        const Cost through = {left[to].first + time, left[to].second + 1};
        // specs_ are in order.
        if (through == left[at] && (next < 0 || to < next)) next = to;
      }
      at = next;
      path.specs.push_back(specs_[at]);
    }
    return path;
  }

 private:
  void Enumerate(Spec& spec, int axis) {
    if (axis == static_cast<int>(problem_.mesh.size())) {
      AddOrders(spec, 0);
      return;
    }
    Enumerate(spec, axis + 1);
    for (auto& axes : spec) {
      axes.push_back(axis);
      Enumerate(spec, axis + 1);
      axes.pop_back();
    }
    // AddOrders leaves specs_ sorted only after the last call.
    if (axis == 0) std::sort(specs_.begin(), specs_.end());
  }

  void AddOrders(Spec spec, size_t dim) {
    if (dim == spec.size()) {
      specs_.push_back(spec);
      return;
    }
    do {
      AddOrders(spec, dim + 1);
    } while (std::next_permutation(spec[dim].begin(), spec[dim].end()));
  }

  int Index(const Spec& spec) const {
    const auto at = std::lower_bound(specs_.begin(), specs_.end(), spec);
    return static_cast<int>(at - specs_.begin());
  }

  int64_t Coordinate(int64_t device, int axis) const {
    for (size_t a = problem_.mesh.size() - 1; static_cast<int>(a) > axis; --a) {
      device /= problem_.mesh[a];
    }
    return device % problem_.mesh[axis];
  }

  void AddTiles(const Spec& spec) {
    std::vector<DeviceTile> tiles;
    int64_t bytes = problem_.elem_bytes;
    for (int64_t device = 0; device < devices_; ++device) {
      DeviceTile tile;
      for (size_t d = 0; d < spec.size(); ++d) {
        int64_t part = 0;
        int64_t parts = 1;
        for (const int axis : spec[d]) {
          part = part * problem_.mesh[axis] + Coordinate(device, axis);
          parts *= problem_.mesh[axis];
        }
        const int64_t size = problem_.shape[d];
        const int64_t full = (size + parts - 1) / parts;
        tile.push_back(
            {std::min(size, part * full), std::min(size, (part + 1) * full)});
        if (device == 0) bytes *= full;
      }
      tiles.push_back(std::move(tile));
    }
    tiles_.push_back(std::move(tiles));
    bytes_.push_back(bytes);
  }

  // The elements of dimension d that the devices along `axis` hold together.
  std::set<int64_t> Together(int spec, int64_t device, int axis,
                             size_t dim) const {
    std::set<int64_t> elements;
    for (int64_t other = 0; other < devices_; ++other) {
      bool along = true;
      for (size_t a = 0; a < problem_.mesh.size(); ++a) {
        along = along && (static_cast<int>(a) == axis ||
                          Coordinate(other, a) == Coordinate(device, a));
      }
      if (!along) continue;
      const Range& range = tiles_[spec][other][dim];
      for (int64_t i = range.first; i < range.second; ++i) elements.insert(i);
    }
    return elements;
  }

  // Whether along `axis` the tiles of `fine` in `dim` make up those of
  // `coarse`, in which devices along the axis hold the same.
  bool MakesUp(int fine, int coarse, int axis, size_t dim) const {
    for (int64_t device = 0; device < devices_; ++device) {
      std::set<int64_t> whole;
      const Range& range = tiles_[coarse][device][dim];
      for (int64_t i = range.first; i < range.second; ++i) whole.insert(i);
      if (Together(fine, device, axis, dim) != whole) return false;
    }
    return true;
  }

  void Join(int from, int to, double seconds) {
    const int64_t time = std::llrint(seconds * 1e12);
    out_of_[from].push_back({to, time});
    into_[to].push_back({from, time});
  }

  void Connect() {
    out_of_.resize(specs_.size());
    into_.resize(specs_.size());
    for (size_t from = 0; from < specs_.size(); ++from) {
      for (size_t d = 0; d < problem_.shape.size(); ++d) {
        if (!specs_[from][d].empty()) ConnectLast(from, d);
      }
    }
    ConnectPermutes();
  }

  // Gather of the last axis of a dimension, the slice back, and exchanges.
  void ConnectLast(int from, size_t dim) {
    Spec gathered = specs_[from];
    const int axis = gathered[dim].back();
    gathered[dim].pop_back();
    const int whole = Index(gathered);
    if (!MakesUp(from, whole, axis, dim)) return;
    const auto n = static_cast<double>(problem_.mesh[axis]);
    const auto b = static_cast<double>(bytes_[from]);
    Join(from, whole, (n - 1) * (alpha_[axis] + b * beta_[axis]));
    Join(whole, from, 0);
    for (size_t to_dim = 0; to_dim < problem_.shape.size(); ++to_dim) {
      if (to_dim == dim) continue;
      Spec moved = gathered;
      moved[to_dim].push_back(axis);
      const int to = Index(moved);
      if (MakesUp(to, whole, axis, to_dim)) {
        Join(from, to, (n - 1) * (alpha_[axis] + b / n * beta_[axis]));
      }
    }
  }

  // Number of the sorted tiles of every group of devices along `axes`.
  std::vector<int> GroupTiles(AxisSet axes) const {
    using Groups = std::map<std::vector<int64_t>, std::vector<DeviceTile>>;
    std::map<Groups, int> numbers;
    std::vector<int> number_of_spec;
    for (const std::vector<DeviceTile>& tiles : tiles_) {
      Groups groups;
      for (int64_t device = 0; device < devices_; ++device) {
        std::vector<int64_t> group;
        for (size_t a = 0; a < problem_.mesh.size(); ++a) {
          const bool along = (axes >> a & 1) != 0;
          group.push_back(along ? 0 : Coordinate(device, a));
        }
        DeviceTile tile = tiles[device];
        for (const Range& range : tiles[device]) {
          if (range.first == range.second) tile.clear();  // holds nothing
        }
        groups[group].push_back(std::move(tile));
      }
      for (auto& [group, held] : groups) std::sort(held.begin(), held.end());
      const int next = static_cast<int>(numbers.size());
      number_of_spec.push_back(
          numbers.emplace(std::move(groups), next).first->second);
    }
    return number_of_spec;
  }

  void ConnectPermutes() {
    const AxisSet sets = AxisSet{1} << problem_.mesh.size();
    std::vector<std::vector<int>> numbers;
    for (AxisSet axes = 0; axes < sets; ++axes) {
      numbers.push_back(GroupTiles(axes));
    }
    for (size_t from = 0; from < specs_.size(); ++from) {
      for (size_t to = 0; to < specs_.size(); ++to) {
        if (from == to || numbers[sets - 1][from] != numbers[sets - 1][to]) {
          continue;
        }
        double min_seconds = std::numeric_limits<double>::infinity();
        for (AxisSet axes = 0; axes < sets; ++axes) {
          if (numbers[axes][from] != numbers[axes][to]) continue;
          min_seconds =
              std::min(min_seconds, PermuteSeconds(axes, bytes_[from]));
        }
        Join(from, to, min_seconds);
      }
    }
  }

  double PermuteSeconds(AxisSet axes, int64_t bytes) const {
    double alpha = 0;
    double beta = 0;
    for (size_t a = 0; a < problem_.mesh.size(); ++a) {
      if ((axes >> a & 1) == 0) continue;
      alpha = std::max(alpha, alpha_[a]);
      beta = std::max(beta, beta_[a]);
    }
    return alpha + static_cast<double>(bytes) * beta;
  }

  const LayoutProblem& problem_;
  const std::vector<double>& alpha_;
  const std::vector<double>& beta_;
  int64_t devices_ = 1;
  std::vector<Spec> specs_;                     // sorted
  std::vector<std::vector<DeviceTile>> tiles_;  // by spec and device
  std::vector<int64_t> bytes_;                  // by spec
  // (other spec, picoseconds) by spec.
  std::vector<std::vector<std::pair<int, int64_t>>> out_of_;
  std::vector<std::vector<std::pair<int, int64_t>>> into_;
};

}  // namespace

std::optional<ExhaustivePath> SolveExhaustively(
    const LayoutProblem& problem, const std::vector<double>& alpha,
    const std::vector<double>& beta) {
  return Oracle(problem, alpha, beta).Solve();
}

}  // namespace meshwright::layout
