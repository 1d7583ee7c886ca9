// BenchmarkedProgram: one program under measurement, from its bytes to its
// result row.
//
// Concept: a program is loaded (compiled), uploaded (inputs made, cut,
// uploaded), checked (one run: no NaN; compared with a reference), then run
// many times. Outputs that alias inputs are the inputs of the next run, as in a
// training loop. Donated memory is thus reused, and no run pays for a copy that
// a real step would not make.
//
//   Load ─▶ UploadInputs ─▶ Check ─▶ Run, Run, ... ─▶ Release
//
// Ownership: holds device memory from UploadInputs to Release; must not outlive
// the client. Threads: Load from any; the rest one thread. Errors:
// kResourceExhausted where memory ran out; kInvalidArgument and kUnimplemented
// for programs or inputs that cannot be uploaded; kDataLoss for NaN.
#ifndef MESHWRIGHT_WORKER_RUNNER_BENCHMARKED_PROGRAM_H_
#define MESHWRIGHT_WORKER_RUNNER_BENCHMARKED_PROGRAM_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/v1/job.pb.h"
#include "worker/pjrt/client.h"
#include "worker/runner/executable_cache.h"
#include "worker/runner/input_cache.h"
#include "worker/runner/sharding.h"
#include "worker/runner/signature.h"

namespace meshwright::worker::runner {

// How the outputs of a run differ from the reference's, output by output.
struct Difference {
  std::vector<double> relative;
  double largest = 0;
  int worst_output = 0;
};

class BenchmarkedProgram {
 public:
  // Compiled, or taken from the cache. Errors: see above, and those of the
  // compiler.
  static absl::StatusOr<std::unique_ptr<BenchmarkedProgram>> Load(
      const pjrt::Client& client, ExecutableCache& cache,
      const v1::Program& program);

  const v1::Program& program() const { return program_; }
  const v1::DeviceMemory& memory() const { return memory_; }
  const std::vector<v1::Collective>& collectives() const {
    return collectives_;
  }
  // The instructions of the optimized program that communicate, by name.
  const std::set<std::string>& collective_names() const {
    return collective_names_;
  }
  absl::Duration compile_time() const { return compile_time_; }
  int resident_devices() const { return resident_devices_; }
  // The bytes that one set of inputs and a run hold on all devices that are
  // here together.
  int64_t FootprintBytes() const;
  // The bytes that one set of inputs holds on all devices together.
  int64_t InputBytes() const;

  // Makes and uploads `buffer_sets` sets of inputs. After an error Release
  // frees what is there.
  absl::Status UploadInputs(const pjrt::Client& client, InputCache& inputs,
                            int buffer_sets);
  // The same with these tensors, one per parameter, in place of made ones.
  absl::Status UploadTensors(const pjrt::Client& client,
                             const std::vector<const pjrt::HostArray*>& tensors,
                             int buffer_sets);
  const Signature& signature() const { return signature_; }
  int buffer_sets() const { return static_cast<int>(sets_.size()); }

  // Runs once on `buffer_set`; its time.
  absl::StatusOr<pjrt::Execution> Run(int buffer_set);
  // One run whose outputs are read back. A NaN in them is an error, unless they
  // are for a comparison, where it is a value. `took`: of the run alone. Where
  // not all devices of the program are here, shards are read and none returned;
  // of a device that stands for several not even these.
  absl::StatusOr<std::vector<pjrt::HostArray>> RunAndRead(bool for_comparison,
                                                          absl::Duration& took);

  // Frees the inputs and the executable; the facts stay.
  void Release();

 private:
  explicit BenchmarkedProgram(const v1::Program& program) : program_(program) {}
  absl::Status FindOrCompile(const pjrt::Client& client,
                             ExecutableCache& cache);
  absl::Status Compile(const pjrt::Client& client);
  absl::Status ReadFacts();
  // Cuts the tensor and uploads it as the next argument of every set.
  absl::Status Upload(const pjrt::Client& client, const pjrt::HostArray& whole);
  void OpenSets(int buffer_sets);
  // kDataLoss for a NaN in the shards that are here.
  absl::Status CheckShards(
      int output, const std::vector<std::vector<pjrt::Buffer>>& outputs) const;
  absl::StatusOr<pjrt::HostArray> Assemble(
      int output, const std::vector<std::vector<pjrt::Buffer>>& outputs) const;

  const v1::Program& program_;
  Signature signature_;
  std::vector<TileAssignment> inputs_;
  std::vector<TileAssignment> outputs_;
  std::vector<int64_t> kept_;  // parameters no output takes over
  std::unique_ptr<pjrt::Executable> executable_;
  v1::DeviceMemory memory_;
  std::vector<v1::Collective> collectives_;
  std::set<std::string> collective_names_;
  int resident_devices_ = 1;
  bool is_solo_ = false;
  absl::Duration compile_time_;
  // [set][device][argument]; sets may share an argument.
  std::vector<std::vector<std::vector<std::shared_ptr<pjrt::Buffer>>>> sets_;
};

absl::StatusOr<Difference> Compare(
    const std::vector<pjrt::HostArray>& outputs,
    const std::vector<pjrt::HostArray>& reference);

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_BENCHMARKED_PROGRAM_H_
