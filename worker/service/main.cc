// meshwright-worker: the worker daemon of one machine.
//
// The first SIGINT or SIGTERM drains it, the second one stops it at once.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <utility>

#include "base/exit_status.h"
#include "base/interrupt.h"
#include "base/log/log.h"
#include "base/rpc/channel_security.h"
#include "worker/service/runner_batches.h"
#include "worker/service/worker.h"

namespace meshwright::worker {
namespace {

int Fail(const std::string& message, int status) {
  std::cerr << "meshwright-worker: " << message << "\n";
  return status;
}

int Main(int argc, char** argv) {
  Worker::Dependencies dependencies;
  dependencies.host = HostName();
  dependencies.name = DefaultWorkerName();
  dependencies.run_batch = RunnerBatches();
  dependencies.find_fault = FindRunnerFault;
  std::string platform = "cpu";
  std::string plugin;
  int devices = 8;
  CLI::App app("Runs programs for a Meshwright coordinator.",
               "meshwright-worker");
  app.add_option("--coordinator", dependencies.coordinator_address, "HOST:PORT")
      ->required();
  base::ChannelSecurity& security = dependencies.security;
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
  std::string log_format = "text";
  app.add_option("--log-format", log_format,
                 "of the log on stderr: text, or json with an object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_option("--name", dependencies.name, "unique at the coordinator");
  app.add_option("--platform", platform, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--plugin", plugin, "PJRT plugin")->check(CLI::ExistingFile);
  app.add_option("--devices", devices, "maximum of devices per program")
      ->check(CLI::Range(1, 4096));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return Fail(error.what(), base::kExitBadInput);
  }
  dependencies.security = base::WithEnvironment(dependencies.security);
  dependencies.devices.set_platform(platform);
  dependencies.devices.set_plugin_path(plugin);
  dependencies.devices.set_device_count(devices);

  base::SetLogLevel(base::LogLevel::kInfo);
  if (log_format == "json") base::SetLogFormat(base::LogFormat::kJson);
  Worker worker(std::move(dependencies));
  const base::Interrupt interrupt([&] { worker.Stop(); });
  const absl::Status status = worker.Start();
  if (!status.ok()) {
    return Fail(std::string(status.message()), base::ExitStatus(status));
  }
  const std::stop_callback drain(interrupt.token(), [&] { worker.Drain(); });
  worker.Wait();
  return base::kExitSuccess;
}

}  // namespace
}  // namespace meshwright::worker

int main(int argc, char** argv) { return meshwright::worker::Main(argc, argv); }
