// Records of the collectors for the programs of a store: how far the two agree,
// and whether kernels, gaps and launch make the wall time.
//
//   kernel_rows_bench STORE
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "profiledb/open.h"
#include "tests/bench/figure.h"
#include "worker/collect/kernel_times.h"

namespace meshwright {
namespace {

std::string Describe(std::vector<double> shares) {
  if (shares.empty()) return "none";
  std::sort(shares.begin(), shares.end());
  return absl::StrFormat("median %.2f %%, worst %.2f %% of %d",
                         100 * shares[shares.size() / 2], 100 * shares.back(),
                         shares.size());
}

int Main(const std::string& path) {
  const auto store = store::OpenProfileStore(path);
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", store.status().ToString().c_str());
    return 1;
  }
  std::vector<double> apart;
  std::vector<double> left;  // of the wall time, by launch, kernels and gaps
  constexpr int64_t kLong = 5'000'000;  // where launch noise is small
  int rows = 0;
  int faults = 0;
  const absl::Status status = (*store)->ForEach(
      [&](const v1::ProfileResult& row, const store::Origin&) {
        const v1::Measurement& it = row.measurement();
        if (it.kernel_times().empty()) return true;
        ++rows;
        bool is_faulty = false;
        for (const v1::KernelTimes& times : it.kernel_times()) {
          for (const std::string& fault : times.faults()) {
            std::printf("%.12s %s: %s\n", row.key().c_str(),
                        times.collector().c_str(), fault.c_str());
            is_faulty = true;
          }
          if (times.wall_ns() < kLong) continue;
          left.push_back(static_cast<double>(times.wall_ns() - times.lead_ns() -
                                             times.span_ns()) /
                         static_cast<double>(times.wall_ns()));
        }
        faults += is_faulty ? 1 : 0;
        if (it.kernel_times_size() > 1) {
          apart.push_back(worker::collect::CompareBusyTimes(
              it.kernel_times(0), it.kernel_times(1)));
        }
        return true;
      });
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  std::printf("%d rows with kernel times, %d with faults\n", rows, faults);
  PrintFigure("device time of a program by plugin profiler against CUPTI",
              "<= 2 %", Describe(apart));
  PrintFigure("launch, kernels and gaps short of wall time, programs over 5 ms",
              "<= 3 %", Describe(left));
  return 0;
}

}  // namespace
}  // namespace meshwright

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: kernel_rows_bench STORE\n");
    return 2;
  }
  return meshwright::Main(argv[1]);
}
