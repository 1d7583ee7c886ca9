#include "worker/runner/benchmarked_program.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "worker/pjrt/argument_copies.h"
#include "worker/pjrt/collectives.h"
#include "worker/pjrt/element_type.h"
#include "worker/runner/tensor_values.h"

namespace meshwright::worker::runner {
namespace {

absl::StatusOr<std::vector<TileAssignment>> Tile(
    const std::vector<TensorSlot>& slots, absl::string_view what,
    int partitions) {
  std::vector<TileAssignment> tilings;
  for (const TensorSlot& slot : slots) {
    auto tiling =
        TileAssignment::Create(slot.sharding, slot.dimensions, partitions);
    if (!tiling.ok()) {
      return absl::Status(tiling.status().code(),
                          absl::StrCat(what, " ", tilings.size(), ": ",
                                       tiling.status().message()));
    }
    tilings.push_back(*std::move(tiling));
  }
  return tilings;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BenchmarkedProgram>> BenchmarkedProgram::Load(
    const pjrt::Client& client, ExecutableCache& cache,
    const v1::Program& program) {
  hlo::HloModuleProto module;
  if (!module.ParseFromString(program.hlo_module())) {
    return absl::InvalidArgumentError("the program is no HloModuleProto");
  }
  auto loaded =
      std::unique_ptr<BenchmarkedProgram>(new BenchmarkedProgram(program));
  ASSIGN_OR_RETURN(loaded->signature_, ReadSignature(module));
  const int partitions = program.num_partitions();
  if (partitions < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the program asks for ", partitions, " partitions"));
  }
  Signature& signature = loaded->signature_;
  if (!program.compile_only() &&
      program.inputs_size() != static_cast<int>(signature.parameters.size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the program has ", signature.parameters.size(), " parameters, but ",
        program.inputs_size(), " inputs are described"));
  }
  ASSIGN_OR_RETURN(loaded->inputs_,
                   Tile(signature.parameters, "parameter", partitions));
  ASSIGN_OR_RETURN(loaded->outputs_,
                   Tile(signature.outputs, "output", partitions));
  loaded->is_solo_ = client.is_solo();
  RETURN_IF_ERROR(loaded->FindOrCompile(client, cache));
  return loaded;
}

absl::Status BenchmarkedProgram::FindOrCompile(const pjrt::Client& client,
                                               ExecutableCache& cache) {
  const int partitions = program_.num_partitions();
  if (auto kept = cache.Find(client, program_.key(), partitions)) {
    executable_ = std::move(kept->executable);
    compile_time_ = kept->compile_time;
    // Some plugins tell less of what they loaded than of what they compiled.
    if (ReadFacts().ok()) return absl::OkStatus();
  }
  absl::Status status = Compile(client);
  if (status.ok()) {
    cache.Keep(program_.key(), *executable_, compile_time_);
  } else {
    cache.GiveUp(program_.key());
  }
  return status;
}

absl::Status BenchmarkedProgram::Compile(const pjrt::Client& client) {
  const base::SteadyClock clock;
  const absl::Time start = clock.Now();
  ASSIGN_OR_RETURN(executable_, client.Compile(program_.hlo_module(),
                                               program_.num_partitions()));
  compile_time_ = clock.Now() - start;
  return ReadFacts();
}

absl::Status BenchmarkedProgram::ReadFacts() {
  kept_.clear();
  resident_devices_ = executable_->device_count();
  ASSIGN_OR_RETURN(memory_, executable_->Memory());
  ASSIGN_OR_RETURN(const hlo::HloModuleProto optimized,
                   executable_->OptimizedModule());
  memory_.set_argument_copy_bytes(pjrt::CountArgumentCopyBytes(optimized));
  collectives_ = pjrt::FindCollectives(optimized, program_.num_partitions());
  collective_names_ = pjrt::NameCollectives(optimized);
  if (executable_->output_count() != static_cast<int>(outputs_.size())) {
    return absl::InternalError(
        absl::StrCat("the compiled program has ", executable_->output_count(),
                     " outputs, the module ", outputs_.size()));
  }
  std::vector<bool> taken_over(inputs_.size(), false);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    std::optional<int>& alias = signature_.aliases[i];
    if (!alias.has_value()) continue;
    // An output of another shard shape cannot stand in for the input.
    if (outputs_[i].shard_dimensions() != inputs_[*alias].shard_dimensions() ||
        taken_over[*alias]) {
      alias.reset();
    } else {
      taken_over[*alias] = true;
    }
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!taken_over[i]) kept_.push_back(static_cast<int64_t>(i));
  }
  return absl::OkStatus();
}

