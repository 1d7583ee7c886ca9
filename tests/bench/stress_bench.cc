// Time and memory of stress modules at two sizes, in a process each.
//
//   build/release/bin/stress_bench [SIZE [NAME...]]
//
// Columns: bytes of the file, milliseconds of load, analysis and space,
// nanoseconds per byte, peak memory over the file's size at SIZE (default
// 50000) and at four times SIZE, and how it ended. Where the time per byte
// grows with the size, something is not linear.
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "coordinator/ir/load/load.h"
#include "coordinator/ir/module.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"
#include "tests/stress/modules.h"

namespace meshwright::stress {
namespace {

struct Result {
  double bytes = 0;
  double milliseconds = 0;
  double peak = 0;
  char end[80] = "died";
};

double PeakBytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kilobytes = 0;
  while (status >> word) {
    if (word == "VmHWM:") status >> kilobytes;
  }
  return 1024 * kilobytes;
}

Result Run(const StressModule& stress, int size) {
  Result result;
  const std::string bytes = stress.make(size).SerializeAsString();
  result.bytes = static_cast<double>(bytes.size());
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
  const auto start = std::chrono::steady_clock::now();
  auto module = ir::LoadModule(bytes);
  absl::Status status = module.status();
  if (module.ok()) {
    const auto analysis = segmenter::Analyze(*std::move(module), {1, 2});
    status = analysis.status();
    if (status.ok()) {
      space::KeyContext context;
      context.mesh = {1, 2};
      space::BuildProfileSpace(*analysis, context);
    }
  }
  const std::chrono::duration<double, std::milli> taken =
      std::chrono::steady_clock::now() - start;
  result.milliseconds = taken.count();
  result.peak = PeakBytes();
  std::snprintf(result.end, sizeof(result.end), "%s",
                status.ok() ? "ok" : std::string(status.message()).c_str());
  return result;
}

Result RunAlone(const StressModule& stress, int size) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    const Result result = Run(stress, size);
    const ssize_t written = write(ends[1], &result, sizeof(result));
    _exit(written == sizeof(result) ? 0 : 1);
  }
  close(ends[1]);
  Result result;
  if (read(ends[0], &result, sizeof(result)) != sizeof(result)) {
    result = Result();
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return result;
}

}  // namespace
}  // namespace meshwright::stress

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 50'000;
  std::printf("%-20s %12s %9s %8s %6s  %s\n", "module", "bytes", "ms",
              "ns/byte", "peak", "end");
  for (const auto& stress : meshwright::stress::StressModules()) {
    bool wanted = argc <= 2;
    for (int i = 2; i < argc; ++i)
      wanted |= std::string(stress.name) == argv[i];
    if (!wanted) continue;
    for (const int scale : {1, 4}) {
      const auto result = meshwright::stress::RunAlone(stress, scale * size);
      std::printf("%-20s %12.0f %9.1f %8.1f %6.1f  %s\n", stress.name,
                  result.bytes, result.milliseconds,
                  1e6 * result.milliseconds / result.bytes,
                  result.peak / result.bytes, result.end);
      std::fflush(stdout);
    }
  }
  return 0;
}
