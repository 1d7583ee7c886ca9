#include "worker/pjrt/executable.h"

#include <time.h>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "pjrt_c_api.h"
#include "worker/pjrt/call.h"

namespace meshwright::worker::pjrt {
namespace {

absl::Duration ReadClock(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return absl::DurationFromTimespec(now);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Executable>> Executable::Wrap(
    const PJRT_Api* api, PJRT_LoadedExecutable* loaded, int device_count) {
  auto wrapped =
      std::unique_ptr<Executable>(new Executable(api, loaded, device_count));
  Padded<PJRT_LoadedExecutable_GetExecutable_Args> get;
  get->loaded_executable = loaded;
  RETURN_IF_ERROR(
      MESHWRIGHT_PJRT(api, PJRT_LoadedExecutable_GetExecutable, get));
  wrapped->executable_ = get->executable;
  Padded<PJRT_Executable_NumOutputs_Args> outputs;
  outputs->executable = get->executable;
  RETURN_IF_ERROR(MESHWRIGHT_PJRT(api, PJRT_Executable_NumOutputs, outputs));
  wrapped->output_count_ = static_cast<int>(outputs->num_outputs);
  return wrapped;
}

Executable::~Executable() {
  if (executable_ != nullptr) {
    Padded<PJRT_Executable_Destroy_Args> args;
    args->executable = executable_;
    MESHWRIGHT_PJRT(api_, PJRT_Executable_Destroy, args).IgnoreError();
  }
  Padded<PJRT_LoadedExecutable_Destroy_Args> args;
  args->executable = loaded_;
  MESHWRIGHT_PJRT(api_, PJRT_LoadedExecutable_Destroy, args).IgnoreError();
}

absl::StatusOr<v1::DeviceMemory> Executable::Memory() const {
  Padded<PJRT_Executable_GetCompiledMemoryStats_Args> args;
  args->executable = executable_;
  RETURN_IF_ERROR(
      MESHWRIGHT_PJRT(api_, PJRT_Executable_GetCompiledMemoryStats, args));
  v1::DeviceMemory memory;
  memory.set_argument_bytes(args->argument_size_in_bytes);
  memory.set_output_bytes(args->output_size_in_bytes);
  memory.set_alias_bytes(args->alias_size_in_bytes);
  memory.set_temporary_bytes(args->temp_size_in_bytes);
  memory.set_peak_bytes(memory.argument_bytes() + memory.output_bytes() -
                        memory.alias_bytes() + memory.temporary_bytes());
  return memory;
}

absl::StatusOr<CompilerCosts> Executable::Costs() const {
  Padded<PJRT_Executable_GetCostAnalysis_Args> args;
  args->executable = executable_;
  RETURN_IF_ERROR(MESHWRIGHT_PJRT(api_, PJRT_Executable_GetCostAnalysis, args));
  CompilerCosts costs;
  for (size_t i = 0; i < args->num_properties; ++i) {
    const PJRT_NamedValue& it = args->properties[i];
    if (it.type != PJRT_NamedValue_kFloat) continue;
    const std::string_view name(it.name, it.name_size);
    if (name == "flops") costs.flops = it.float_value;
    if (name == "transcendentals") costs.transcendentals = it.float_value;
    if (name == "bytes accessed") costs.bytes_accessed = it.float_value;
  }
  return costs;
}

absl::StatusOr<hlo::HloModuleProto> Executable::OptimizedModule() const {
  Padded<PJRT_Program> program;
  Padded<PJRT_Executable_OptimizedProgram_Args> args;
  args->executable = executable_;
  args->program = program.get();
  RETURN_IF_ERROR(
      MESHWRIGHT_PJRT(api_, PJRT_Executable_OptimizedProgram, args));
  std::string code(program->code_size, '\0');
  program->code = code.data();
  RETURN_IF_ERROR(
      MESHWRIGHT_PJRT(api_, PJRT_Executable_OptimizedProgram, args));
  const std::string_view format(program->format, program->format_size);
  if (format != "hlo_with_config") {
    return absl::UnimplementedError(
        absl::StrCat("the plugin writes optimized programs as ",
                     std::string(format), ", not as hlo_with_config"));
  }
  hlo::HloModuleProtoWithConfig module;
  if (!module.ParseFromString(code)) {
    return absl::InternalError(
        "the plugin's optimized program is no HloModuleProtoWithConfig");
  }
  return std::move(*module.mutable_hlo_module());
}

absl::StatusOr<std::string> Executable::Serialize() const {
  Padded<PJRT_Executable_Serialize_Args> args;
  args->executable = executable_;
  RETURN_IF_ERROR(MESHWRIGHT_PJRT(api_, PJRT_Executable_Serialize, args));
  std::string bytes(args->serialized_bytes, args->serialized_bytes_size);
  args->serialized_executable_deleter(args->serialized_executable);
  return bytes;
}

absl::StatusOr<Execution> Executable::Execute(
    const std::vector<std::vector<const Buffer*>>& arguments,
    const std::vector<int64_t>& kept) const {
  if (static_cast<int>(arguments.size()) != device_count_) {
    return absl::InvalidArgumentError(
        absl::StrCat("a program of ", device_count_,
                     " devices was given arguments for ", arguments.size()));
  }
  const size_t argument_count = arguments[0].size();
  std::vector<std::vector<PJRT_Buffer*>> inputs(device_count_);
  std::vector<PJRT_Buffer* const*> input_lists(device_count_);
  std::vector<std::vector<PJRT_Buffer*>> outputs(device_count_);
  std::vector<PJRT_Buffer**> output_lists(device_count_);
  std::vector<PJRT_Event*> done(device_count_, nullptr);
  for (int device = 0; device < device_count_; ++device) {
    for (const Buffer* argument : arguments[device]) {
      inputs[device].push_back(argument->get());
    }
    input_lists[device] = inputs[device].data();
    outputs[device].resize(output_count_ + 1);
    output_lists[device] = outputs[device].data();
  }
  Padded<PJRT_ExecuteOptions> options;
  options->non_donatable_input_indices = kept.data();
  options->num_non_donatable_input_indices = kept.size();
  Padded<PJRT_LoadedExecutable_Execute_Args> args;
  args->executable = loaded_;
  args->options = options.get();
  args->argument_lists = input_lists.data();
  args->num_devices = device_count_;
  args->num_args = argument_count;
  args->output_lists = output_lists.data();
  args->device_complete_events = done.data();

  Execution execution;
  const absl::Duration cpu_start = ReadClock(CLOCK_PROCESS_CPUTIME_ID);
  const absl::Duration wall_start = ReadClock(CLOCK_MONOTONIC);
  absl::Status status =
      MESHWRIGHT_PJRT(api_, PJRT_LoadedExecutable_Execute, args);
  for (PJRT_Event* event : done) {
    const absl::Status device_status = Await(api_, event);
    if (status.ok()) status = device_status;
  }
  execution.wall_time = ReadClock(CLOCK_MONOTONIC) - wall_start;
  execution.cpu_time = ReadClock(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;

  for (const std::vector<PJRT_Buffer*>& list : outputs) {
    std::vector<Buffer>& buffers = execution.outputs.emplace_back();
    for (int i = 0; i < output_count_; ++i) buffers.emplace_back(api_, list[i]);
  }
  if (!status.ok()) return status;
  return execution;
}

}  // namespace meshwright::worker::pjrt
