#include "planner/search/fill_room.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "planner/search/improve.h"

namespace meshwright::search {
namespace {

constexpr size_t kMostSums = 200'000;  // of a list
constexpr size_t kChosen = 7;          // at least; one more where there is
constexpr int kMostPasses = 1000;      // over the lists

// Three places together.
struct Sum {
  int64_t bytes = 0;
  Cost time = 0;
  std::array<int, 3> places;
};

class Filling {
 public:
  Filling(const Model& model, const std::vector<int>& places, int64_t limit)
      : model_(model), places_(places) {
    const Draft draft(model, places);
    room_ = limit - draft.peak();
    is_allowed_ = room_ >= 0 && draft.time() < kNever;
    for (size_t v = 0; v < places.size(); ++v) {
      most_transient_ =
          std::max(most_transient_, model.domain(v).transient[places[v]]);
    }
  }

  std::vector<int> Run(Cost goal, const Until& until) {
    best_ = places_;
    if (!is_allowed_ || !Choose() || until() || !List(0, first_)) return best_;
    if (AreAlike(0, 6)) {
      second_ = first_;
    } else if (until() || !List(3, second_)) {
      return best_;
    }
    base_ = model_.base;
    for (size_t v = 0; v < places_.size(); ++v) {
      base_ += model_.domain(v).time[places_[v]];
    }
    least_ = base_;
    for (size_t i = 0; i < 6; ++i) TakeOut(chosen_[i], places_[chosen_[i]]);
    // The last two are gone through: the eighth, if any, moves seldom.
    const int seventh = chosen_[6];
    TakeOut(seventh, places_[seventh]);
    if (chosen_.size() == kChosen) {
      Pass(seventh, goal, until);
      return best_;
    }
    const int eighth = chosen_[7];
    const int first = places_[eighth];
    const Domain& domain = model_.domain(eighth);
    for (int i = 0; i < domain.size(); ++i) {
      const int place = (first + i) % domain.size();
      if (!IsAllowed(domain, place)) continue;
      TakeOut(eighth, places_[eighth]);
      places_[eighth] = place;
      PutIn(eighth, place);
      if (!Pass(seventh, goal, until)) break;
    }
    return best_;
  }

 private:
  void TakeOut(int v, int place) {
    base_ -= model_.domain(v).time[place];
    room_ += model_.domain(v).bytes[place];
  }
  void PutIn(int v, int place) {
    base_ += model_.domain(v).time[place];
    room_ -= model_.domain(v).bytes[place];
  }

  // The lists, for every place of the seventh. False when it is time to end.
  bool Pass(int seventh, Cost goal, const Until& until) {
    const Domain& domain = model_.domain(seventh);
    for (int place = 0; place < domain.size(); ++place) {
      if (!IsAllowed(domain, place)) continue;
      if (least_ <= goal || ++passes_ > kMostPasses || until()) return false;
      const Cost own = base_ + domain.time[place];
      const auto pair = Least(room_ - domain.bytes[place], least_ - own);
      if (!pair.has_value()) continue;
      const auto& [a, b] = *pair;
      least_ = own + a->time + b->time;
      best_ = places_;
      for (size_t i = 0; i < 3; ++i) {
        best_[chosen_[i]] = a->places[i];
        best_[chosen_[3 + i]] = b->places[i];
      }
      best_[seventh] = place;
    }
    return true;
  }

  bool IsAllowed(const Domain& domain, int place) const {
    return domain.time[place] < kNever &&
           domain.transient[place] <= most_transient_;
  }

