#include "cli/worker/worker_program.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/exit_status.h"
#include "base/interrupt.h"
#include "base/log/log.h"
#include "base/rpc/channel_security.h"
#include "base/rpc/health_port.h"
#include "base/rpc/local_address.h"
#include "base/supervisor.h"
#include "cli/program/config_file.h"
#include "cli/program/limit_seconds.h"
#include "worker/devices/device_choice.h"
#include "worker/devices/device_users.h"
#include "worker/devices/sensors.h"
#include "worker/service/runner_batches.h"
#include "worker/service/while_idle.h"

namespace meshwright::cli {
namespace {

int Fail(const std::string& message, int status) {
  std::cerr << kWorkerProgram << ": " << message << "\n";
  return status;
}

int Fail(const absl::Status& status) {
  return Fail(std::string(status.message()), base::ToExitStatus(status));
}

// What a SIGHUP does; empty: it ends with its terminal. Every call reads the
// token, every connection the certificates.
std::function<void()> TakeHangups(const base::Supervisor& supervisor) {
  if (!supervisor.is_there()) return nullptr;
  return [&supervisor] {
    supervisor.Reloading();
    supervisor.Ready("running");
  };
}

// Null for no address.
absl::StatusOr<std::unique_ptr<base::HealthPort>> OpenHealth(
    const std::string& address) {
  if (address.empty()) return nullptr;
  return base::HealthPort::Start(address, {});
}

void SetReady(const std::unique_ptr<base::HealthPort>& health, bool is_ready) {
  if (health != nullptr) health->SetReady(is_ready);
}

// Processors are busy now and then; a process on a GPU is there to stay.
constexpr absl::Duration kProcessorLook = absl::Milliseconds(500);

// What NVML says, where it does.
std::vector<worker::DeviceLinks> ReadLinks(const v1::DeviceSpec& devices) {
  std::vector<worker::DeviceLinks> links;
  if (devices.platform() != "cuda") return links;
  const auto sensors =
      worker::devices::Sensors::Open(worker::devices::CountOwnDevices(devices));
  if (!sensors.ok()) return links;
  for (const auto& [place, ends, switches] : (*sensors)->ReadLinks()) {
    links.push_back({place, ends, switches});
  }
  return links;
}

int ServeIdle(const WorkerFlags& flags) {
  const auto users = worker::devices::OpenDeviceUsers(flags.worker.devices);
  if (!users.ok()) return Fail(users.status());
  const base::Supervisor supervisor;
  const auto health = OpenHealth(flags.health);
  if (!health.ok()) return Fail(health.status());
  const base::Interrupt interrupt(nullptr, TakeHangups(supervisor));
  const std::stop_callback stopping(interrupt.token(), [&] {
    supervisor.Stopping("handing leases back");
    SetReady(*health, false);
  });
  worker::WhileIdleOptions options;
  options.find_user = [&] { return (*users)->Find(); };
  options.idle_for = absl::Seconds(flags.idle_seconds);
  if (flags.platform == "cpu") {
    options.look = kProcessorLook;
    options.busy_for = kProcessorLook;
  }
  options.alive = [&] {
    supervisor.Alive();
    if (*health != nullptr) (*health)->Alive();
  };
  supervisor.Ready("serving while its devices are idle");
  SetReady(*health, !interrupt.token().stop_requested());
  const absl::Status status =
      worker::ServeWhileIdle(flags.worker, options, interrupt.token());
  return status.ok() ? base::kExitSuccess : Fail(status);
}

int Serve(WorkerFlags flags) {
  worker::Worker::Dependencies& dependencies = flags.worker;
  dependencies.security = base::WithEnvironment(dependencies.security);
  dependencies.host = base::ReadHostName();
  if (dependencies.name.empty()) {
    dependencies.name = worker::MakeWorkerName();
  }
  dependencies.run_batch = worker::RunnerBatches();
  dependencies.find_fault = worker::FindRunnerFault;
  dependencies.devices.set_platform(flags.platform);
  dependencies.devices.set_plugin_path(flags.plugin);
  dependencies.devices.set_solo(flags.solo);
  dependencies.run_member = worker::RunnerMembers(dependencies.devices);
  const absl::Status chosen =
      worker::devices::ChooseDevices(flags.device_choice, dependencies.devices);
  if (!chosen.ok()) {
    return Fail(std::string(chosen.message()), base::kExitBadInput);
  }

  dependencies.links = ReadLinks(dependencies.devices);
  base::SetLogLevel(base::LogLevel::kInfo);
  if (flags.log_format == "json") base::SetLogFormat(base::LogFormat::kJson);
  base::LogFromThread();
  if (flags.while_idle) return ServeIdle(flags);
  worker::Worker worker(std::move(dependencies));
  const base::Supervisor supervisor;
  const auto health = OpenHealth(flags.health);
  if (!health.ok()) return Fail(health.status());
  const base::Interrupt interrupt([&] { worker.Stop(); },
                                  TakeHangups(supervisor));
  const absl::Status status = worker.Start();
  if (!status.ok()) return Fail(status);
  const std::stop_callback drain(interrupt.token(), [&] {
    supervisor.Stopping("draining");
    SetReady(*health, false);
    worker.Drain();
  });
  supervisor.Ready("running");
  SetReady(*health, !interrupt.token().stop_requested());
  // In looks, not by a clock: a worker that was stopped for an hour has not
  // drained for an hour.
  constexpr absl::Duration kLook = absl::Seconds(1);
  absl::Duration left = absl::Seconds(flags.drain_seconds);
  while (!worker.WaitFor(kLook)) {
    supervisor.Alive();
    if (*health != nullptr) (*health)->Alive();
    if (!interrupt.token().stop_requested()) continue;
    if (left <= absl::ZeroDuration()) {
      base::LogInfo("worker: its batch takes too long and is handed back");
      worker.Stop();
    }
    left -= kLook;
  }
  return base::kExitSuccess;
}

}  // namespace

void SetUpWorker(CLI::App& app, WorkerFlags* flags, std::ostream* out) {
  app.add_option("--coordinator", flags->worker.coordinator_address,
                 "coordinator to work for, HOST:PORT or unix:PATH")
      ->required();
  base::ChannelSecurity& security = flags->worker.security;
  app.add_option(
      "--ca", security.ca_file,
      "CA of the coordinator's certificate, PEM; also MESHWRIGHT_CA");
  app.add_option("--cert", security.certificate_file,
                 "this worker's certificate, PEM, for mutual TLS");
  app.add_option("--key", security.key_file, "the certificate's key, PEM");
  app.add_option("--token-file", security.token_file,
                 "file with a token of role work; also MESHWRIGHT_TOKEN");
  app.add_flag("--insecure", security.insecure,
               "no TLS, though the coordinator is beyond this machine");
  app.add_option("--log-format", flags->log_format,
                 "of the log on stderr: text, or json, an object on each line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_option("--health", flags->health,
                 "HOST:PORT of gRPC's health checks, or a PORT of this machine "
                 "(default: nowhere)");
  app.add_option("--name", flags->worker.name,
                 "unique at the coordinator (default: host and process id)");
  app.add_option("--platform", flags->platform, "cpu or cuda")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--plugin", flags->plugin,
                 "PJRT plugin (default: the bundled CPU plugin)")
      ->check(CLI::ExistingFile);
  app.add_option("--devices", flags->device_choice,
                 "how many devices, or which: 4, or 0,2 or GPU-... (default: 8 "
                 "of a CPU, else all)")
      ->type_name(kCountOrNames);
  app.add_flag("--solo", flags->solo,
               "its one GPU stands for all devices of a mesh");
  LimitSeconds(
      app.add_option(
             "--drain-seconds", flags->drain_seconds,
             "after SIGTERM, the batch at hand has this long to end; then "
             "it is handed back")
          ->capture_default_str(),
      0.0, 86400.0);
  app.add_flag("--while-idle", flags->while_idle,
               "serve while nobody else uses the devices; leave at once when "
               "somebody does, or after SIGTERM");
  LimitSeconds(
      app.add_option(
             "--idle-seconds", flags->idle_seconds,
             "with --while-idle, devices have been idle for so long before "
             "it serves")
          ->capture_default_str(),
      0.0, 86400.0);
  AddConfigFlags(app, out);
}

int RunWorker(const std::vector<std::string>& arguments) {
  WorkerFlags flags;
  CLI::App app(kWorkerDescription, kWorkerProgram);
  SetUpWorker(app, &flags, &std::cout);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return Fail(error.what(), base::kExitBadInput);
  }
  return Serve(std::move(flags));
}

}  // namespace meshwright::cli
