#include "coordinator/segmenter/segments/cover.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace meshwright::segmenter {
namespace {

// The blocks a segment spans at most, and how often two blocks are compared.
constexpr int kMaxPeriod = 256;
constexpr int64_t kMaxLooks = 100'000'000;
constexpr size_t kMaxPieces = 64;

struct Repeat {
  int start = 0;
  int period = 0;
  int count = 0;
  int slack = 0;  // it may start this much later as well
  int covered() const { return count >= 2 ? period * count : 0; }
};

class Coverer {
 public:
  Coverer(const std::vector<uint64_t>& hashes,
          const std::vector<int>& configurations)
      : hashes_(hashes), configurations_(configurations) {}

  std::vector<Segment> Run() {
    // Ranges to cover, the first on top; a cut one is a single segment or is
    // cut by configurations.
    struct Range {
      int begin;
      int end;
      bool cut;
    };
    std::vector<Range> ranges = {{0, static_cast<int>(hashes_.size()), false}};
    while (!ranges.empty()) {
      const Range range = ranges.back();
      ranges.pop_back();
      if (range.begin >= range.end) continue;
      const Repeat best =
          range.cut ? Repeat() : BestRepeat(range.begin, range.end);
      if (best.covered() == 0) {
        Cut(range.begin, range.end);
        continue;
      }
      ranges.push_back({best.start + best.covered(), range.end, false});
      for (int i = best.count - 1; i >= 0; --i) {
        ranges.push_back({best.start + i * best.period,
                          best.start + (i + 1) * best.period, true});
      }
      ranges.push_back({range.begin, best.start, false});
    }
    SharePieces();
    return std::move(segments_);
  }

  bool is_cut_short() const { return looks_left_ <= 0; }

 private:
  using Hashes = std::vector<uint64_t>;

  Hashes CopyHashes(const Segment& segment) const {
    return {hashes_.begin() + segment.first_block,
            hashes_.begin() + segment.last_block};
  }

  // A segment that is a row of pieces of a cut period is cut like that: its
  // pieces are measured anyway (an encoder's layer next to a decoder's).
  void SharePieces() {
    if (pieces_.empty()) return;
    std::vector<Segment> shared;
    for (const Segment& segment : segments_) {
      const std::vector<Segment> cut = CutIntoPieces(segment);
      if (cut.empty()) {
        shared.push_back(segment);
      } else {
        shared.insert(shared.end(), cut.begin(), cut.end());
      }
    }
    segments_ = std::move(shared);
  }

  // The fewest pieces; none if they do not make up the segment.
  std::vector<Segment> CutIntoPieces(const Segment& segment) const {
    const Hashes all = CopyHashes(segment);
    const int count = static_cast<int>(all.size());
    constexpr int kNever = INT32_MAX;
    std::vector<int> cost(count + 1, kNever);
    std::vector<int> from(count + 1, 0);
    cost[0] = 0;
    for (int to = 1; to <= count; ++to) {
      for (const Hashes& piece : pieces_) {
        const int at = to - static_cast<int>(piece.size());
        if (at < 0 || cost[at] == kNever || cost[at] + 1 >= cost[to] ||
            !std::equal(piece.begin(), piece.end(), all.begin() + at)) {
          continue;
        }
        cost[to] = cost[at] + 1;
        from[to] = at;
      }
    }
    std::vector<Segment> cut;
    if (cost[count] == kNever) return cut;
    for (int to = count; to > 0; to = from[to]) {
      cut.push_back({segment.first_block + from[to], segment.first_block + to});
    }
    std::reverse(cut.begin(), cut.end());
    return cut;
  }

  // The longest repeat, from where most of what is left beside it repeats as
  // well, so that a decoder's layers do not begin within the encoder's last.
  Repeat BestRepeat(int begin, int end) {
    Repeat best = LongestRepeat(begin, end);
    const Repeat earliest = best;
    std::optional<int> best_beside;
    for (int later = 0; later <= earliest.slack; ++later) {
      Repeat moved = earliest;
      moved.start += later;
      const int beside =
          LongestRepeat(begin, moved.start).covered() +
          LongestRepeat(moved.start + moved.covered(), end).covered();
      if (best_beside.has_value() && beside <= *best_beside) continue;
      best_beside = beside;
      best = moved;
    }
    return best;
  }

  // The repeat that covers most blocks; the shortest period, then the earliest
  // start, among equals. For a fixed period a run of equal pairs gives all its
  // repeats.
  Repeat LongestRepeat(int begin, int end) {
    Repeat best;
    const int longest = std::min((end - begin) / 2, kMaxPeriod);
    for (int period = 1; period <= longest && looks_left_ > 0; ++period) {
      // No longer period covers more.
      if (best.covered() == end - begin) break;
      looks_left_ -= end - begin;
      int run = 0;
      for (int i = begin; i + period < end; ++i) {
        run = hashes_[i] == hashes_[i + period] ? run + 1 : 0;
        const int start = i - run + 1;
        const Repeat found{start, period, run / period + 1};
        if (run < period || found.covered() < best.covered()) continue;
        if (found.covered() > best.covered()) {
          best = found;
        } else if (period == best.period && start == best.start) {
          ++best.slack;
        }
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
      segments_.push_back({begin, end});
      return;
    }
    const int count = end - begin;
    constexpr int64_t kNever = INT64_MAX;
    std::vector<int64_t> cost(count + 1, kNever);
    std::vector<int> from(count + 1, 0);
    cost[0] = 0;
    for (int to = 1; to <= count; ++to) {
      int64_t product = 1;
      for (int at = to - 1; at >= std::max(to - kMaxPeriod, 0); --at) {
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
    for (const Segment& piece : pieces) {
      if (pieces_.size() < kMaxPieces) pieces_.insert(CopyHashes(piece));
    }
    segments_.insert(segments_.end(), pieces.rbegin(), pieces.rend());
  }

  const std::vector<uint64_t>& hashes_;
  const std::vector<int>& configurations_;
  int64_t looks_left_ = kMaxLooks;
  std::set<Hashes> pieces_;  // of cut periods
  std::vector<Segment> segments_;
};

}  // namespace

std::vector<uint64_t> ListBlockHashes(const BlockGraph& blocks,
                                      const Segment& segment) {
  std::vector<uint64_t> hashes;
  for (int b = segment.first_block; b < segment.last_block; ++b) {
    hashes.push_back(blocks.blocks[b].hash);
  }
  return hashes;
}

std::vector<Segment> CoverSequence(const std::vector<uint64_t>& hashes,
                                   const std::vector<int>& configurations,
                                   bool* cut_short) {
  Coverer coverer(hashes, configurations);
  std::vector<Segment> cover = coverer.Run();
  if (cut_short != nullptr) *cut_short |= coverer.is_cut_short();
  return cover;
}

}  // namespace meshwright::segmenter
