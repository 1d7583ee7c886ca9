// libFuzzer on everything that reads a module's bytes: LoadModule, and the
// rewrites and maps that trust what it returned.
//
// Concept: the mutator works on the message (ir/testing/mutation.h); raw
// bytes are changed now and then, for the parser.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "coordinator/ir/links/dim_links.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/ir/module.h"
#include "coordinator/ir/rewrite/split_fused.h"
#include "coordinator/ir/shape.h"
#include "coordinator/ir/testing/mutation.h"
#include "proto/hlo/hlo.pb.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t capacity);

namespace meshwright::ir {
namespace {

void Exercise(std::string_view bytes) {
  auto module = LoadModule(bytes);
  if (!module.ok()) return;
  SplitFusedContractions(*module);
  for (const ValueId id : module->ids()) {
    const Instruction& it = module->at(id);
    for (size_t i = 0; i < it.operands.size(); ++i) {
      const auto* in = CollectUniformDims(module->at(it.operands[i]).shape);
      const auto* out = CollectUniformDims(it.shape);
      for (const DimLink& link :
           FindDimLinks(*module, id, static_cast<int>(i))) {
        // A link that names no dimension sends its reader out of bounds.
        if (in == nullptr || out == nullptr || link.in < 0 || link.out < 0 ||
            link.in >= static_cast<int>(in->size()) ||
            link.out >= static_cast<int>(out->size())) {
          std::abort();
        }
      }
    }
  }
}

}  // namespace
}  // namespace meshwright::ir

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  meshwright::ir::Exercise({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t capacity, unsigned seed) {
  meshwright::ir::Random random(seed);
  meshwright::hlo::HloModuleProto module;
  if (meshwright::ir::Below(random, 16) == 0 ||
      !module.ParseFromArray(data, static_cast<int>(size))) {
    return LLVMFuzzerMutate(data, size, capacity);
  }
  // Large modules are slow: cut them first.
  if (size > 20'000) meshwright::ir::CutCone(module, random);
  const int edits = 1 + meshwright::ir::Below(random, 3);
  for (int i = 0; i < edits; ++i) meshwright::ir::EditModule(module, random);
  const std::string bytes = module.SerializeAsString();
  if (bytes.size() > capacity) return LLVMFuzzerMutate(data, size, capacity);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