int64_t BenchmarkedProgram::InputBytes() const {
  return memory_.argument_bytes() * resident_devices_;
}

int64_t BenchmarkedProgram::FootprintBytes() const {
  return memory_.peak_bytes() * resident_devices_;
}

void BenchmarkedProgram::OpenSets(int buffer_sets) {
  sets_.clear();
  for (int set = 0; set < buffer_sets; ++set) {
    sets_.emplace_back(executable_->device_count());
  }
}

absl::Status BenchmarkedProgram::Upload(const pjrt::Client& client,
                                        const pjrt::HostArray& whole) {
  const auto number = static_cast<int>(sets_.front().front().size());
  const TileAssignment& tiling = inputs_[number];
  const bool is_shared =
      program_.inputs(number).just_made() &&
      std::find(kept_.begin(), kept_.end(), number) != kept_.end();
  for (int device = 0; device < executable_->device_count(); ++device) {
    const pjrt::HostArray shard =
        Cut(whole, tiling, client.first_resident() + device);
    std::shared_ptr<pjrt::Buffer> uploaded;
    for (auto& set : sets_) {
      if (uploaded == nullptr || !is_shared) {
        ASSIGN_OR_RETURN(pjrt::Buffer buffer, client.Upload(shard, device));
        uploaded = std::make_shared<pjrt::Buffer>(std::move(buffer));
      }
      set[device].push_back(uploaded);
    }
  }
  return absl::OkStatus();
}

absl::Status BenchmarkedProgram::UploadInputs(const pjrt::Client& client,
                                              InputCache& inputs,
                                              int buffer_sets) {
  OpenSets(buffer_sets);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TensorSlot& slot = signature_.parameters[i];
    ASSIGN_OR_RETURN(const auto whole,
                     inputs.Get(program_.inputs(static_cast<int>(i)), slot.type,
                                slot.dimensions));
    RETURN_IF_ERROR(Upload(client, *whole));
  }
  return absl::OkStatus();
}

