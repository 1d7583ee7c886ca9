#include "planner/checkpoint/testing/exhaustive.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace meshwright::checkpoint {
namespace {

// Bit sets over activations and stages. A plain copy of act[i] beside
// saved[i-1] costs nothing and ends no later, so it is not kept track of.
struct State {
  uint32_t plain = 0;
  uint32_t pinned = 0;  // of those plain, kept by CF or Fe
  uint32_t saved = 0;
  int backward = 0;  // the next to run backward; -1: all did
  bool loss = false;

  uint64_t Key() const {
    return plain | uint64_t{pinned} << 12 | uint64_t{saved} << 24 |
           uint64_t(backward + 1) << 36 | uint64_t{loss} << 44;
  }
};

struct Label {
  int64_t time = 0;
  int64_t peak = 0;
  State state;

  bool operator>(const Label& other) const {
    return std::tie(time, peak) > std::tie(other.time, other.peak);
  }
};

bool Has(uint32_t set, int i) { return set >> i & 1; }

class Enumeration {
 public:
  Enumeration(const Chain& chain, Schedules schedules)
      : chain_(chain), persistent_(schedules == Schedules::kPersistent) {}

  std::vector<FrontPoint> Run() {
    const int n = chain_.stages();
    Label start;
    start.state.plain = 1;
    start.state.backward = n - 1;
    start.peak = chain_.act_bytes[0];
    Push(start);
    std::vector<FrontPoint> front;
    while (!queue_.empty()) {
      const Label label = queue_.top();
      queue_.pop();
      const auto [best, is_new] =
          min_peak_.try_emplace(label.state.Key(), label.peak);
      if (!is_new && best->second <= label.peak) continue;
      best->second = label.peak;
      if (label.state.backward < 0) {
        front.push_back({label.peak, Picoseconds(label.time)});
        continue;
      }
      Expand(label);
    }
    std::reverse(front.begin(), front.end());
    return front;
  }

 private:
  void Push(const Label& label) { queue_.push(label); }

  bool Available(const State& state, int i) const {
    return Has(state.plain, i) || (i > 0 && Has(state.saved, i - 1));
  }

  int64_t Stored(const State& state) const {
    int64_t sum = 0;
    for (int i = 0; i <= chain_.stages(); ++i) {
      if (Has(state.plain, i)) sum += chain_.act_bytes[i];
      if (i < chain_.stages() && Has(state.saved, i)) {
        sum += chain_.saved_bytes[i];
      }
    }
    return sum;
  }

  void Expand(const Label& label) {
    const State& state = label.state;
    const int n = chain_.stages();
    const int64_t stored = Stored(state);
    const int64_t gradient =
        state.loss ? chain_.act_bytes[state.backward + 1] : 0;
    for (int i = 0; i <= state.backward; ++i) {
      if (!Available(state, i)) continue;
      const int64_t base = stored + gradient + chain_.ForwardTransient(i);
      const auto forward = [&](int64_t output, auto change) {
        Label next = label;
        next.time += chain_.ForwardTime(i).count();
        next.peak = std::max(next.peak, base + output);
        change(next.state);
        Push(next);
      };
      const int64_t act = chain_.act_bytes[i + 1];
      const bool result = Available(state, i + 1);
      const auto keep = [i](State& next) {
        next.pinned |= next.plain & 1u << i;
      };
      if (!Has(state.saved, i)) {
        forward(chain_.saved_bytes[i], [&](State& next) {
          keep(next);
          next.saved |= 1u << i;
          next.plain &= ~(1u << (i + 1));
          next.pinned &= ~(1u << (i + 1));
        });
      }
      if (!result) {
        forward(act, [&](State& next) {
          keep(next);
          next.plain |= 1u << (i + 1);
        });
      }
      const bool may_drop =
          Has(state.plain, i) && !(persistent_ && Has(state.pinned, i));
      if (may_drop) {
        forward(act, [&](State& next) {
          next.plain &= ~(1u << i);
          next.pinned &= ~(1u << i);
          if (!result) next.plain |= 1u << (i + 1);
        });
      }
    }
    if (!state.loss && Available(state, n)) {
      Label next = label;
      next.time += chain_.loss.count();
      next.peak = std::max(next.peak, stored + chain_.act_bytes[n]);
      next.state.loss = true;
      Push(next);
    }
    const int b = state.backward;
    if (state.loss && Has(state.saved, b) && Available(state, b)) {
      Label next = label;
      next.time += chain_.BackwardTime(b).count();
      next.peak = std::max(next.peak, stored + chain_.act_bytes[b + 1] +
                                          chain_.BackwardTransient(b));
      const uint32_t freed = 3u << b;
      next.state.plain &= ~freed;
      next.state.pinned &= ~freed;
      next.state.saved &= ~(1u << b);
      next.state.backward = b - 1;
      next.peak = std::max(next.peak, Stored(next.state) + chain_.act_bytes[b]);
      Push(next);
    }
  }

  const Chain& chain_;
  const bool persistent_;
  std::priority_queue<Label, std::vector<Label>, std::greater<>> queue_;
  std::unordered_map<uint64_t, int64_t> min_peak_;
};

}  // namespace

std::vector<FrontPoint> SolveExhaustively(const Chain& chain,
                                          Schedules schedules) {
  return Enumeration(chain, schedules).Run();
}

}  // namespace meshwright::checkpoint
