// Cutting a step into stages: how long it takes beside measuring, which a
// made-up machine does here in no time.
//
//   build/release/bin/stages_bench [--mesh RxC] [--micro-batches M]
//                                  [--device-memory BYTES] FILE...
//
// Seconds of CPU time of one run: profiles (analysis and profile spaces of all
// meshes, programs written and timed), cut (runs searched, partitions, splits,
// boundaries, schedules), and how often the cut was renewed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/file.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/stages/partition_search.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "tests/bench/cpu_time.h"

namespace meshwright {
namespace {

struct Flags {
  std::vector<int64_t> mesh = {2, 4};
  int micro_batches = 64;
  int64_t device_memory = 0;
  std::vector<std::string> files;
};

[[noreturn]] void Fail(const std::string& file, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", file.c_str(), status.ToString().c_str());
  std::exit(1);
}

void Run(const Flags& flags, const std::string& file) {
  const auto bytes = base::ReadFile(file);
  if (!bytes.ok()) Fail(file, bytes.status());
  v1::PlanRequest request;
  request.set_hlo_module(*bytes);
  for (const int64_t size : flags.mesh) request.mutable_mesh()->add_shape(size);
  request.set_device_memory_bytes(flags.device_memory);
  request.mutable_stages()->set_micro_batches(flags.micro_batches);
  request.mutable_stages()->set_host_bytes_per_second(1e10);
  store::FakeProfileStore store;
  jobs::FakeMeasurer measurer;
  measurer.machine = 3;
  const planning::PlanDependencies dependencies = {&store, &measurer};
  const auto quiet = [](const v1::PlanProgress&) {};
  const double start = CpuSeconds();
  const auto step = stages::MeasureMeshes(request, dependencies, quiet);
  if (!step.ok()) Fail(file, step.status());
  const double measured = CpuSeconds();
  v1::PlanPrograms counts;
  const auto answer =
      stages::SearchPartition(request, **step, dependencies, quiet, counts);
  if (!answer.ok()) Fail(file, answer.status());
  const double chosen = CpuSeconds();
  int searches = 0;
  for (const auto& mesh : (*step)->meshes) searches += mesh->search->solved();
  std::printf(
      "%s: %d segments, profiles %.2f s, cut %.2f s (%d searches, %d "
      "rounds)\n",
      file.c_str(), (*step)->Segments(), measured - start, chosen - measured,
      searches, answer->rounds);
  if (!answer->chosen.has_value()) {
    std::printf("  nothing fits; at least %lld bytes\n",
                static_cast<long long>(answer->min_bytes.value_or(0)));
    return;
  }
  for (const stages::ChosenStage& stage : answer->chosen->stages) {
    std::printf("  %d-%d on %s", stage.place.first, stage.place.end - 1,
                stages::NameMesh(
                    (*step)->meshes[stage.place.mesh]->step.space.context.mesh)
                    .c_str());
  }
  int64_t peak = 0;
  for (const int64_t bytes_of_stage :
       answer->chosen->chosen.figures.peak_bytes) {
    peak = std::max(peak, bytes_of_stage);
  }
  std::printf("\n  step %.3f ms, peak %lld bytes\n",
              problem::ToSeconds(answer->chosen->chosen.step) * 1e3,
              static_cast<long long>(peak));
}

}  // namespace
}  // namespace meshwright

int main(int argc, char** argv) {
  meshwright::Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--mesh" && has_value) {
      flags.mesh.clear();
      for (const auto size : absl::StrSplit(argv[++i], 'x')) {
        flags.mesh.push_back(std::atoll(std::string(size).c_str()));
      }
    } else if (argument == "--micro-batches" && has_value) {
      flags.micro_batches = std::atoi(argv[++i]);
    } else if (argument == "--device-memory" && has_value) {
      flags.device_memory = std::atoll(argv[++i]);
    } else {
      flags.files.emplace_back(argument);
    }
  }
  for (const std::string& file : flags.files) meshwright::Run(flags, file);
  return 0;
}
