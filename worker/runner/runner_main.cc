// meshwright-runner JOBFILE RESULTFILE [--plugin PATH]
//
// The child that compiles and times programs; docs/formats/job-file.md.
// Exit status: 0 when every program has its result, 1 when the work failed, 2
// for bad input. The failure's one sentence is on stderr and, where the result
// file could be opened, in its Finished event.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "worker/devices/idle_spinner.h"
#include "worker/devices/machine.h"
#include "worker/runner/allocator.h"
#include "worker/runner/batch.h"

namespace meshwright::worker::runner {
namespace {

constexpr char kUsage[] =
    "usage: meshwright-runner JOBFILE RESULTFILE [--plugin PATH] "
    "[--compile-threads N] [--parent PID]";

struct Arguments {
  std::string job_file;
  std::string result_file;
  std::string plugin;
  int compile_threads = 0;  // 0: chosen here
  int parent = 0;           // die with this process; 0: do not
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

BatchOptions ChooseOptions(const Arguments& arguments,
                           const pjrt::Client& client,
                           devices::IdleSpinner* awake) {
  BatchOptions options;
  options.cores = awake;
  options.allocator = AllocatorName();
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  options.compile_threads = arguments.compile_threads > 0
                                ? arguments.compile_threads
                                : std::clamp(cores / 2, 1, 4);
  const auto available = devices::AvailableMemoryBytes();
  if (client.platform_name() == "cpu" && available.has_value()) {
    options.memory_bytes = *available / 2;
  } else if (client.platform_name() != "cpu") {
    // An accelerator's own limit shows as kResourceExhausted.
    options.memory_bytes = int64_t{16} << 30;
  }
  return options;
}

// What a program's time depends on of the plugin. Some (the CPU one) name no
// version; the size of the file tells their builds apart.
std::string PluginVersion(const pjrt::Plugin& plugin,
                          const pjrt::Client& client, const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return absl::StrCat(client.platform_version(), ", PJRT ",
                      plugin.api_version(), ", ",
                      error ? 0 : static_cast<int64_t>(size), " bytes");
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
  const bool on_cpu = device.platform() == "cpu";
  if (on_cpu) devices::AvoidThreadPoolDeadlock();
  const std::unique_ptr<devices::IdleSpinner> awake =
      on_cpu ? devices::IdleSpinner::Start() : nullptr;
  ASSIGN_OR_RETURN(auto plugin, pjrt::Plugin::Load(path));
  pjrt::ClientOptions client_options;
  client_options.platform = device.platform();
  client_options.device_count = device.device_count();
  ASSIGN_OR_RETURN(const auto client,
                   pjrt::Client::Create(plugin, client_options));
  if (client->platform_name() != "cpu") protocol.slow_share = 0;
  v1::RunnerEvent event;
  v1::RunnerEvent::Ready& ready = *event.mutable_ready();
  ready.set_platform_name(client->platform_name());
  ready.set_platform_version(PluginVersion(*plugin, *client, path));
  ready.set_device_count(client->device_count());
  ready.set_device_kind(client->device_kind());
  events.Write(event);
  Batch batch(request, protocol, *client,
              ChooseOptions(arguments, *client, awake.get()), events);
  return batch.Run();
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
  // Bad input stays bad; a plugin's inner failure may pass.
  const bool final = !absl::IsInternal(status);
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
