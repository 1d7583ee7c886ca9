#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "base/open_files.h"
#include "base/rpc/health_port.h"
#include "base/rpc/local_address.h"
#include "base/status_macros.h"
#include "base/supervisor.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/security_flags.h"
#include "cli/local/cluster.h"
#include "cli/local/store.h"
#include "cli/program/config_file.h"
#include "cli/program/limit_seconds.h"
#include "cli/slurm/gathering.h"
#include "cli/slurm/programs.h"
#include "cli/text/format.h"
#include "cli/verbs/verbs.h"
#include "coordinator/security/audit_log.h"
#include "worker/devices/device_choice.h"

namespace meshwright::cli {
namespace {

// More than all workers and held streams need; as many idle connections take
// less memory than gRPC's buffers may (docs/decisions/security.md).
constexpr int64_t kOpenFiles = 16384;
constexpr int64_t kFewOpenFiles = 4096;
constexpr absl::Duration kLook = absl::Milliseconds(200);
// Of a command that was told to end.
constexpr absl::Duration kLastWords = absl::Seconds(30);

struct CoordinatorFlags {
  std::string listen = kDefaultAddress;
  std::string store;
  std::string advertised;
  security::Listening security;
  std::string audit;
  std::string metrics;
  std::string dashboard;
  std::string health;
  std::string log_format = "text";
  double drain_seconds = 30;
};

struct SlurmFlags {
  bool is_given = false;
  std::string folder;
  double patience_seconds = 300;
  std::vector<std::string> command;
};

struct UpFlags {
  CoordinatorFlags coordinator;
  std::string device_choice;
  DeviceFlags devices;
  SlurmFlags slurm;
};

// While a coordinator serves: until it is to stop, with what there is to say of
// it. `address`: where it listens.
using StayFunction = std::function<absl::Status(const std::string& address,
                                                const std::stop_token& stop)>;

// Reads a coordinator's tokens and certificates again, while there is one.
// Threads: any; signals are watched on a thread of their own.
class Reloader {
 public:
  explicit Reloader(const base::Supervisor* supervisor)
      : supervisor_(supervisor) {}

  void Serve(LocalCluster* cluster) ABSL_LOCKS_EXCLUDED(mutex_) {
    base::MutexLock lock(&mutex_);
    cluster_ = cluster;
  }
  void Reload() ABSL_LOCKS_EXCLUDED(mutex_) {
    base::MutexLock lock(&mutex_);
    if (cluster_ == nullptr) return;
    supervisor_->Reloading();
    const absl::Status status = cluster_->coordinator().Reload();
    if (status.ok()) {
      base::LogInfo("tokens and certificates: read again");
      supervisor_->Ready("serving");
    } else {
      base::LogWarning("tokens and certificates: one is wrong, and old tokens ",
                       "stay in force: ", status.message());
      supervisor_->Ready(
          absl::StrCat("serving; the reload failed: ", status.message()));
    }
  }

