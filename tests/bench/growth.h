// Growth: whether a process grows while it does the same work again and again.
//
// Concept: ReadProcess samples a process by /proc. FitGrowth takes the samples
// that were taken after a warm-up and fits a slope to the memory that the
// process has for itself. The slope is the median over pairs of points of the
// slope between them (Theil-Sen), so peaks and a late cache do not move it; a
// point is the median of the samples of a hundredth of the time. FindGrowth
// compares that with what a process may grow.
// Units: seconds, MiB. Threads: pure functions.
// Errors: of ReadProcess, kNotFound for a process that has ended.
#ifndef MESHWRIGHT_TESTS_BENCH_GROWTH_H_
#define MESHWRIGHT_TESTS_BENCH_GROWTH_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright {

struct ProcessSample {
  double seconds = 0;       // since the first one; the caller's to fill
  double resident_mib = 0;  // and in no file
  int descriptors = 0;
  int threads = 0;
};
absl::StatusOr<ProcessSample> ReadProcess(pid_t process);

struct Growth {
  double seconds = 0;           // from the first sample to the last
  double mib_an_hour = 0;       // of resident memory
  double resident_mib = 0;      // median
  ProcessSample before, after;  // at rest
};
// Of samples in the order of their time; none gives zeros.
Growth FitGrowth(const std::vector<ProcessSample>& samples);

// What a process may grow in `seconds`, in MiB: in less than half an hour what
// heaps and caches need until they are filled; in more the same every hour, but
// no less than the noise of the fit. A night says more than an hour.
double AllowedGrowth(double seconds);
// The same as a slope, in MiB an hour.
double AllowedAnHour(double seconds);

// One sentence that says what grew; empty: nothing did.
std::string FindGrowth(const Growth& growth);

}  // namespace meshwright

#endif  // MESHWRIGHT_TESTS_BENCH_GROWTH_H_
