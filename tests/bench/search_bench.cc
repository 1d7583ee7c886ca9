// The search on problems shaped like models, free and under memory limits.
//
//   build/release/bin/search_bench [chains|deep|graphs|ops|shapes] [SECONDS
//                                  [ONLY]]
//
// One line for every family, depth and kind of data: the worst over seeds and
// limits at 5, 25, 50, 75 and 95 % of the way from the minimum memory to that
// of the fastest plan. Times are those of Solve: validation, search,
// evaluation; no JSON, in CPU time of the process, so that what else the
// machine does counts for little. `gap` is what the answer leaves unproved.
// SECONDS, of CPU time too, are given to every limited search; without them
// each is given what is asked of it. ONLY is the one kind of data that chains
// and graphs take
// ("knapsack"), or a part of a shape's name ("tied"); without it all are run.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "planner/search/search.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/figure.h"
#include "tests/bench/search_shapes.h"

namespace meshwright::search {
namespace {

using problem::PlanProblem;

constexpr int kPercents[] = {5, 25, 50, 75, 95};
constexpr Data kData[] = {Data::kNoisy, Data::kSmooth, Data::kHard,
                          Data::kEqual, Data::kPlain};

using Seconds = std::chrono::duration<double>;

// Requests a stop when the process has run so long.
class Allowance {
 public:
  explicit Allowance(std::optional<double> seconds) {
    if (!seconds.has_value()) return;
    watch_ = std::jthread([this, end = begin_ + Seconds(*seconds)](
                              const std::stop_token& done) {
      std::unique_lock lock(mutex_);
      while (!done.stop_requested()) {
        const Seconds left = end - Seconds(CpuSeconds());
        if (left <= Seconds(0)) {
          source_.request_stop();
          return;
        }
        woken_.wait_for(lock, done, left + Seconds(1e-4), [] { return false; });
      }
    });
  }

  std::stop_token token() const { return source_.get_token(); }
  Seconds Spent() const { return Seconds(CpuSeconds()) - begin_; }