 private:
  const base::Supervisor* const supervisor_;
  base::Mutex mutex_;
  LocalCluster* cluster_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

// False: something still runs after `limit`, or there is no time for it. The
// limit is counted in looks: a process that was stopped for an hour has not
// drained for an hour.
bool DrainWithin(daemon::Coordinator& coordinator, absl::Duration limit,
                 const std::atomic<bool>& hurry) {
  for (absl::Duration left = limit; !hurry; left -= kLook) {
    if (coordinator.Drain(std::min(left, kLook))) return true;
    if (left <= kLook) break;
  }
  return false;
}

// Until an interrupt, or as long as `stay` does. `devices`: those of the
// worker; absent: there is none.
absl::Status Serve(const Context& context, const CoordinatorFlags& flags,
                   const std::optional<v1::DeviceSpec>& devices,
                   const StayFunction& stay = nullptr) {
  ASSIGN_OR_RETURN(const std::string path, FindStorePath(flags.store));
  std::unique_ptr<security::AuditLog> audit = security::NewLoggedAuditLog();
  if (!flags.audit.empty()) {
    ASSIGN_OR_RETURN(audit, security::OpenJsonLinesAuditLog(flags.audit));
  }
  std::atomic<bool> hurry = false;
  const base::Supervisor supervisor;
  Reloader reloader(&supervisor);
  std::function<void()> hangup;  // else it ends with its terminal
  if (supervisor.is_there() || flags.security.uses_tls() ||
      !flags.security.token_file.empty()) {
    hangup = [&] { reloader.Reload(); };
  }
  const base::Interrupt interrupt([&] { hurry = true; }, hangup);
  if (!base::LogEnabled(base::LogLevel::kInfo)) {
    base::SetLogLevel(base::LogLevel::kInfo);
  }
  if (flags.log_format == "json") base::SetLogFormat(base::LogFormat::kJson);
  base::LogFromThread();
  const int64_t open_files = base::RaiseOpenFiles(kOpenFiles);
  if (open_files < kFewOpenFiles) {
    base::LogWarning("at most ", open_files, " files may be open, connections ",
                     "among them; raise the hard limit (ulimit -Hn, or ",
                     "LimitNOFILE of systemd) to ", kOpenFiles);
  }
  ASSIGN_OR_RETURN(const CoordinatorStore store, OpenCoordinatorStore(path));
  const std::string named = DescribeStorePath(path);
  LocalCluster::Options options;
  options.plans = store.plans.get();
  options.clock = context.clock;
  options.store = store.profiles.get();
  options.store_path = path;
  options.listen_address = flags.listen;
  options.shares_store = store.is_shared;
  options.advertised_address = flags.advertised;
  options.security = flags.security;
  options.audit = audit.get();
  options.metrics_address = base::CompleteAddress(flags.metrics);
  options.dashboard_address = base::CompleteAddress(flags.dashboard);
  std::unique_ptr<base::HealthPort> health;
  if (!flags.health.empty()) {
    ASSIGN_OR_RETURN(health, base::HealthPort::Start(flags.health, {}));
  }
  options.alive = [&] {
    supervisor.Alive();
    if (health != nullptr) health->Alive();
  };
  options.has_worker = devices.has_value();
  if (devices.has_value()) options.devices = *devices;
  ASSIGN_OR_RETURN(const std::unique_ptr<LocalCluster> cluster,
                   LocalCluster::Start(std::move(options)));
  reloader.Serve(cluster.get());
  if (health != nullptr) health->SetReady(true);
  const std::string metrics = cluster->coordinator().metrics_address();
  const std::string dashboard = cluster->coordinator().dashboard_url();
  if (context.json) {
    nlohmann::ordered_json said;
    said["address"] = cluster->address();
    said["store"] = named;
    if (!metrics.empty()) said["metrics"] = metrics;
    if (!dashboard.empty()) said["dashboard"] = dashboard;
    if (health != nullptr) said["health"] = health->address();
    *context.out << said.dump() << "\n" << std::flush;
  } else {
    *context.out << "listening on " << cluster->address() << "\nstore " << named
                 << "\n";
    if (!metrics.empty()) {
      *context.out << "metrics at http://" << metrics << "/metrics\n";
    }
    if (!dashboard.empty())
      *context.out << "dashboard at " << dashboard << "\n";
    if (health != nullptr)
      *context.out << "health at " << health->address() << "\n";
    *context.out << std::flush;
  }
  // One line for people, in the log's own form.
  const auto say = [&](const std::string& line) {
    if (flags.log_format == "json") {
      base::LogInfo(line);
    } else {
      *context.err << line << "\n" << std::flush;
    }
  };
  supervisor.Ready(absl::StrCat("listening on ", cluster->address()));
  absl::Status stayed;
  if (stay) {
    stayed = stay(cluster->address(), interrupt.token());
  } else {
    interrupt.Wait();
  }
  supervisor.Stopping("draining");
  if (health != nullptr) health->SetReady(false);
  say(absl::StrCat("draining for at most ", flags.drain_seconds,
                   " s; interrupt again to stop at once"));
  if (!DrainWithin(cluster->coordinator(), absl::Seconds(flags.drain_seconds),
                   hurry)) {
    say("plans that still run stay in the store, and their leases with the "
        "workers; the next start goes on with them");
  }
  reloader.Serve(nullptr);
  return stayed;
}

// Until the command ends, or an interrupt, which it is sent too, or the workers
// that it needs are gone.
absl::Status RunCommand(const std::vector<std::string>& command,
                        const std::vector<std::string>& variables,
                        Gathering& gathering, const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const auto program,
                   RunningProgram::Start(command, variables, false));
  std::optional<int> status;
  const base::SteadyClock clock;
  absl::Time told = absl::InfiniteFuture();
  bool is_deserted = false;
  while (!status.has_value()) {
    is_deserted = is_deserted || gathering.IsOver(absl::ZeroDuration());
    if ((stop.stop_requested() || is_deserted) &&
        told == absl::InfiniteFuture()) {
      program->Signal(SIGTERM);
      told = clock.Now();
    }
    if (clock.Now() - told > kLastWords) program->Signal(SIGKILL);
    status = program->AwaitEnd(kLook);
  }
  if (is_deserted && *status != 0) {
    return absl::UnavailableError(
        absl::StrCat("the workers of the job ended before ", command[0],
                     "; their messages say why"));
  }
  if (*status == 0) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat(command[0], " ended with status ", *status));
}

// A coordinator on this node and workers on all nodes of the allocation.
absl::Status UpInAllocation(const Context& context, const UpFlags& flags) {
  // With --solo it is the number of the mesh that each GPU stands for.
  int number = 0;
  const bool is_of_mesh =
      flags.devices.solo && absl::SimpleAtoi(flags.device_choice, &number);
  if (flags.devices.platform != "cpu" && !flags.device_choice.empty() &&
      !is_of_mesh) {
    return absl::InvalidArgumentError(
        "--slurm starts a worker for each GPU of the allocation; ask sbatch "
        "for fewer rather than give --devices");
  }
  GatheringOptions options;
  options.folder = flags.slurm.folder;
  options.platform = flags.devices.platform;
  options.plugin = flags.devices.plugin;
  options.devices = flags.device_choice;
  options.solo = flags.devices.solo;
  options.patience = absl::Seconds(flags.slurm.patience_seconds);
  ASSIGN_OR_RETURN(const std::unique_ptr<Gathering> gathering,
                   Gathering::Make(options));
  CoordinatorFlags coordinator = flags.coordinator;
  if (coordinator.listen == kDefaultAddress) coordinator.listen = "0.0.0.0:0";
  coordinator.security = gathering->listening();
  coordinator.drain_seconds = 0;  // its workers go with the allocation
  return Serve(context, coordinator, std::nullopt,
               [&](const std::string& listens, const std::stop_token& stop) {
                 const std::string address = gathering->AddressOf(listens);
                 RETURN_IF_ERROR(gathering->Call(address, stop));
                 const auto variables = gathering->Variables(address);
                 if (!flags.slurm.command.empty()) {
                   return RunCommand(flags.slurm.command, variables, *gathering,
                                     stop);
                 }
                 *context.err << "serving job steps at " << address << "\n"
                              << std::flush;
                 while (!stop.stop_requested() && !gathering->IsOver(kLook)) {
                 }
                 return absl::OkStatus();
               });
}

absl::Status Up(const Context& context, const UpFlags& flags) {
  if (flags.slurm.is_given) return UpInAllocation(context, flags);
  if (!flags.slurm.command.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is nothing to run ", flags.slurm.command[0],
                     " in; give --slurm, or leave the command out"));
  }
  ASSIGN_OR_RETURN(v1::DeviceSpec devices,
                   ToDeviceSpec(flags.devices, 0, true));
  RETURN_IF_ERROR(worker::devices::ChooseDevices(flags.device_choice, devices));
  return Serve(context, flags.coordinator, devices);
}

