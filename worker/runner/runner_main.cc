// meshwright-runner JOBFILE RESULTFILE [--plugin PATH]
//
// The child that compiles and times programs; docs/formats/job-file.md.
// Exit status: 0 when every program has its result, 1 when the work failed, 2
// for bad input. The failure's one sentence is on stderr and, where the result
// file could be opened, in its Finished event.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "worker/collect/find_collectors.h"
#include "worker/collect/kernel_watch.h"
#include "worker/devices/cache_sweep.h"
#include "worker/devices/cores.h"
#include "worker/devices/device_choice.h"
#include "worker/devices/device_trouble.h"
#include "worker/devices/fingerprint.h"
#include "worker/devices/heat_counter.h"
#include "worker/devices/idle_spinner.h"
#include "worker/devices/load_watch.h"
#include "worker/devices/machine.h"
#include "worker/devices/sensors.h"
#include "worker/runner/agreement.h"
#include "worker/runner/allocator.h"
#include "worker/runner/batch.h"
#include "worker/runner/client_lock.h"
#include "worker/runner/gang_line.h"
#include "worker/sandbox/progress_page.h"
#include "worker/sandbox/restrictions.h"

namespace meshwright::worker::runner {
namespace {

constexpr char kUsage[] =
    "usage: meshwright-runner JOBFILE RESULTFILE [--plugin PATH] "
    "[--compile-threads N] [--parent PID] [--progress FILE] "
    "[--executables FOLDER]";

// On an accelerator at most: more wait for its turn to tune kernels, and each
// needs memory of the host.
constexpr int kCompiledAtOnce = 16;

struct Arguments {
  std::string job_file;
  std::string result_file;
  std::string plugin;
  int compile_threads = 0;  // 0: chosen here
  int parent = 0;           // die with this process; 0: do not
  std::string executables;
  std::optional<int> progress;  // file number of the parent's progress page
};

absl::StatusOr<Arguments> ParseArguments(int count, char** values) {
  Arguments arguments;
  std::vector<std::string> files;
  for (int i = 1; i < count; ++i) {
    const std::string value = values[i];
    if (value.rfind("--", 0) != 0) {
      files.push_back(value);
      continue;
    }
    if (i + 1 >= count) return absl::InvalidArgumentError(kUsage);
    const std::string option = values[++i];
    bool good = true;
    if (value == "--plugin") {
      arguments.plugin = option;
    } else if (value == "--compile-threads") {
      good = absl::SimpleAtoi(option, &arguments.compile_threads) &&
             arguments.compile_threads > 0;
    } else if (value == "--parent") {
      good = absl::SimpleAtoi(option, &arguments.parent);
    } else if (value == "--executables") {
      arguments.executables = option;
    } else if (value == "--progress") {
      int file = 0;
      good = absl::SimpleAtoi(option, &file);
      arguments.progress = file;
    } else {
      good = false;
    }
    if (!good) return absl::InvalidArgumentError(kUsage);
  }
  if (files.size() != 2) return absl::InvalidArgumentError(kUsage);
  arguments.job_file = files[0];
  arguments.result_file = files[1];
  return arguments;
}

// The memory of the client's devices, and how much of it is free.
void ReadMemory(const pjrt::Client& client, BatchOptions& options) {
  if (client.platform_name() == "cpu") {
    const auto total = devices::ReadTotalMemoryBytes();
    const auto available = devices::ReadAvailableMemoryBytes();
    options.device_bytes = total.value_or(options.device_bytes);
    options.free_bytes = available.value_or(options.free_bytes) / 10 * 8;
    options.input_cache_bytes = options.free_bytes / 8;
    return;
  }
  options.input_cache_bytes =
      devices::ReadAvailableMemoryBytes().value_or(options.input_cache_bytes) /
      4;
  options.devices_share_memory = false;
  // Without a limit of its own a device says kResourceExhausted when it is met.
  options.device_bytes = client.DeviceMemoryBytes().value_or(int64_t{1} << 40);
  options.free_bytes = options.device_bytes;
}

BatchOptions ChooseOptions(const Arguments& arguments,
                           const pjrt::Client& client) {
  BatchOptions options;
  const int cores = devices::CountUsableCores();
  // Compiling beside an accelerator that is being timed disturbs it little.
  const int chosen = client.platform_name() == "cpu"
                         ? std::clamp(cores / 2, 1, 4)
                         : std::min(cores, kCompiledAtOnce);
  options.compile_threads =
      arguments.compile_threads > 0 ? arguments.compile_threads : chosen;
  ReadMemory(client, options);
  return options;
}

// None: the plugin chooses.
absl::StatusOr<std::optional<float>> ReadMemoryFraction() {
  const char* const text = std::getenv("MESHWRIGHT_MEMORY_FRACTION");
  if (text == nullptr || *text == '\0') return std::nullopt;
  float fraction = 0;
  if (!absl::SimpleAtof(text, &fraction) || !(fraction > 0 && fraction <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("MESHWRIGHT_MEMORY_FRACTION is \"", text,
                     "\"; give a number above 0 and at most 1, as 0.9"));
  }
  return fraction;
}

std::string PluginVersion(const pjrt::Plugin& plugin,
                          const pjrt::Client& client) {
  return absl::StrCat(client.platform_version(), ", PJRT ",
                      plugin.api_version());
}

// Null: a CPU, or the machine has no NVML.
std::unique_ptr<devices::Sensors> OpenSensors(const pjrt::Client& client) {
  if (client.platform_name() == "cpu") return nullptr;
  auto sensors = devices::Sensors::Open(client.resident_count());
  return sensors.ok() ? *std::move(sensors) : nullptr;
}

absl::StatusOr<v1::DeviceFingerprint> MakeFingerprint(
    const pjrt::Plugin& plugin, const pjrt::Client& client) {
  v1::DeviceFingerprint fingerprint;
  fingerprint.set_platform(client.platform_name());
  const char* const flags = std::getenv("MESHWRIGHT_XLA_FLAGS");
  if (flags != nullptr) fingerprint.set_xla_flags(flags);
  fingerprint.set_device_kind(client.device_kind());
  // Some plugins (the CPU one) name no version: their content tells.
  ASSIGN_OR_RETURN(const std::string content, base::ReadFile(plugin.path()));
  fingerprint.set_plugin(absl::StrCat(PluginVersion(plugin, client), ", ",
                                      base::Sha256Hex(content).substr(0, 16)));
  if (client.platform_name() == "cpu") {
    devices::DescribeProcessors(fingerprint);
    return fingerprint;
  }
  fingerprint.set_devices_per_host(
      devices::CountDevicesOfHost(client.resident_count()));
  fingerprint.set_solo(client.is_solo());
  const auto bytes = client.DeviceMemoryBytes();
  if (bytes.ok()) fingerprint.set_memory_gib(devices::RoundToGib(*bytes));
  devices::DescribeDriver(fingerprint);
  devices::DescribeLibraries(fingerprint, plugin.path());
  const auto sensors = OpenSensors(client);
  if (sensors != nullptr) sensors->Describe(fingerprint);
  return fingerprint;
}

absl::StatusOr<v1::RunnerEvent> DescribeDevices(const pjrt::Plugin& plugin,
                                                const pjrt::Client& client,
                                                const BatchOptions& options,
                                                bool with_fingerprint) {
  v1::RunnerEvent event;
  v1::RunnerEvent::Ready& ready = *event.mutable_ready();
  ready.set_platform_name(client.platform_name());
  ready.set_platform_version(PluginVersion(plugin, client));
  ready.set_device_count(client.device_count());
  ready.set_device_kind(client.device_kind());
  ready.set_memory_bytes(options.devices_share_memory
                             ? options.device_bytes / client.resident_count()
                             : options.device_bytes);
  if (with_fingerprint) {
    ASSIGN_OR_RETURN(*ready.mutable_fingerprint(),
                     MakeFingerprint(plugin, client));
  }
  return event;
}

// A failure of the plugin, or what the driver knows of its cause. Members of a
// gang fail with each other.
absl::Status ExplainFailure(const absl::Status& status,
                            const v1::RunnerRequest& request) {
  if (request.device().platform() != "cuda" || request.has_gang() ||
      !(absl::IsFailedPrecondition(status) || absl::IsUnavailable(status))) {
    return status;
  }
  absl::Status trouble =
      devices::FindDeviceTrouble(std::string(status.message()));
  return trouble.ok() ? status : trouble;
}

absl::Status Measure(const Arguments& arguments, sandbox::EventWriter& events) {
  ASSIGN_OR_RETURN(const std::string content,
                   base::ReadFile(arguments.job_file));
  // A parent's job file is for this child alone; it must not outlive a parent
  // that is killed.
  if (arguments.parent > 0) unlink(arguments.job_file.c_str());
  v1::RunnerRequest request;
  if (!request.ParseFromString(content)) {
    return absl::InvalidArgumentError(
        absl::StrCat(arguments.job_file, " is no job file"));
  }
  ASSIGN_OR_RETURN(timing::Protocol protocol,
                   timing::ReadProtocol(request.options()));
  const v1::DeviceSpec& device = request.device();
  ASSIGN_OR_RETURN(
      const std::string path,
      pjrt::FindPlugin(device.platform(), arguments.plugin.empty()
                                              ? device.plugin_path()
                                              : arguments.plugin));
  const std::vector<v1::SandboxMeasure> measures =
      sandbox::RestrictThisProcess(device);
  const bool on_cpu = device.platform() == "cpu";
  if (on_cpu) devices::AvoidThreadPoolDeadlock();
  const std::unique_ptr<devices::IdleSpinner> awake =
      on_cpu ? devices::IdleSpinner::Start() : nullptr;
  const auto loaded = pjrt::Plugin::Load(path);
  if (!loaded.ok()) return ExplainFailure(loaded.status(), request);
  const std::shared_ptr<const pjrt::Plugin>& plugin = *loaded;
  pjrt::ClientOptions client_options;
  client_options.platform = device.platform();
  client_options.device_count = device.device_count();
  client_options.solo = device.solo();
  if (!on_cpu) {
    ASSIGN_OR_RETURN(client_options.memory_fraction, ReadMemoryFraction());
  }
  std::unique_ptr<GangLine> line;  // outlives the client
  if (request.has_gang()) {
    if (on_cpu) {
      return absl::UnimplementedError(
          "the CPU plugin does not join the devices of several processes");
    }
    line = std::make_unique<GangLine>(request.gang(), events, STDIN_FILENO);
    client_options.rank = line->rank();
    client_options.processes = line->size();
    client_options.store = line.get();
    RETURN_IF_ERROR(line->AwaitGo());
  }
  const auto created = pjrt::Client::Create(plugin, client_options);
  if (absl::IsUnavailable(created.status())) {
    return ExplainFailure(created.status(), request);
  }
  RETURN_IF_ERROR(created.status());
  const std::unique_ptr<pjrt::Client>& client = *created;
  if (device.platform() == "cuda" && request.programs().empty()) {
    RETURN_IF_ERROR(devices::FindDeviceTrouble("", client->resident_count()));
  }
  if (client->platform_name() != "cpu") protocol.slow_share = 0;
  BatchOptions options = ChooseOptions(arguments, *client);
  options.gang = line.get();
  if (line != nullptr) {
    ASSIGN_OR_RETURN(options.free_bytes,
                     Agreement(line.get()).FindSmallest(options.free_bytes));
    options.device_bytes = options.free_bytes;
  }
  // Reading all of the plugin takes a while: only for who asks for no more.
  ASSIGN_OR_RETURN(
      v1::RunnerEvent ready,
      DescribeDevices(*plugin, *client, options, request.programs().empty()));
  ready.mutable_ready()->mutable_sandbox()->Add(measures.begin(),
                                                measures.end());
  events.Write(ready);
  if (request.programs().empty()) return absl::OkStatus();
  std::unique_ptr<sandbox::ProgressPage> progress;
  if (arguments.progress.has_value()) {
    ASSIGN_OR_RETURN(progress,
                     sandbox::ProgressPage::Open(*arguments.progress));
  }
  ASSIGN_OR_RETURN(const auto lock, OpenClientLock(*client));
  devices::LoadWatch load(awake == nullptr ? std::vector<pid_t>()
                                           : std::vector<pid_t>{awake->pid()});
  const char* const calm = std::getenv("MESHWRIGHT_CALM_SECONDS");
  int64_t seconds = 0;
  if (calm != nullptr && absl::SimpleAtoi(calm, &seconds)) {
    options.quiet.calm_limit = absl::Seconds(seconds);
  }
  const auto sensors = OpenSensors(*client);
  options.sensors = sensors.get();
  options.quiet.sensors = sensors.get();
  const devices::HeatCounter heat;
  if (on_cpu) options.quiet.heat = &heat;
  options.progress = progress.get();
  std::vector<std::string> notes;
  auto collectors =
      collect::FindCollectors(plugin, client->platform_name(), notes);
  ASSIGN_OR_RETURN(const int64_t least,
                   Agreement(line.get()).FindSmallest(std::ssize(collectors)));
  collectors.resize(static_cast<size_t>(least));
  collect::KernelWatch kernels(std::move(collectors),
                               /*keeps_step=*/line != nullptr);
  if (!kernels.is_empty()) options.kernels = &kernels;
  for (const std::string& note : notes) std::cerr << note << "\n";
  options.executables_folder = arguments.executables;
  options.quiet.lock = lock.get();
  options.quiet.gang = line.get();
  options.quiet.load = &load;
  options.quiet.busy_share = on_cpu ? timing::FindBusyShare(load.processors())
                                    : timing::kBusyHostShare;
  options.quiet.cores = awake.get();
  const auto caches = on_cpu ? devices::CacheSweep::Start() : nullptr;
  options.caches = caches.get();
  options.machine_notes = absl::StrCat(
      awake == nullptr
          ? ""
          : absl::StrCat(", ", awake->count(), " cores kept awake"),
      caches == nullptr ? "" : ", caches swept", ", allocator ",
      NameAllocator());
  return Batch(request, protocol, *client, options, events).Run();
}

// Bad input stays bad, and so does a reference that no device can hold; a
// plugin's inner failure, or memory that others have now, may pass.
bool StaysWrong(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
         absl::IsFailedPrecondition(status) || absl::IsUnimplemented(status) ||
         absl::IsOutOfRange(status) || absl::IsResourceExhausted(status);
}

int Main(int count, char** values) {
  // Of idle_spinner.h: --idle-spinner CORES --parent PID.
  int parent = 0;
  if (count == 5 && std::string(values[1]) == devices::kIdleSpinnerFlag &&
      absl::SimpleAtoi(values[4], &parent)) {
    return devices::SpinOnCores(values[2], parent);
  }
  const auto arguments = ParseArguments(count, values);
  if (!arguments.ok()) {
    std::cerr << arguments.status().message() << "\n";
    return 2;
  }
  if (arguments->parent > 0 && !devices::DieWith(arguments->parent)) return 1;
  signal(SIGPIPE, SIG_IGN);
  KeepFreedMemory();
  auto events = sandbox::EventWriter::Open(arguments->result_file);
  if (!events.ok()) {
    std::cerr << "meshwright-runner: " << events.status().message() << "\n";
    return 2;
  }
  absl::Status status = Measure(*arguments, **events);
  v1::RunnerEvent event;
  const bool final = StaysWrong(status);
  event.mutable_finished()->set_error(std::string(status.message()));
  event.mutable_finished()->set_final(!status.ok() && final);
  (*events)->Write(event);
  if (status.ok()) status = (*events)->status();
  if (status.ok()) return 0;
  std::cerr << "meshwright-runner: " << status.message() << "\n";
  return final ? 2 : 1;
}

}  // namespace
}  // namespace meshwright::worker::runner

int main(int argc, char** argv) {
  const int status = meshwright::worker::runner::Main(argc, argv);
  std::cout.flush();
  std::cerr.flush();
  // A plugin's threads may still run: no destructors of statics.
  _exit(status);
}
