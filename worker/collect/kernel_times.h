// SumKernels: the records of a few executions, summed up.
//
// Concept: a window is one execution, from the call until all devices were
// done, by the host's clock. A record belongs to the last window that began
// before it. Of the windows that show as many records as most do, the one with
// the shortest span, from the first record of any device to the last, is
// summed. Of several devices, that one speaks for all whose own records span
// the longest: what another device computes hides none of its communication.
// Its intervals are united, so that work on several streams counts once, and it
// is idle for the rest of the execution's span.
//   A record communicates if its HLO instruction is a collective, or its name
// begins with NCCL's "nccl": CUPTI knows no instructions, and the plugin names
// the command buffer that XLA put an instruction into in its place.
// Out: `faults` says what cannot be: dropped records, an end before its start,
// kernels without times (those of CUDA graphs, in some versions), kernels of
// hours, more work than wall time, fewer than half of the executions alike, no
// kernel at all. Source: papers/cfp.txt, 4.2.
#ifndef MESHWRIGHT_WORKER_COLLECT_KERNEL_TIMES_H_
#define MESHWRIGHT_WORKER_COLLECT_KERNEL_TIMES_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "proto/v1/profile.pb.h"
#include "worker/collect/records.h"

namespace meshwright::worker::collect {

struct Window {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// `windows` in order. `collectives`: the names of the program's instructions
// that communicate.
v1::KernelTimes SumKernels(const Collection& collection,
                           const std::vector<Window>& windows,
                           const std::set<std::string>& collectives);

// The communication that no computation hid, of the same collector; 0: none.
int64_t FindExposedCommunication(const v1::Measurement& measurement);

// What an execution's wall time had besides its span, in nanoseconds
// (timing/launch.h); 0 where no collector is trusted.
int64_t FindLaunch(const v1::Measurement& measurement);

// How far two collectors are apart in the time that the device worked, as a
// share. Spans hold gaps as well, which differ from run to run.
double CompareBusyTimes(const v1::KernelTimes& a, const v1::KernelTimes& b);

}  // namespace meshwright::worker::collect

#endif  // MESHWRIGHT_WORKER_COLLECT_KERNEL_TIMES_H_
