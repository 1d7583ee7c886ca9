#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "cli/cluster/cluster_file.h"
#include "cli/cluster/cluster_text.h"
#include "cli/cluster/cluster_verbs.h"
#include "cli/flags/arguments.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/plan_file.h"
#include "cli/program/limit_seconds.h"
#include "planner/cluster/build_cluster.h"
#include "planner/cluster/cluster_json.h"
#include "planner/cluster/detection.h"
#include "worker/detect/device_sweep.h"
#include "worker/detect/tcp_timing.h"
#include "worker/devices/device_choice.h"
#include "worker/pjrt/plugin.h"

namespace meshwright::cli {
namespace {

struct DetectFlags {
  std::string hosts;
  std::string host;
  double connect_seconds = 30;
  DeviceFlags device;
  int devices = 0;
  std::string maximum_bytes;
  std::string box;
  std::string name;
  std::string output;
  int maximum_axes = 3;
};

// "a=HOST:PORT,b=HOST:PORT".
absl::StatusOr<std::vector<worker::detect::TcpHost>> ParseHosts(
    const std::string& text) {
  std::vector<worker::detect::TcpHost> hosts;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::pair<std::string, std::string> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (pair.first.empty() || pair.second.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", part, "\" is no host; write NAME=HOST:PORT"));
    }
    hosts.push_back({pair.first, pair.second});
  }
  return hosts;
}

absl::StatusOr<std::optional<int64_t>> ReadMaximumBytes(
    const DetectFlags& flags) {
  if (flags.maximum_bytes.empty()) return std::nullopt;
  ASSIGN_OR_RETURN(const int64_t bytes, ParseBytes(flags.maximum_bytes));
  return bytes;
}

// None where another host leads.
absl::StatusOr<std::optional<cluster::Description>> DetectHosts(
    const Context& context, const DetectFlags& flags) {
  ASSIGN_OR_RETURN(const auto hosts, ParseHosts(flags.hosts));
  if (flags.host.empty()) {
    return absl::InvalidArgumentError(
        "--hosts needs --host, the name of this host among them");
  }
  worker::detect::TcpTimingOptions options;
  ASSIGN_OR_RETURN(const auto bytes, ReadMaximumBytes(flags));
  options.maximum_bytes = bytes.value_or(options.maximum_bytes);
  options.connect_patience =
      std::chrono::duration_cast<worker::detect::TcpGroup::Clock::duration>(
          std::chrono::duration<double>(flags.connect_seconds));
  options.report = [&](const std::string& what) {
    if (context.terminal) *context.err << what << "\n";
  };
  ASSIGN_OR_RETURN(const auto timings,
                   worker::detect::TimeHosts(hosts, flags.host, options));
  if (flags.host != hosts.front().name) {
    *context.err << hosts.front().name << " has the timings\n";
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const auto& host : hosts) names.push_back(host.name);
  return cluster::Detect(names, timings, "tcp");
}

// A sentence.
std::string NameMissing(const worker::detect::DeviceSeries& series,
                        const std::string& reason,
                        const std::vector<std::string>& names) {
  const bool is_pair = series.operation == cluster::Operation::kSendReceive;
  return absl::StrCat(
      cluster::NameOperation(series.operation), " of ",
      absl::StrJoin(series.devices, is_pair ? " and " : ", ",
                    [&](std::string* out, cluster::DeviceIndex it) {
                      absl::StrAppend(out, names[it]);
                    }),
      " has no times: ", reason,
      is_pair ? "; their link is taken for the slowest" : "");
}