absl::Status BenchmarkedProgram::UploadTensors(
    const pjrt::Client& client,
    const std::vector<const pjrt::HostArray*>& tensors, int buffer_sets) {
  if (tensors.size() != inputs_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(tensors.size(), " tensors are given for ", inputs_.size(),
                     " parameters"));
  }
  OpenSets(buffer_sets);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TensorSlot& slot = signature_.parameters[i];
    if (tensors[i]->type != slot.type ||
        tensors[i]->dimensions != slot.dimensions) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", i,
                       " has another type or shape than the "
                       "tensor given for it"));
    }
    RETURN_IF_ERROR(Upload(client, *tensors[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<pjrt::Execution> BenchmarkedProgram::Run(int buffer_set) {
  auto& set = sets_[buffer_set];
  std::vector<std::vector<const pjrt::Buffer*>> arguments(set.size());
  for (size_t device = 0; device < set.size(); ++device) {
    for (const std::shared_ptr<pjrt::Buffer>& buffer : set[device]) {
      arguments[device].push_back(buffer.get());
    }
  }
  auto execution = executable_->Execute(arguments, kept_);
  if (!execution.ok()) return execution.status();
  for (size_t device = 0; device < set.size(); ++device) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (!signature_.aliases[i].has_value()) continue;
      std::swap(*set[device][*signature_.aliases[i]],
                execution->outputs[device][i]);
    }
  }
  return execution;
}

absl::StatusOr<std::vector<pjrt::HostArray>> BenchmarkedProgram::RunAndRead(
    bool for_comparison, absl::Duration& took) {
  auto execution = Run(0);
  if (!execution.ok()) return execution.status();
  took = execution->wall_time;
  const bool is_part = resident_devices_ < program_.num_partitions();
  // Of a device that stands for several not even its part is right.
  if (is_part && is_solo_) return std::vector<pjrt::HostArray>();
  // Run has made the aliased outputs inputs; they are read there and put back.
  const auto swap_aliased = [&] {
    for (size_t device = 0; device < execution->outputs.size(); ++device) {
      for (size_t i = 0; i < outputs_.size(); ++i) {
        if (!signature_.aliases[i].has_value()) continue;
        std::swap(*sets_[0][device][*signature_.aliases[i]],
                  execution->outputs[device][i]);
      }
    }
  };
  swap_aliased();
  std::vector<pjrt::HostArray> arrays;
  absl::Status status;
  for (size_t i = 0; i < outputs_.size() && status.ok(); ++i) {
    if (is_part) {
      status = CheckShards(static_cast<int>(i), execution->outputs);
      continue;
    }
    auto array = Assemble(static_cast<int>(i), execution->outputs);
    if (!array.ok()) {
      status = array.status();
    } else if (!for_comparison && HasNan(*array)) {
      status = absl::DataLossError(absl::StrCat("NaN in output ", i));
    } else {
      arrays.push_back(*std::move(array));
    }
  }
  swap_aliased();
  if (!status.ok()) return status;
  return arrays;
}

absl::Status BenchmarkedProgram::CheckShards(
    int output, const std::vector<std::vector<pjrt::Buffer>>& outputs) const {
  for (const std::vector<pjrt::Buffer>& device : outputs) {
    ASSIGN_OR_RETURN(const pjrt::HostArray shard, device[output].Download());
    if (HasNan(shard)) {
      return absl::DataLossError(absl::StrCat("NaN in output ", output));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<pjrt::HostArray> BenchmarkedProgram::Assemble(
    int output, const std::vector<std::vector<pjrt::Buffer>>& outputs) const {
  const TileAssignment& tiling = outputs_[output];
  pjrt::HostArray whole;
  whole.type = signature_.outputs[output].type;
  whole.dimensions = tiling.dimensions();
  whole.bytes.resize(whole.ElementCount() *
                     pjrt::CountElementBytes(whole.type));
  for (const int device : tiling.ListFirstHolders()) {
    auto shard = outputs[device][output].Download();
    if (!shard.ok()) return shard.status();
    if (shard->dimensions != tiling.shard_dimensions() ||
        shard->type != whole.type) {
      return absl::InternalError(absl::StrCat(
          "output ", output, " came back in another shape than its sharding"));
    }
    Paste(*shard, tiling, device, whole);
  }
  return whole;
}

void BenchmarkedProgram::Release() {
  sets_.clear();
  executable_.reset();
}

absl::StatusOr<Difference> Compare(
    const std::vector<pjrt::HostArray>& outputs,
    const std::vector<pjrt::HostArray>& reference) {
  if (outputs.size() != reference.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the program has ", outputs.size(),
                     " outputs, the reference ", reference.size()));
  }
  Difference difference;
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSIGN_OR_RETURN(const double relative,
                     ComputeRelativeDifference(outputs[i], reference[i]));
    difference.relative.push_back(relative);
    if (relative > difference.largest) {
      difference.largest = relative;
      difference.worst_output = static_cast<int>(i);
    }
  }
  return difference;
}

}  // namespace meshwright::worker::runner