  // Variables that are alike, if there are enough: their sums are fewer. Half
  // of them take many bytes and half few, so that what they take together can
  // be had in many ways.
  bool Choose() {
    std::map<int, std::vector<int>> alike;  // by domain
    std::vector<int> some;
    for (int v = 0; v < static_cast<int>(places_.size()); ++v) {
      if (model_.size(v) < 2) continue;
      alike[model_.variables[v].domain].push_back(v);
      some.push_back(v);
    }
    size_t most = kChosen - 1;
    for (auto& [domain, those] : alike) {
      if (those.size() <= most) continue;
      most = those.size();
      some = std::move(those);
    }
    if (some.size() < kChosen) return false;
    const size_t chosen = std::min(some.size(), kChosen + 1);
    const auto bytes = [this](int v) {
      return model_.domain(v).bytes[places_[v]];
    };
    std::stable_sort(some.begin(), some.end(),
                     [&](int a, int b) { return bytes(a) < bytes(b); });
    chosen_.assign(some.begin(), some.begin() + chosen / 2);
    chosen_.insert(chosen_.end(), some.end() - (chosen - chosen / 2),
                   some.end());
    return true;
  }

  bool AreAlike(size_t begin, size_t count) const {
    for (size_t i = begin + 1; i < begin + count; ++i) {
      if (&model_.domain(chosen_[i]) != &model_.domain(chosen_[begin])) {
        return false;
      }
    }
    return true;
  }

  // What the three chosen from `begin` on can take, by bytes; each with the
  // least time up to it. False if that is too much.
  bool List(size_t begin, std::vector<Sum>& sums) const {
    const auto domain = [&](size_t i) -> const Domain& {
      return model_.domain(chosen_[begin + i]);
    };
    const bool are_alike = AreAlike(begin, 3);
    size_t most = are_alike ? 1 : 6;
    for (size_t i = 0; i < 3; ++i) most *= domain(i).size();
    if (most / 6 > kMostSums) return false;
    std::array<int, 3> at;
    const auto fits = [&](size_t i) { return IsAllowed(domain(i), at[i]); };
    for (at[0] = 0; at[0] < domain(0).size(); ++at[0]) {
      if (!fits(0)) continue;
      for (at[1] = are_alike ? at[0] : 0; at[1] < domain(1).size(); ++at[1]) {
        if (!fits(1)) continue;
        for (at[2] = are_alike ? at[1] : 0; at[2] < domain(2).size(); ++at[2]) {
          if (!fits(2)) continue;
          Sum sum{.places = at};
          for (size_t i = 0; i < 3; ++i) {
            sum.bytes += domain(i).bytes[at[i]];
            sum.time += domain(i).time[at[i]];
          }
          sums.push_back(sum);
        }
      }
    }
    std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) {
      return std::tie(a.bytes, a.time, a.places) <
             std::tie(b.bytes, b.time, b.places);
    });
    // Of more bytes and no less time, none is of use.
    size_t kept = 0;
    for (const Sum& sum : sums) {
      if (kept > 0 && sums[kept - 1].time <= sum.time) continue;
      sums[kept++] = sum;
    }
    sums.resize(kept);
    return true;
  }

  // The two of least time within the room, if they take less than `most`.
  std::optional<std::pair<const Sum*, const Sum*>> Least(int64_t room,
                                                         Cost most) const {
    std::optional<std::pair<const Sum*, const Sum*>> best;
    size_t end = second_.size();
    for (const Sum& a : first_) {
      while (end > 0 && a.bytes + second_[end - 1].bytes > room) --end;
      if (end == 0) break;
      const Sum& b = second_[end - 1];
      if (a.time + b.time >= most) continue;
      most = a.time + b.time;
      best.emplace(&a, &b);
    }
    return best;
  }

  const Model& model_;
  std::vector<int> places_;
  int64_t room_ = 0;  // left over, the chosen taken out
  Cost base_ = 0;     // the time without the chosen
  bool is_allowed_ = false;
  std::vector<int> best_;
  Cost least_ = kNever;
  int passes_ = 0;
  int64_t most_transient_ = 0;
  std::vector<int> chosen_;
  std::vector<Sum> first_;  // more bytes, less time
  std::vector<Sum> second_;
};

}  // namespace

std::vector<int> FillRoom(const Model& model, std::vector<int> places,
                          int64_t limit_bytes, Cost goal, const Until& until) {
  return Filling(model, places, limit_bytes).Run(goal, until);
}

}  // namespace meshwright::search
