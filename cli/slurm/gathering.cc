#include "cli/slurm/gathering.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/log/log.h"
#include "base/rpc/channel_security.h"
#include "base/status_macros.h"
#include "cli/slurm/self_signed.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/security/token_file.h"

namespace meshwright::cli {
namespace {

constexpr char kCertificate[] = "coordinator.pem";
constexpr char kKey[] = "coordinator.key";
constexpr char kTokens[] = "tokens.toml";
constexpr char kWorkerToken[] = "worker.token";
// Longer than any job.
constexpr absl::Duration kLife = absl::Hours(24 * 365);
constexpr absl::Duration kLook = absl::Milliseconds(100);

// Beside this program, else of PATH.
std::string FindWorkerProgram() {
  constexpr char kName[] = "meshwright-worker";
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  if (size <= 0) return kName;
  std::string program(path, static_cast<size_t>(size));
  program.resize(program.rfind('/') + 1);
  program += kName;
  return access(program.c_str(), X_OK) == 0 ? program : kName;
}

absl::StatusOr<std::string> AddToken(const std::string& file,
                                     security::Role role,
                                     const std::string& name) {
  ASSIGN_OR_RETURN(security::NewToken made, security::MakeToken());
  made.token.name = name;
  made.token.roles = {role};
  made.token.created = absl::FromUnixSeconds(absl::ToUnixSeconds(absl::Now()));
  RETURN_IF_ERROR(security::ChangeTokenFile(
      file, [&](std::vector<security::Token>& tokens) {
        tokens.push_back(made.token);
        return absl::OkStatus();
      }));
  return made.text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Gathering>> Gathering::Make(
    const GatheringOptions& options) {
  std::unique_ptr<Gathering> gathering(new Gathering);
  gathering->options_ = options;
  ASSIGN_OR_RETURN(gathering->allocation_,
                   ReadAllocation(
                       [](const char* name) {
                         const char* const value = std::getenv(name);
                         return std::string(value == nullptr ? "" : value);
                       },
                       RunProgram));
  const Allocation& allocation = gathering->allocation_;
  RETURN_IF_ERROR(CheckGpus(allocation, options.platform));
  const std::string parent =
      options.folder.empty() ? allocation.folder : options.folder;
  ASSIGN_OR_RETURN(
      gathering->folder_,
      base::PrivateFolder::Make(
          parent, absl::StrCat(".meshwright-", allocation.job, "-")));
  RETURN_IF_ERROR(gathering->WriteSecrets());
  return gathering;
}

std::string Gathering::File(const std::string& name) const {
  return absl::StrCat(folder_->path(), "/", name);
}

absl::Status Gathering::WriteSecrets() {
  ASSIGN_OR_RETURN(const SelfSigned made,
                   MakeSelfSigned(allocation_.address, kLife));
  RETURN_IF_ERROR(folder_->WriteFile(kCertificate, made.certificate));
  RETURN_IF_ERROR(folder_->WriteFile(kKey, made.key));
  ASSIGN_OR_RETURN(const std::string worker,
                   AddToken(File(kTokens), security::Role::kWork, "workers"));
  RETURN_IF_ERROR(folder_->WriteFile(kWorkerToken, worker + "\n"));
  ASSIGN_OR_RETURN(token_,
                   AddToken(File(kTokens), security::Role::kAdmin, "command"));
  return absl::OkStatus();
}

security::Listening Gathering::listening() const {
  security::Listening listening;
  listening.certificate_file = File(kCertificate);
  listening.key_file = File(kKey);
  listening.token_file = File(kTokens);
  return listening;
}

std::string Gathering::AddressOf(const std::string& listens) const {
  const std::string& host = allocation_.address;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return absl::StrCat(is_ipv6 ? absl::StrCat("[", host, "]") : host,
                      listens.substr(listens.rfind(':')));
}

absl::Status Gathering::Call(const std::string& address,
                             const std::stop_token& stop) {
  WorkerStepOptions step;
  step.program = FindWorkerProgram();
  step.platform = options_.platform;
  step.plugin = options_.plugin;
  step.devices = options_.devices;
  step.solo = options_.solo;
  step.coordinator = address;
  step.ca_file = File(kCertificate);
  step.token_file = File(kWorkerToken);
  base::ChannelSecurity security;
  security.ca_file = step.ca_file;
  security.token = token_;
  ASSIGN_OR_RETURN(const auto client,
                   client::PlanningClient::Connect(address, security));
  ASSIGN_OR_RETURN(step_, WorkerStep::Start(allocation_, step));
  const int wanted = CountWorkers(allocation_, options_.platform);
  int attached = 0;
  for (absl::Duration left = options_.patience; attached < wanted;
       left -= kLook) {
    if (stop.stop_requested()) return absl::CancelledError("interrupted");
    if (IsOver(kLook) || (left <= absl::ZeroDuration() && attached == 0)) {
      return absl::UnavailableError(absl::StrCat(
          "none of ", wanted,
          " workers came; their messages say why, and --slurm-folder must be "
          "one that all nodes see"));
    }
    if (left <= absl::ZeroDuration()) {
      base::LogWarning(attached, " of ", wanted,
                       " workers came in time; it goes on with these");
      break;
    }
    ASSIGN_OR_RETURN(const v1::ListWorkersResponse workers,
                     client->ListWorkers());
    attached = static_cast<int>(
        std::count_if(workers.workers().begin(), workers.workers().end(),
                      [](const v1::WorkerSummary& worker) {
                        return worker.state() != v1::WorkerSummary::AWAY;
                      }));
  }
  return absl::OkStatus();
}

std::vector<std::string> Gathering::Variables(
    const std::string& address) const {
  return {absl::StrCat("MESHWRIGHT_ADDRESS=", address),
          absl::StrCat("MESHWRIGHT_CA=", File(kCertificate)),
          absl::StrCat("MESHWRIGHT_TOKEN=", token_)};
}

}  // namespace meshwright::cli