void AddCoordinatorFlags(CLI::App& verb, CoordinatorFlags* flags) {
  verb.add_option("--listen", flags->listen,
                  "HOST:PORT or unix:PATH; port 0 means any free port")
      ->capture_default_str();
  verb.add_option("--store", flags->store,
                  "profile store, a file or postgres://USER@HOST/DATABASE "
                  "(default: in the user's data folder)");
  AddListeningFlags(verb, &flags->security, &flags->audit);
  verb.add_option("--metrics", flags->metrics,
                  "HOST:PORT where Prometheus reads figures, or a PORT of this "
                  "machine (default: nowhere)");
  verb.add_option(
      "--dashboard", flags->dashboard,
      "HOST:PORT of a page that shows plans, tasks, workers and the "
      "store, or a PORT of this machine (default: nowhere)");
  verb.add_option("--health", flags->health,
                  "HOST:PORT of gRPC's health checks alone, without TLS, or a "
                  "PORT of this machine (default: only at --listen)");
  verb.add_option("--log-format", flags->log_format,
                  "of the log on stderr: text, or json, an object on each line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  LimitSeconds(
      verb.add_option("--drain-seconds", flags->drain_seconds,
                      "after SIGTERM, running plans have this long to end; the "
                      "next start goes on with the rest")
          ->capture_default_str(),
      0.0, 86400.0);
}

