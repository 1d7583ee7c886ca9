#include "coordinator/segmenter/test_steps.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"

namespace meshwright::segmenter {

std::string ReadSample(std::string_view name) {
  return *base::ReadFile(
      absl::StrCat("tests/testdata/", std::string(name), ".hlo.pb"));
}

ir::Module LoadSample(std::string_view name) {
  return *ir::LoadModule(ReadSample(name));
}

absl::StatusOr<Analysis> AnalyzeSample(std::string_view name,
                                       std::vector<int64_t> mesh,
                                       StrategyRequest request) {
  return Analyze(LoadSample(name), std::move(mesh), std::move(request));
}

}  // namespace meshwright::segmenter
