// Runs a sequence of programs that hand whole tensors to each other.
//
// Concept: every tensor lies on the host in a slot of its own, from the call
// that makes it to the last that reads it. A call cuts its tensors as its
// program splits them, runs once and puts its outputs together again. A value
// that is there before the first call is made when it is first read. A program
// that is not there or fails makes nothing; what reads what it would have made
// is not run either.
// In -> Out: loaded programs (null: not there), a sequence -> its results. The
// programs keep the tensors of their last call on the devices, in `buffer_sets`
// sets.
// Threads: one.
// Errors: kInvalidArgument for a sequence that names programs or slots that are
// not there. kAborted, of one call, where it was not run.
#ifndef MESHWRIGHT_WORKER_RUNNER_SEQUENCE_H_
#define MESHWRIGHT_WORKER_RUNNER_SEQUENCE_H_

#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/v1/job.pb.h"
#include "worker/pjrt/client.h"
#include "worker/runner/benchmarked_program.h"
#include "worker/sandbox/event_stream.h"

namespace meshwright::worker::runner {

struct SequenceRun {
  std::vector<std::optional<pjrt::HostArray>> results;  // none: not made
  std::map<int, absl::Status> failures;                 // by program
};

absl::StatusOr<SequenceRun> RunSequence(
    const v1::Sequence& sequence, const pjrt::Client& client, int buffer_sets,
    const std::vector<BenchmarkedProgram*>& programs,
    sandbox::EventWriter& events);

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_SEQUENCE_H_