void AddSlurmFlags(CLI::App& verb, SlurmFlags* flags) {
  verb.add_flag("--slurm", flags->is_given,
                "in an allocation of Slurm: workers on all its nodes, TLS and "
                "tokens made for it");
  verb.add_option("--slurm-folder", flags->folder,
                  "folder that all nodes see, for the certificate and the "
                  "tokens (default: where the job was submitted)");
  LimitSeconds(
      verb.add_option(
              "--slurm-patience-seconds", flags->patience_seconds,
              "the workers have this long to come; then it goes on with "
              "fewer")
          ->capture_default_str(),
      0.0, 86400.0);
  verb.add_option("command", flags->command,
                  "with --slurm, behind --: runs beside the service, which "
                  "ends with it");
}

}  // namespace

void AddUpVerb(CLI::App& app, Context& context) {
  const auto [verb, flags] = AddVerb(
      app, context, "up", "run a coordinator and a worker on this machine", Up);
  AddCoordinatorFlags(*verb, &flags->coordinator);
  verb->add_option("--devices", flags->device_choice,
                   "how many devices, or which: 4, or 0,2 or GPU-... (default: "
                   "8 of a CPU, else all)")
      ->type_name(kCountOrNames);
  AddDeviceFlags(*verb, &flags->devices);
  verb->add_flag("--solo", flags->devices.solo,
                 "the one GPU stands for all devices of a mesh");
  AddSlurmFlags(*verb, &flags->slurm);
  AddConfigFlags(*verb, context.out);
}

void SetUpCoordinator(CLI::App& app, Context& context) {
  app.name("meshwright-coordinator");
  app.description(
      "Plans training steps for everyone who asks; workers attach to it. A "
      "coordinator and a worker in one: meshwright up.");
  const auto flags = std::make_shared<CoordinatorFlags>();
  app.add_flag("--json", context.json,
               "the address as JSON on stdout, messages on stderr");
  AddCoordinatorFlags(app, flags.get());
  app.add_option(
      "--advertise", flags->advertised,
      "HOST:PORT that other coordinators of the same database send "
      "workers to (default: --listen; this machine's name for 0.0.0.0)");
  AddConfigFlags(app, context.out);
  context.run = [&context, flags] {
    absl::Status served = Serve(context, *flags, std::nullopt);
    if (!absl::IsAlreadyExists(served)) return served;
    // Another process has the port or the store, or the address comes late. It
    // passes, so that a service manager starts this daemon again.
    return absl::UnavailableError(served.message());
  };
}

}  // namespace meshwright::cli