absl::StatusOr<std::optional<cluster::Description>> DetectDevices(
    const Context& context, const DetectFlags& flags) {
  const int count = flags.devices != 0               ? flags.devices
                    : flags.device.platform == "cpu" ? 2
                                                     : 0;
  ASSIGN_OR_RETURN(v1::DeviceSpec device,
                   ToDeviceSpec(flags.device, count, true));
  RETURN_IF_ERROR(worker::devices::ChooseDevices(
      count == 0 ? "" : absl::StrCat(count), device));
  worker::detect::DeviceSweepOptions options;
  ASSIGN_OR_RETURN(
      options.plugin,
      worker::pjrt::FindPlugin(device.platform(), device.plugin_path()));
  options.platform = device.platform();
  options.devices = count;
  ASSIGN_OR_RETURN(const auto bytes, ReadMaximumBytes(flags));
  options.maximum_bytes = bytes.value_or(options.maximum_bytes);
  options.report = [&](const std::string& what) {
    if (context.terminal) *context.err << what << "\n";
  };
  ASSIGN_OR_RETURN(const worker::detect::DeviceSweep sweep,
                   worker::detect::SweepDevices(options));
  std::vector<std::string> names;
  for (size_t i = 0; i < sweep.devices; ++i) {
    names.push_back(absl::StrCat(device.platform(), i));
  }
  std::set<cluster::DevicePair> untimed;
  std::vector<std::string> notes;
  for (const auto& [series, reason] : sweep.missing) {
    const bool is_pair = series.operation == cluster::Operation::kSendReceive;
    if (is_pair) untimed.emplace(series.devices[0], series.devices[1]);
    notes.push_back(NameMissing(series, reason, names));
  }
  if (untimed.size() == names.size() * (names.size() - 1) / 2) {
    return absl::UnavailableError(
        absl::StrCat("no link could be timed: ", sweep.missing.front().reason));
  }
  cluster::ClassTolerance tolerance;
  if (device.platform() == "cpu") {
    // They share one memory; only their threads' luck differs.
    tolerance.beta = 2;
    tolerance.alpha = 4;
  }
  ASSIGN_OR_RETURN(cluster::Description found,
                   cluster::Detect(names, sweep.timings,
                                   absl::StrCat(device.platform(), "-link"),
                                   tolerance, untimed));
  found.notes = std::move(notes);
  return found;
}

absl::Status Detect(const Context& context, const DetectFlags& flags) {
  if (!flags.output.empty()) RETURN_IF_ERROR(CheckWritable(flags.output));
  std::optional<LoadedCluster> box;
  if (!flags.box.empty()) {
    ASSIGN_OR_RETURN(box, LoadCluster(flags.box));
  }
  ASSIGN_OR_RETURN(std::optional<cluster::Description> found,
                   flags.hosts.empty() ? DetectDevices(context, flags)
                                       : DetectHosts(context, flags));
  if (!found.has_value()) return absl::OkStatus();
  if (box.has_value()) {
    ASSIGN_OR_RETURN(found, cluster::NestBoxes(*found, box->description));
  }
  found->name = flags.name;
  ASSIGN_OR_RETURN(const cluster::Cluster cluster,
                   cluster::BuildCluster(*found));
  const std::vector<cluster::DeviceMesh> meshes =
      cluster::RankMeshes(cluster, flags.maximum_axes);
  const std::string json = cluster::FormatDescription(*found, cluster, meshes);
  if (!flags.output.empty()) {
    RETURN_IF_ERROR(base::WriteFile(flags.output, json));
    *context.err << "wrote " << flags.output << "\n";
  }
  *context.out << (context.json ? json
                                : DescribeClusterText(*found, cluster, meshes));
  return absl::OkStatus();
}

}  // namespace

void AddClusterVerb(CLI::App& app, Context& context) {
  CLI::App* const group =
      app.add_subcommand("cluster", "the links of a cluster and its meshes");
  group->require_subcommand(0, 1);
  const auto [verb, flags] = AddVerb(
      *group, context, "detect",
      "time collectives, and write the links of the cluster to a file", Detect);
  CLI::Option* const hosts =
      verb->add_option("--hosts", flags->hosts,
                       "hosts to time over TCP, NAME=HOST:PORT,.. (default: "
                       "the devices of this host); run it on each");
  verb->add_option("--host", flags->host, "which of the hosts this is")
      ->needs(hosts);
  LimitSeconds(verb->add_option("--connect-seconds", flags->connect_seconds,
                                "how long to wait for the other hosts")
                   ->capture_default_str(),
               0.1, 86400.0);
  AddDeviceFlags(*verb, &flags->device);
  verb->add_option("--devices", flags->devices,
                   "devices of this host (default: 2 of a CPU, else all)")
      ->check(CLI::Range(1, 64))
      ->excludes(hosts);
  verb->add_option("--max-bytes", flags->maximum_bytes,
                   "largest size, like 8MiB (default: 8MiB, devices 16MiB)");
  verb->add_option("--box", flags->box,
                   "with --hosts, cluster file of the devices in each host")
      ->needs(hosts);
  verb->add_option("--name", flags->name, "of the cluster, for people");
  verb->add_option("--max-axes", flags->maximum_axes,
                   "axes that a mesh may have")
      ->capture_default_str()
      ->check(CLI::Range(1, 8));
  verb->add_option("-o,--output", flags->output,
                   "file to write the cluster to");
  AddClusterShowVerb(*group, context);
}

}  // namespace meshwright::cli
