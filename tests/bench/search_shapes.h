// Problems shaped like models, for search_bench: chains of equal layers,
// encoder-decoders, U-shaped networks, chains with skip edges.
#ifndef MESHWRIGHT_TESTS_BENCH_SEARCH_SHAPES_H_
#define MESHWRIGHT_TESTS_BENCH_SEARCH_SHAPES_H_

#include <cstdint>
#include <random>

#include "planner/problem/plan_problem.h"

namespace meshwright::search {

// How time and bytes of a type's configurations hang together.
enum class Data {
  kNoisy,   // fast = big, by and large; as measured for a LLaMA layer
  kSmooth,  // bytes fall as a smooth function of time
  kHard,    // a knapsack: time and bytes on a line, but for a part in 10,000
  kEqual,   // every byte saves the same time
  kPlain,   // the same, and no resharding: a subset sum
};

const char* ToString(Data data);

// 27 to 64 ms a configuration, 0 to 4 ms of resharding.
class Maker {
 public:
  explicit Maker(uint64_t seed, Data data = Data::kNoisy)
      : random_(seed), data_(data) {}

  // `low` is below `high`.
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % (high - low));  // NOLINT
  }

  int Type(const char* name, int configs);
  int Node(int type, int64_t repeat = 1);
  int Table(int from_type, int to_type);
  void Edge(int from, int to);  // with a table of its own

  problem::PlanProblem problem;
  int64_t max_resharding = 4'000'000'000;

 private:
  problem::Config Config();

  std::mt19937_64 random_;
  Data data_;
};

// An embedding, layers of 81 configurations, a head.
problem::PlanProblem Transformer(int64_t depth, uint64_t seed, Data data);

// With a weight that embedding and head share: an edge off the chain.
problem::PlanProblem TiedEmbedding(int64_t depth);

// Two configurations of a layer a picosecond apart: values never settle, so
// the run is walked or folded by powers.
problem::PlanProblem Unsettled(int64_t depth);

// A chain of nodes, all different, with edges that skip some of them.
problem::PlanProblem Skips(int nodes, int configs, int skips, uint64_t seed,
                           Data data);

// Operators of a step: each reads one or two of the few made last, some also
// one made long before.
problem::PlanProblem Operators(int nodes, int configs, uint64_t seed,
                               Data data);

// An encoder of equal layers, whose last output every decoder layer reads; a
// decoder layer is cut in three.
problem::PlanProblem EncoderDecoder(int layers);

// Nodes down and up again, each level joined across; `embedding`: a first node
// that every other reads, as the time step of a diffusion model.
problem::PlanProblem UNet(int nodes, int configs, bool embedding);

// Every node reads every earlier one: no table can hold this.
problem::PlanProblem Dense(int nodes, int configs);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_TESTS_BENCH_SEARCH_SHAPES_H_
