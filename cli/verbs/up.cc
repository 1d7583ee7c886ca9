#include <CLI/CLI.hpp>
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/interrupt.h"
#include "base/log/log.h"
#include "base/status_macros.h"
#include "cli/flags/device_flags.h"
#include "cli/local/cluster.h"
#include "cli/local/store.h"
#include "cli/text/format.h"
#include "cli/verbs/context.h"

namespace meshwright::cli {
namespace {

struct UpFlags {
  std::string listen = kDefaultAddress;
  std::string store;
  int device_count = 8;
  DeviceFlags devices;
};

absl::Status Up(const Context& context, const UpFlags& flags) {
  ASSIGN_OR_RETURN(const v1::DeviceSpec devices,
                   ToDeviceSpec(flags.devices, flags.device_count, true));
  ASSIGN_OR_RETURN(const std::string path, FindStorePath(flags.store));
  std::atomic<bool> hurry = false;
  const base::Interrupt interrupt([&] { hurry = true; });
  if (!base::LogEnabled(base::LogLevel::kInfo)) {
    base::SetLogLevel(base::LogLevel::kInfo);
  }
  ASSIGN_OR_RETURN(const CoordinatorStore store, OpenCoordinatorStore(path));
  const std::string named = DescribeStorePath(path);
  LocalCluster::Options options;
  options.plans = store.plans.get();
  options.clock = context.clock;
  options.store = store.profiles.get();
  options.listen_address = flags.listen;
  options.devices = devices;
  ASSIGN_OR_RETURN(const std::unique_ptr<LocalCluster> cluster,
                   LocalCluster::Start(std::move(options)));
  if (context.json) {
    nlohmann::ordered_json said;
    said["address"] = cluster->address();
    said["store"] = named;
    *context.out << said.dump() << "\n" << std::flush;
  } else {
    *context.out << "listening on " << cluster->address() << "\nstore " << named
                 << "\n"
                 << std::flush;
  }
  interrupt.Wait();
  *context.err << "draining; interrupt again to stop at once\n" << std::flush;
  while (!hurry && !cluster->coordinator().Drain(absl::Milliseconds(200))) {
  }
  return absl::OkStatus();
}

}  // namespace

void AddUpVerb(CLI::App& app, Context& context) {
  const auto [verb, flags] = AddVerb(
      app, context, "up", "run a coordinator and a worker on this machine", Up);
  verb->add_option("--listen", flags->listen,
                   "HOST:PORT; port 0 means any free port")
      ->capture_default_str();
  verb->add_option("--store", flags->store,
                   "profile store (default: in the user's data folder)");
  verb->add_option("--devices", flags->device_count,
                   "maximum number of virtual CPU devices per program")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  AddDeviceFlags(*verb, &flags->devices);
}

}  // namespace meshwright::cli
