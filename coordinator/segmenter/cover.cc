// CoverSequence: segments over the block sequence.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "coordinator/segmenter/segments.h"

namespace meshwright::segmenter {
namespace {

struct Repeat {
  int start = 0;
  int period = 0;
  int count = 0;
  int covered() const { return count >= 2 ? period * count : 0; }
};

class Coverer {
 public:
  Coverer(const std::vector<uint64_t>& hashes,
          const std::vector<int>& configurations)
      : hashes_(hashes), configurations_(configurations) {}

  void Cover(int begin, int end) {
    if (begin >= end) return;
    const Repeat best = LongestRepeat(begin, end);
    if (best.covered() == 0) {
      Cut(begin, end);
      return;
    }
    Cover(begin, best.start);
    for (int i = 0; i < best.count; ++i) {
      Cut(best.start + i * best.period, best.start + (i + 1) * best.period);
    }
    Cover(best.start + best.covered(), end);
  }

  std::vector<Segment> segments;

 private:
  // The repeat that covers most blocks; the shortest period, then the earliest
  // start, among equals. For a fixed period a run of equal pairs gives all its
  // repeats, so the whole is quadratic in the number of blocks.
  Repeat LongestRepeat(int begin, int end) const {
    Repeat best;
    for (int period = 1; period <= (end - begin) / 2; ++period) {
      int run = 0;
      for (int i = begin; i + period < end; ++i) {
        run = hashes_[i] == hashes_[i + period] ? run + 1 : 0;
        const int start = i - run + 1;
        const Repeat found{start, period, run / period + 1};
        if (run >= period && found.covered() > best.covered()) best = found;
      }
    }
    return best;
  }

  // One segment if its configurations stay within the bound, else the cut with
  // the least number of programs (Eq. 7) by dynamic programming.
  void Cut(int begin, int end) {
    // A whole period that fits stays whole: the fewest segments win.
    int64_t whole = 1;
    for (int i = begin; i < end && whole <= kMaxConfigurations; ++i) {
      whole *= configurations_[i];
    }
    if (whole <= kMaxConfigurations) {
      segments.push_back({begin, end});
      return;
    }
    const int count = end - begin;
    constexpr int64_t kNever = INT64_MAX;
    std::vector<int64_t> cost(count + 1, kNever);
    std::vector<int> from(count + 1, 0);
    cost[0] = 0;
    for (int to = 1; to <= count; ++to) {
      int64_t product = 1;
      for (int at = to - 1; at >= 0; --at) {
        product *= configurations_[begin + at];
        if (product > kMaxConfigurations && at < to - 1) break;
        if (cost[at] == kNever) continue;
        const int64_t resharding =
            at == 0 ? 0
                    : static_cast<int64_t>(configurations_[begin + at - 1]) *
                          configurations_[begin + at];
        const int64_t total = cost[at] + product + resharding;
        if (total < cost[to]) {
          cost[to] = total;
          from[to] = at;
        }
      }
    }
    std::vector<Segment> pieces;
    for (int to = count; to > 0; to = from[to]) {
      pieces.push_back({begin + from[to], begin + to});
    }
    segments.insert(segments.end(), pieces.rbegin(), pieces.rend());
  }

  const std::vector<uint64_t>& hashes_;
  const std::vector<int>& configurations_;
};

}  // namespace

std::vector<Segment> CoverSequence(const std::vector<uint64_t>& hashes,
                                   const std::vector<int>& configurations) {
  Coverer coverer(hashes, configurations);
  coverer.Cover(0, static_cast<int>(hashes.size()));
  return std::move(coverer.segments);
}

}  // namespace meshwright::segmenter
