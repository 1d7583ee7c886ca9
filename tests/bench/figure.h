// A figure of docs/benchmarks.md: what it is, what was wanted and what was got.
//
// Concept: benches print tables for people, and one line for every figure that
// has a bar; tests/bench/report collects these lines. Texts hold no tabs.
#ifndef MESHWRIGHT_TESTS_BENCH_FIGURE_H_
#define MESHWRIGHT_TESTS_BENCH_FIGURE_H_

#include <cstdio>
#include <string>

namespace meshwright {

inline void PrintFigure(const std::string& what, const std::string& wanted,
                        const std::string& got) {
  std::printf("figure\t%s\t%s\t%s\n", what.c_str(), wanted.c_str(),
              got.c_str());
}

}  // namespace meshwright

#endif  // MESHWRIGHT_TESTS_BENCH_FIGURE_H_
