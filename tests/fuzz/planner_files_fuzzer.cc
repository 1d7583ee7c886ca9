// libFuzzer on the files of `search`, `checkpoint`, `layout`, `reshard`,
// `pipeline` and `cluster show`: whatever a reader accepts is solved, in little
// time, and answered with a bound that is none above the answer; what it
// refuses it refuses in one sentence.
//
// Every document is offered to every reader: all but one of them stop at the
// first member that is missing.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "coordinator/resharding/request_json.h"
#include "planner/checkpoint/chain_json.h"
#include "planner/cluster/build_cluster.h"
#include "planner/cluster/cluster_json.h"
#include "planner/cluster/detection.h"
#include "planner/layout/layout_json.h"
#include "planner/pipeline/pipeline_json.h"
#include "planner/search/tradeoffs/search_json.h"
#include "tests/fuzz/json_mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t capacity);

namespace meshwright::fuzz {
namespace {

using nlohmann::json;

[[noreturn]] void Fail(std::string_view verb, std::string_view what) {
  std::cerr << verb << ": " << what << "\n";
  std::abort();
}

base::Deadline Soon() {
  return base::Deadline::After(std::chrono::milliseconds(10));
}

void CheckBound(std::string_view verb, const json& answer,
                const char* bound_name, const char* value_name) {
  const auto bound = answer.find(bound_name);
  const auto value = answer.find(value_name);
  if (bound == answer.end() || value == answer.end() || !bound->is_number() ||
      !value->is_number()) {
    return;
  }
  if (bound->get<double>() > value->get<double>() * (1 + 1e-9) + 1e-12) {
    Fail(verb, "the bound is above the answer: " + answer.dump());
  }
}

void CheckBounds(std::string_view verb, const json& answer) {
  if (!answer.is_structured()) return;
  for (const json& part : answer) CheckBounds(verb, part);
  if (!answer.is_object()) return;
  CheckBound(verb, answer, "lower_bound_seconds", "seconds");
  CheckBound(verb, answer, "lower_bound_seconds", "step_seconds");
  CheckBound(verb, answer, "lower_bound_s", "makespan_s");
  CheckBound(verb, answer, "lower_bound", "makespan");
}

void Check(std::string_view verb, const absl::StatusOr<std::string>& answer) {
  if (!answer.ok()) {
    const std::string message(answer.status().message());
    if (message.empty() || message.find('\n') != message.npos) {
      Fail(verb, "the error is no sentence");
    }
    return;
  }
  const json read = json::parse(*answer, nullptr, false);
  if (read.is_discarded()) Fail(verb, "the answer is no JSON: " + *answer);
  CheckBounds(verb, read);
}

absl::StatusOr<std::string> Pipeline(std::string_view text) {
  const auto file = pipeline::ParseFile(text);
  if (!file.ok()) return file.status();
  const auto answer = pipeline::Answer(*file, Soon());
  if (!answer.ok()) return answer.status();
  return pipeline::AnswerToJson(*answer);
}

absl::StatusOr<std::string> Cluster(std::string_view text) {
  const auto description = cluster::ParseDescription(text);
  if (!description.ok()) return description.status();
  const auto made = cluster::BuildCluster(*description);
  if (!made.ok()) Fail("cluster", "what was read is not built");
  // Of more devices only the file is of interest.
  const int axes = made->device_count() <= 8 ? 3 : 1;
  return cluster::FormatDescription(*description, *made,
                                    cluster::RankMeshes(*made, axes));
}

void Run(std::string_view text) {
  search::SearchWishes wishes;
  wishes.deadline = Soon();
  Check("search", search::AnswerSearchJson(text, wishes));
  checkpoint::Options checkpoints;
  checkpoints.deadline = Soon();
  checkpoints.threads = 1;
  checkpoints.table_bytes = 100'000'000;
  for (const int64_t budget : {int64_t{300}, int64_t{1} << 40}) {
    Check("checkpoint",
          checkpoint::AnswerCheckpointJson(text, budget, checkpoints));
  }
  Check("layout", layout::AnswerLayoutJson(text));
  reshard::Options transfers;
  transfers.deadline = Soon();
  Check("reshard", resharding::AnswerReshardJson(text, transfers));
  Check("pipeline", Pipeline(text));
  Check("cluster", Cluster(text));
}

}  // namespace
}  // namespace meshwright::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t capacity, unsigned int seed) {
  if (seed % 16 == 0) return LLVMFuzzerMutate(data, size, capacity);
  const std::string changed = meshwright::fuzz::MutateJson(
      {reinterpret_cast<const char*>(data), size}, seed);
  if (changed.empty() || changed.size() > capacity) {
    return LLVMFuzzerMutate(data, size, capacity);
  }
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  meshwright::fuzz::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
