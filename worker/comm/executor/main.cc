// meshwright-comm: runs one host's rank of a plan
// (docs/formats/executor.md).
#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/exit_status.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "worker/comm/executor/executor_json.h"
#include "worker/comm/executor/rank.h"
#include "worker/comm/executor/slices.h"
#include "worker/comm/transport/device_transport.h"
#include "worker/comm/transport/nccl_channels.h"
#include "worker/comm/transport/tcp_transport.h"

namespace meshwright::worker::comm {
namespace {

struct Options {
  std::string plan;
  std::string host;
  std::string input;
  std::string output;
  int device = 0;
  std::string nccl;
  uint64_t seed = 1;
  bool json = false;
};

int Fail(const absl::Status& status) {
  std::cerr << "meshwright-comm: " << status.message() << "\n";
  return base::ToExitStatus(status);
}

std::unique_ptr<Transport> OverChannels(const Plan& plan, int self,
                                        std::unique_ptr<TcpTransport> tcp,
                                        DeviceChannels& channels) {
  TcpTransport& control = *tcp;
  return std::make_unique<DeviceTransport>(
      plan, self, std::move(tcp),
      [&control](Transport::Clock::duration time, std::function<void()> call) {
        control.After(time, std::move(call));
      },
      channels);
}

absl::StatusOr<Outcome> RunPlan(const Options& options, const Plan& plan,
                                int self) {
  const std::vector<int> incoming = FindPorts(plan, self).incoming;
  if (!options.output.empty()) {
    RETURN_IF_ERROR(CheckSliceFiles(options.output, plan, incoming));
  }
  std::vector<Bytes> slices(plan.tasks.size());
  std::vector<std::span<const std::byte>> sources(plan.tasks.size());
  for (const int task : FindPorts(plan, self).outgoing) {
    ASSIGN_OR_RETURN(slices[task],
                     options.input.empty()
                         ? MakeSlice(options.seed, plan.tasks[task])
                         : ReadSlice(options.input, plan.tasks[task]));
    sources[task] = slices[task];
  }
  std::unique_ptr<NcclChannels>
      channels;  // before the port is ours: it may fail
  if (plan.carrier == Carrier::kNccl) {
    ASSIGN_OR_RETURN(channels,
                     NcclChannels::Create(options.device, options.nccl));
  }
  ASSIGN_OR_RETURN(TcpListener listener,
                   TcpListener::Listen(plan.hosts[self].address));
  auto tcp = std::make_unique<TcpTransport>(plan, self, std::move(listener));
  std::unique_ptr<Transport> transport;
  if (channels == nullptr) {
    transport = std::move(tcp);
  } else {
    transport = OverChannels(plan, self, std::move(tcp), *channels);
  }
  std::vector<Bytes> received(plan.tasks.size());
  Outcome outcome = RunRank(plan, self, sources, received, *transport);
  if (outcome.status.ok() && !options.output.empty()) {
    outcome.status = WriteSlices(options.output, plan, incoming, received);
  }
  return outcome;
}

void Print(const Plan& plan, const Outcome& outcome) {
  for (const TaskReport& report : outcome.tasks) {
    const Task& task = plan.tasks[report.task];
    std::cout << absl::StrFormat("%-20s %-8s %12d bytes  %9.3f .. %9.3f ms\n",
                                 task.id, report.sender ? "sent" : "received",
                                 task.size_bytes,
                                 1e3 * report.start_seconds.value_or(0),
                                 1e3 * report.end_seconds.value_or(0));
  }
  if (!outcome.makespan_seconds.has_value()) return;
  std::cout << absl::StrFormat("all hosts done after %.3f ms\n",
                               1e3 * *outcome.makespan_seconds);
}

absl::StatusOr<Outcome> Execute(const Options& options) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(options.plan));
  ASSIGN_OR_RETURN(const PlanFile file, PlanFromJson(text));
  const std::string& id = options.host.empty() ? file.host : options.host;
  if (id.empty()) {
    return absl::InvalidArgumentError(
        "which host is this? Give --host, or \"host\" in the plan");
  }
  ASSIGN_OR_RETURN(const int self, FindHostNamed(file.plan, id));
  ASSIGN_OR_RETURN(Outcome outcome, RunPlan(options, file.plan, self));
  if (options.json) {
    std::cout << FormatReport(file.plan, self, outcome) << "\n";
  } else if (outcome.status.ok()) {
    Print(file.plan, outcome);
  }
  return outcome;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Runs one host's part in a resharding between meshes.",
               "meshwright-comm");
  app.add_option("plan", options.plan, "executor plan, JSON")->required();
  app.add_option("--host", options.host, "which of the plan's hosts this is");
  app.add_option("--input", options.input, "folder of the slices to send")
      ->check(CLI::ExistingDirectory);
  app.add_option("--output", options.output, "folder for the slices received")
      ->check(CLI::ExistingDirectory);
  app.add_option("--device", options.device,
                 "GPU of this host, where the plan's transport is nccl");
  app.add_option("--nccl", options.nccl,
                 "NCCL's library (default: MESHWRIGHT_NCCL, libnccl.so.2)");
  app.add_option("--seed", options.seed, "of slices made without --input");
  app.add_flag("--json", options.json, "report as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return Fail(absl::InvalidArgumentError(error.what()));
  }
  const absl::StatusOr<Outcome> outcome = Execute(options);
  if (!outcome.ok()) return Fail(outcome.status());
  return outcome->status.ok() ? base::kExitSuccess : Fail(outcome->status);
}

}  // namespace
}  // namespace meshwright::worker::comm

int main(int argc, char** argv) {
  return meshwright::worker::comm::Main(argc, argv);
}
