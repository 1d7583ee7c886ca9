// Gathering: the private folder and the workers of `meshwright up --slurm`.
//
// Concept:
//   Make ─▶ folder (0700): certificate, key, tokens ─▶ the coordinator listens
//   Call ─▶ srun starts the workers ─▶ returns when all are attached
//   destructor ─▶ the workers leave, the folder goes
// A job's network is shared with other users' jobs, so everything is TLS and
// needs a token. Certificate and tokens are made for this one coordinator and
// are worth nothing after it. They reach the other nodes over a folder that all
// nodes see and this user alone may read, as Slurm sends environments and files
// unencrypted.
// Threads and ownership: one thread.
// Errors: of Make, those of the folder and of MakeSelfSigned; of Call,
// kUnavailable where no worker comes, kCancelled after a stop.
#ifndef MESHWRIGHT_CLI_SLURM_GATHERING_H_
#define MESHWRIGHT_CLI_SLURM_GATHERING_H_

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/private_folder.h"
#include "cli/slurm/allocation.h"
#include "cli/slurm/worker_step.h"
#include "coordinator/security/listening.h"

namespace meshwright::cli {

struct GatheringOptions {
  std::string folder;  // that all nodes see; empty: where the job was submitted
  std::string platform = "cpu";
  std::string plugin;
  std::string devices;
  bool solo = false;
  absl::Duration patience;  // for the workers
};

class Gathering {
 public:
  static absl::StatusOr<std::unique_ptr<Gathering>> Make(
      const GatheringOptions& options);

  // What the coordinator shows and asks for.
  security::Listening listening() const;
  // Where the nodes reach it. `listens`: where it listens, for the port.
  std::string AddressOf(const std::string& listens) const;
  // Starts the workers of the coordinator at `address`. Goes on with fewer,
  // with a warning, where some do not come in time.
  absl::Status Call(const std::string& address, const std::stop_token& stop);
  // The step of the workers ends by itself within `patience`.
  bool IsOver(absl::Duration patience) {
    return step_->FindEnd(patience).has_value();
  }
  // MESHWRIGHT_ADDRESS and what a client needs beside it.
  std::vector<std::string> Variables(const std::string& address) const;

 private:
  Gathering() = default;
  std::string File(const std::string& name) const;
  absl::Status WriteSecrets();

  GatheringOptions options_;
  Allocation allocation_;
  std::unique_ptr<base::PrivateFolder> folder_;
  std::string token_;                 // of the command
  std::unique_ptr<WorkerStep> step_;  // last: the workers read the folder
};

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_SLURM_GATHERING_H_
