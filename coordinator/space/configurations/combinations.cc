#include "coordinator/space/configurations/combinations.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "coordinator/segmenter/baseline_strategies.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentIndex;
using Choice = std::vector<int>;

class Finder {
 public:
  Finder(const Analysis& analysis, SegmentIndex segment)
      : analysis_(analysis), segment_(analysis.plan.segments[segment]) {
    const int count = segment_.last_block - segment_.first_block;
    for (int b = 0; b < count; ++b) {
      units_.push_back({b});
      allowed_.emplace_back();
      for (int i = 0; i < StrategyCount(b); ++i) allowed_.back().push_back(i);
    }
  }

  Combinations Run() {
    const int64_t all = Product(allowed_);
    if (all > kMaxCombinations) TieEqualBlocks();
    if (Product(allowed_) <= kMaxCombinations) {
      AddProduct(allowed_);
    } else {
      AddBaselines();
    }
    Combinations out;
    out.choices.assign(found_.begin(), found_.end());
    out.all = all;
    return out;
  }

 private:
  using Lists = std::vector<std::vector<int>>;  // by unit: what it may take

  int StrategyCount(int b) const {
    return static_cast<int>(Strategies(b).size());
  }
  const std::vector<segmenter::Strategy>& Strategies(int b) const {
    return analysis_.strategies[segment_.first_block + b].strategies;
  }

  static int64_t Product(const Lists& lists) {
    int64_t product = 1;
    for (const std::vector<int>& list : lists) {
      const auto size = static_cast<int64_t>(list.size());
      if (product > std::numeric_limits<int64_t>::max() / size) {
        return std::numeric_limits<int64_t>::max();
      }
      product *= size;
    }
    return product;
  }

  static bool Alike(const std::vector<segmenter::Strategy>& a,
                    const std::vector<segmenter::Strategy>& b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const auto& x, const auto& y) { return x.name == y.name; });
  }

  void TieEqualBlocks() {
    std::vector<std::vector<int>> units;
    const auto hash = [&](int b) {
      return analysis_.blocks.blocks[segment_.first_block + b].hash;
    };
    for (const std::vector<int>& unit : units_) {
      const int b = unit[0];
      const auto same =
          std::find_if(units.begin(), units.end(), [&](const auto& it) {
            return hash(it[0]) == hash(b) &&
                   Alike(Strategies(it[0]), Strategies(b));
          });
      if (same == units.end()) {
        units.push_back(unit);
      } else {
        same->push_back(b);
      }
    }
    units_ = std::move(units);
    Lists allowed;
    for (const std::vector<int>& unit : units_) {
      allowed.push_back(allowed_[unit[0]]);
    }
    allowed_ = std::move(allowed);
  }

  // By unit -> by block.
  void Add(const Choice& by_unit) {
    Choice choice(segment_.last_block - segment_.first_block);
    for (size_t u = 0; u < units_.size(); ++u) {
      for (int b : units_[u]) choice[b] = by_unit[u];
    }
    found_.insert(std::move(choice));
  }

  void AddProduct(const Lists& lists) {
    std::vector<size_t> place(lists.size(), 0);
    size_t at = lists.size();
    do {
      Choice choice;
      for (size_t u = 0; u < lists.size(); ++u) {
        choice.push_back(lists[u][place[u]]);
      }
      Add(choice);
      for (at = lists.size(); at > 0; --at) {
        if (++place[at - 1] < lists[at - 1].size()) break;
        place[at - 1] = 0;
      }
    } while (at > 0);
  }

  Choice PickUnits(const std::vector<int>& by_block) const {
    Choice choice;
    for (const std::vector<int>& unit : units_) {
      choice.push_back(by_block[segment_.first_block + unit[0]]);
    }
    return choice;
  }

  void AddBaselines() {
    const Choice baselines[] = {
        PickUnits(segmenter::ChooseDataParallel(analysis_)),
        PickUnits(segmenter::ChooseTensorParallel(analysis_))};
    const auto count = static_cast<int64_t>(units_.size());
    const bool twice = count * count <= kMaxCombinations;
    for (int base : {0, 1}) {
      AddRuns(baselines[base], baselines[1 - base], twice);
      for (int64_t u = 0; u < count; ++u) {
        Choice choice = baselines[base];
        for (int it : allowed_[u]) {
          choice[u] = it;
          Add(choice);
        }
      }
    }
    Lists batch_outside = allowed_;
    for (size_t u = 0; u < units_.size(); ++u) {
      std::erase_if(batch_outside[u], [&](int it) {
        return !segmenter::TakesBatchOutside(Strategies(units_[u][0])[it]);
      });
      if (batch_outside[u].empty()) return;
    }
    if (Product(batch_outside) <= kMaxCombinations) AddProduct(batch_outside);
  }

  // `other` in [begin, end), `base` around it; where not `twice`, to the end.
  void AddRuns(const Choice& base, const Choice& other, bool twice) {
    const size_t count = base.size();
    for (size_t begin = 0; begin <= count; ++begin) {
      for (size_t end = twice ? begin : count; end <= count; ++end) {
        Choice choice = base;
        std::copy(other.begin() + begin, other.begin() + end,
                  choice.begin() + begin);
        Add(choice);
      }
    }
  }

  const Analysis& analysis_;
  const segmenter::Segment& segment_;
  std::vector<std::vector<int>> units_;  // blocks that decide alike
  Lists allowed_;
  std::set<Choice> found_;
};

}  // namespace

Combinations FindCombinations(const Analysis& analysis, SegmentIndex segment) {
  return Finder(analysis, segment).Run();
}

}  // namespace meshwright::space
