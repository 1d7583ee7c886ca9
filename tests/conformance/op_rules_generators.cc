#include "tests/conformance/op_rules_generators.h"

namespace meshwright::conformance {

std::vector<OpGenerator> OpGenerators() {
  std::vector<OpGenerator> all;
  for (auto* family :
       {ElementwiseGenerators, MovementGenerators, WindowGenerators,
        IndexedGenerators, ContractionGenerators, MatrixGenerators,
        CollectiveGenerators}) {
    for (OpGenerator& generator : family()) all.push_back(std::move(generator));
  }
  return all;
}

}  // namespace meshwright::conformance
