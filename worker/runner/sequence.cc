#include "worker/runner/sequence.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "worker/runner/tensor_values.h"

namespace meshwright::worker::runner {
namespace {

using Call = v1::Sequence::Call;

class Runs {
 public:
  Runs(const v1::Sequence& sequence, const pjrt::Client& client,
       int buffer_sets, const std::vector<BenchmarkedProgram*>& programs,
       sandbox::EventWriter& events)
      : sequence_(sequence),
        client_(client),
        buffer_sets_(buffer_sets),
        programs_(programs),
        events_(events) {
    for (const v1::Sequence::Value& value : sequence.values()) {
      made_[value.slot()] = &value.input();
    }
    for (int c = 0; c < sequence.calls_size(); ++c) {
      last_call_[sequence.calls(c).program()] = c;
      for (const int slot : sequence.calls(c).inputs()) last_read_[slot] = c;
    }
    for (const int slot : sequence.results()) {
      last_read_[slot] = sequence.calls_size();
    }
  }

  absl::StatusOr<SequenceRun> Run() {
    SequenceRun run;
    for (int c = 0; c < sequence_.calls_size(); ++c) {
      const Call& call = sequence_.calls(c);
      const int program = call.program();
      if (program < 0 || program >= static_cast<int>(programs_.size())) {
        return absl::InvalidArgumentError(absl::StrCat(
            "call ", c, " of the sequence is of no program of the request"));
      }
      absl::Status status = MayRun(call);
      if (status.ok()) status = Make(c, *programs_[program]);
      if (absl::IsInvalidArgument(status)) return status;
      if (status.ok()) continue;
      run.failures.try_emplace(program, std::move(status));
      lost_.insert(call.outputs().begin(), call.outputs().end());
    }
    for (const int slot : sequence_.results()) {
      const auto found = tensors_.find(slot);
      if (found == tensors_.end() && !lost_.contains(slot)) {
        return NoTensor(slot);
      }
      run.results.push_back(found == tensors_.end()
                                ? std::nullopt
                                : std::optional(found->second));
    }
    return run;
  }

 private:
  static absl::Status NoTensor(int slot) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the sequence reads slot ", slot, " before anything is in it"));
  }

  absl::Status MayRun(const Call& call) const {
    for (const int slot : call.inputs()) {
      if (lost_.contains(slot)) {
        return absl::AbortedError(
            "it reads what another program makes, and that one did not run");
      }
    }
    if (programs_[call.program()] != nullptr) return absl::OkStatus();
    return absl::AbortedError("it is not there");
  }

  absl::Status Make(int number, BenchmarkedProgram& loaded) {
    const Call& call = sequence_.calls(number);
    events_.Started(loaded.program().key(), v1::RunnerEvent::Started::MEASURE);
    const auto& parameters = loaded.signature().parameters;
    if (call.inputs_size() != static_cast<int>(parameters.size()) ||
        call.outputs_size() !=
            static_cast<int>(loaded.signature().outputs.size())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "call ", number, " has other inputs or outputs than its program"));
    }
    std::vector<const pjrt::HostArray*> inputs;
    for (int i = 0; i < call.inputs_size(); ++i) {
      ASSIGN_OR_RETURN(const pjrt::HostArray* tensor,
                       At(call.inputs(i), parameters[i]));
      inputs.push_back(tensor);
    }
    const bool last = last_call_[call.program()] == number;
    RETURN_IF_ERROR(
        loaded.UploadTensors(client_, inputs, last ? buffer_sets_ : 1));
    absl::Duration took;
    ASSIGN_OR_RETURN(std::vector<pjrt::HostArray> outputs,
                     loaded.RunAndRead(/*for_comparison=*/true, took));
    for (int i = 0; i < call.outputs_size(); ++i) {
      tensors_[call.outputs(i)] = std::move(outputs[i]);
    }
    std::erase_if(tensors_, [&](const auto& it) {
      const auto read = last_read_.find(it.first);
      return read == last_read_.end() || read->second <= number;
    });
    return absl::OkStatus();
  }

  absl::StatusOr<const pjrt::HostArray*> At(int slot, const TensorSlot& as) {
    const auto found = tensors_.find(slot);
    if (found != tensors_.end()) return &found->second;
    const auto made = made_.find(slot);
    if (made == made_.end()) return NoTensor(slot);
    ASSIGN_OR_RETURN(pjrt::HostArray tensor,
                     MakeInput(*made->second, as.type, as.dimensions));
    return &(tensors_[slot] = std::move(tensor));
  }

  const v1::Sequence& sequence_;
  const pjrt::Client& client_;
  const int buffer_sets_;
  const std::vector<BenchmarkedProgram*>& programs_;
  sandbox::EventWriter& events_;
  std::map<int, const v1::InputSpec*> made_;
  std::map<int, int> last_read_;  // call, by slot
  std::map<int, int> last_call_;  // by program
  std::map<int, pjrt::HostArray> tensors_;
  std::set<int> lost_;  // slots
};

}  // namespace

absl::StatusOr<SequenceRun> RunSequence(
    const v1::Sequence& sequence, const pjrt::Client& client, int buffer_sets,
    const std::vector<BenchmarkedProgram*>& programs,
    sandbox::EventWriter& events) {
  return Runs(sequence, client, buffer_sets, programs, events).Run();
}

}  // namespace meshwright::worker::runner
