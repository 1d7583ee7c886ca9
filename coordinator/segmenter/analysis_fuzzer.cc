// libFuzzer on the whole way from bytes to segments: what loads is analysed,
// and the analysis holds together (check_analysis.h).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "coordinator/ir/load/load.h"
#include "coordinator/ir/module.h"
#include "coordinator/ir/testing/mutation.h"
#include "coordinator/segmenter/testing/check_analysis.h"
#include "proto/hlo/hlo.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using meshwright::segmenter::Analyze;
  using meshwright::segmenter::CheckAnalysis;
  auto module =
      meshwright::ir::LoadModule({reinterpret_cast<const char*>(data), size});
  if (!module.ok()) return 0;
  const auto analysis = Analyze(*std::move(module), {2, 4});
  if (!analysis.ok()) return 0;
  const absl::Status held = CheckAnalysis(*analysis);
  if (held.ok()) return 0;
  std::fprintf(stderr, "%s\n", held.ToString().c_str());
  std::abort();
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t capacity, unsigned seed) {
  meshwright::ir::Random random(seed);
  meshwright::hlo::HloModuleProto module;
  if (!module.ParseFromArray(data, static_cast<int>(size))) return size;
  // Large modules are slow, small ones have no loss: cut some.
  if (meshwright::ir::Below(random, 4) == 0) {
    meshwright::ir::CutCone(module, random);
  }
  const int edits = 1 + meshwright::ir::Below(random, 3);
  for (int i = 0; i < edits; ++i) meshwright::ir::EditModule(module, random);
  const std::string bytes = module.SerializeAsString();
  if (bytes.size() > capacity) return size;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