 private:
  const Seconds begin_{CpuSeconds()};
  std::stop_source source_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread watch_;
};

Answer Solved(const PlanProblem& problem, std::optional<double> seconds) {
  const Allowance allowance(seconds);
  auto answer = Solve(problem, {.deadline = {.stop = allowance.token()}});
  if (answer.ok()) answer->elapsed = allowance.Spent();
  if (!answer.ok()) {
    std::fprintf(stderr, "%s\n", answer.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(answer);
}

// The worst of several answers.
struct Worst {
  double seconds = 0;
  double total = 0;
  double gap = 0;
  int count = 0;
  int open = 0;

  void Add(const Answer& answer) {
    seconds = std::max(seconds, answer.elapsed.count());
    total += answer.elapsed.count();
    gap = std::max(gap, answer.Gap());
    ++count;
    open += answer.Gap() > 0 ? 1 : 0;
  }

  void Add(const Worst& other) {
    seconds = std::max(seconds, other.seconds);
    total += other.total;
    gap = std::max(gap, other.gap);
    count += other.count;
    open += other.open;
  }

  void Print(const std::string& what) const {
    std::printf("%-36s %4d %9.1f %9.1f %11.2e %5d\n", what.c_str(), count,
                seconds * 1e3, total / count * 1e3, gap, open);
    std::fflush(stdout);
  }
};

void PrintHead(const char* title) {
  std::printf("\n%-36s %4s %9s %9s %11s %5s\n", title, "runs", "worst ms",
              "mean ms", "worst gap", "open");
}

// Of the searches without a memory limit, and with one.
struct Family {
  Worst free;
  Worst limited;

  void Add(const Family& other) {
    free.Add(other.free);
    limited.Add(other.limited);
  }

  void PrintGap(const std::string& what, std::optional<double> seconds) const {
    if (!seconds.has_value()) return;
    PrintFigure(absl::StrFormat("%s: worst gap under memory limits", what),
                *seconds < 1 ? "≤ 2e-3" : "≤ 1e-3",
                absl::StrFormat("%.1e", limited.gap));
  }

  // Of every family.
  void PrintSummary(double seconds) const {
    PrintFigure("without a memory limit: searches not proven", "0",
                absl::StrFormat("%d of %d", free.open, free.count));
    PrintFigure("without a memory limit: worst CPU time", "≤ 100 ms",
                absl::StrFormat("%.1f ms", free.seconds * 1e3));
    PrintFigure(absl::StrFormat(
                    "stopped after %g s of CPU time: worst CPU time", seconds),
                absl::StrFormat("≤ %.0f ms", 1e3 * seconds + 50),
                absl::StrFormat("%.0f ms", limited.seconds * 1e3));
  }
};

// Free, and at every limit.
Family Measure(const std::string& what, int seeds,
               const std::function<PlanProblem(uint64_t)>& make,
               std::optional<double> seconds) {
  Family family;
  auto& [free, limited] = family;
  for (int seed = 1; seed <= seeds; ++seed) {
    PlanProblem problem = make(seed);
    const Answer fastest = Solved(problem, std::nullopt);
    free.Add(fastest);
    problem.memory_limit_bytes = 0;
    const int64_t minimum = *Solved(problem, std::nullopt).least_memory_bytes;
    const int64_t span = fastest.plan->peak_bytes - minimum;
    for (const int percent : kPercents) {
      problem.memory_limit_bytes = minimum + span / 100 * percent;
      const Answer answer = Solved(problem, seconds);
      limited.Add(answer);
      if (std::getenv("MESHWRIGHT_BENCH_ALL") != nullptr) {
        Worst one;
        one.Add(answer);
        one.Print("  seed " + std::to_string(seed) + ", " +
                  std::to_string(percent) + " %");
      }
    }
  }
  free.Print(what + ", free");
  limited.Print(what + ", limited");
  return family;
}

Family Chains(std::initializer_list<int> depths, int seeds,
              std::optional<double> seconds, std::string_view only) {
  Family all;
  for (const int depth : depths) {
    for (const Data data : kData) {
      if (!only.empty() && only != ToString(data)) continue;
      all.Add(Measure(
          std::to_string(depth) + " layers, " + ToString(data), seeds,
          [&](uint64_t seed) { return Transformer(depth, seed, data); },
          seconds));
    }
  }
  return all;
}

Family Graphs(std::optional<double> seconds, std::string_view only) {
  PrintHead("60 nodes x 30, 10 skips");
  Family all;
  for (const Data data : kData) {
    if (!only.empty() && only != ToString(data)) continue;
    all.Add(Measure(
        std::string("graph, ") + ToString(data), 5,
        [&](uint64_t seed) { return Skips(60, 30, 10, seed, data); }, seconds));
  }
  return all;
}

// Free, and at half the memory.
void Operations(double seconds) {
  PrintHead("100 operators x 8");
  for (const Data data : {Data::kNoisy, Data::kSmooth}) {
    Measure(
        std::string("operators, ") + ToString(data), 5,
        [&](uint64_t seed) { return Operators(100, 8, seed, data); }, seconds);
  }
}

struct Shape {
  std::string what;
  std::function<PlanProblem()> make;
};

// The shapes of one family that `only` names.
Family MeasureShapes(const std::vector<Shape>& shapes,
                     std::optional<double> seconds, std::string_view only) {
  Family all;
  for (const Shape& shape : shapes) {
    if (shape.what.find(only) == std::string::npos) continue;
    all.Add(Measure(
        shape.what, 1, [&](uint64_t) { return shape.make(); }, seconds));
  }
  return all;
}

Family Shapes(std::optional<double> seconds, std::string_view only) {
  PrintHead("other shapes");
  const struct {
    const char* family;
    std::vector<Shape> shapes;
  } families[] = {
      {"tied embedding, 24 and 1,000 layers",
       {{"24 layers, tied embedding", [] { return TiedEmbedding(24); }},
        {"1000 layers, tied embedding", [] { return TiedEmbedding(1000); }}}},
      {"encoder-decoder, 24 layers",
       {{"encoder-decoder, 24 layers", [] { return EncoderDecoder(24); }}}},
      {"U-Net of 40 nodes, 27 and 81 strategies",
       {{"U-Net, 40 x 27", [] { return UNet(40, 27, false); }},
        {"U-Net, 40 x 81", [] { return UNet(40, 81, false); }},
        {"U-Net with embedding, 40 x 27", [] { return UNet(40, 27, true); }}}},
      {"dense, 12 nodes x 27 strategies",
       {{"dense, 12 x 27", [] { return Dense(12, 27); }}}},
  };
  Family all;
  for (const auto& [family, shapes] : families) {
    const Family measured = MeasureShapes(shapes, seconds, only);
    measured.PrintGap(family, seconds);
    all.Add(measured);
  }
  for (const int64_t depth : {24, 1000, 100'000}) {
    for (const bool unsettled : {false, true}) {
      const std::string what = std::to_string(depth) + " layers, free" +
                               (unsettled ? ", unsettled" : "");
      if (what.find(only) == std::string::npos) continue;
      Worst one;
      one.Add(Solved(
          unsettled ? Unsettled(depth) : Transformer(depth, 81, Data::kNoisy),
          std::nullopt));
      one.Print(what);
    }
  }
  return all;
}

}  // namespace
}  // namespace meshwright::search

int main(int argc, char** argv) {
  using namespace meshwright::search;
  const std::string_view family = argc > 1 ? argv[1] : "all";
  std::optional<double> seconds;
  if (argc > 2) seconds = std::atof(argv[2]);
  const std::string_view only = argc > 3 ? argv[3] : "";
  const bool all = family == "all";
  Family total;
  const auto measured = [&](const char* what, const Family& one) {
    one.PrintGap(what, seconds);
    total.Add(one);
  };
  if (all || family == "chains") {
    PrintHead("chains");
    measured("chains of 12, 24, 48 and 100 layers",
             Chains({12, 24, 48, 100}, 3, seconds.value_or(0.1), only));
  }
  if (all || family == "deep") {
    PrintHead("1000 layers");
    measured("chains of 1,000 layers",
             Chains({1000}, 3, seconds.value_or(1), only));
  }
  if (all || family == "graphs") {
    measured("graphs of 60 nodes x 30 strategies, 10 skips",
             Graphs(seconds.value_or(5), only));
  }
  if (all || family == "ops") Operations(seconds.value_or(5));
  if (all || family == "shapes") total.Add(Shapes(seconds.value_or(5), only));
  if (all && seconds.has_value()) total.PrintSummary(*seconds);
  return 0;
}
