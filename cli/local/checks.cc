#include "cli/local/checks.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/file.h"
#include "cli/local/store.h"
#include "cli/text/format.h"
#include "coordinator/client/planning_client.h"
#include "profiledb/open.h"
#include "worker/sandbox/runner_process.h"

namespace meshwright::cli {
namespace {

using State = Check::State;

// The folder itself, or the nearest one above it that exists.
std::filesystem::path NearestFolder(std::filesystem::path folder) {
  std::error_code ignored;
  while (!folder.empty() && !std::filesystem::is_directory(folder, ignored) &&
         folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  return folder.empty() ? "." : folder;
}

// One that is not there: the first plan makes it, and nobody else.
Check CheckNewStore(const std::string& path, bool is_named) {
  const std::filesystem::path folder =
      NearestFolder(std::filesystem::path(path).parent_path());
  if (access(folder.c_str(), W_OK) != 0) {
    return {"store", State::kFail,
            absl::StrCat(path, " cannot be made: ", folder.string(), ": ",
                         std::strerror(errno)),
            "name another store with --store"};
  }
  return {"store", is_named ? State::kWarn : State::kOk,
          absl::StrCat(path, " is not there yet; the first plan makes it"),
          is_named ? "check the spelling, if there should be one" : ""};
}

}  // namespace

const char* ToString(Check::State state) {
  switch (state) {
    case State::kOk:
      return "ok";
    case State::kWarn:
      return "warn";
    case State::kFail:
      break;
  }
  return "fail";
}

Check CheckRunner() {
  const auto path = worker::sandbox::FindRunner();
  if (path.ok() && access(path->c_str(), X_OK) == 0) {
    return {"runner", State::kOk, *path, ""};
  }
  return {"runner", State::kFail,
          path.ok() ? absl::StrCat(*path, ": ", std::strerror(errno))
                    : std::string(path.status().message()),
          "put meshwright-runner beside meshwright or name it in "
          "MESHWRIGHT_RUNNER"};
}

Check CheckPlugin(const v1::DeviceSpec& device,
                  const absl::StatusOr<v1::RunnerEvent::Ready>& ready) {
  if (!ready.ok()) {
    // Most sentences end with their way out.
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(ready.status().message(), absl::MaxSplits("; ", 1));
    if (!parts.second.empty()) {
      return {"plugin", State::kFail, parts.first, parts.second};
    }
    return {"plugin", State::kFail, parts.first,
            device.platform() == "cuda"
                ? "install the NVIDIA driver and give the CUDA plugin with "
                  "--plugin"
                : "build again, or give a PJRT plugin with --plugin"};
  }
  return {"plugin", State::kOk,
          absl::StrCat(ready->platform_name(), " ", ready->platform_version(),
                       ", ", ready->device_count(), " devices of kind ",
                       ready->device_kind()),
          ""};
}

Check CheckSandbox(const absl::StatusOr<v1::RunnerEvent::Ready>& ready) {
  if (!ready.ok()) {
    return {"sandbox", State::kWarn, "no runner started",
            "see the check of the plugin"};
  }
  std::vector<std::string> holding;
  std::vector<std::string> missing;
  for (const v1::SandboxMeasure& measure : ready->sandbox()) {
    if (measure.holds()) {
      holding.push_back(measure.name());
    } else {
      missing.push_back(
          absl::StrCat(measure.name(), " (", measure.reason(), ")"));
    }
  }
  Check check{"sandbox", State::kOk,
              absl::StrCat("holds: ", absl::StrJoin(holding, ", ")), ""};
  if (!missing.empty()) {
    check.state = State::kWarn;
    absl::StrAppend(&check.detail,
                    "; does not hold: ", absl::StrJoin(missing, ", "));
    check.advice =
        "measuring works without; run a worker for untrusted models where all "
        "hold (docs/decisions/security.md)";
  }
  if (geteuid() == 0) {
    check.state = State::kWarn;
    absl::StrAppend(&check.detail, "; programs run as root");
    check.advice = "run workers as a user of their own, not as root";
  }
  return check;
}

Check CheckStore(const std::string& path) {
  const auto resolved = FindStorePath(path);
  if (!resolved.ok()) {
    return {"store", State::kFail, std::string(resolved.status().message()),
            "name a store with --store"};
  }
  const bool is_file = !store::IsPostgresUrl(*resolved);
  if (is_file && !std::filesystem::exists(*resolved)) {
    return CheckNewStore(*resolved, /*is_named=*/!path.empty());
  }
  const auto store = OpenStore(*resolved);
  if (!store.ok()) {
    return {"store", State::kFail, std::string(store.status().message()),
            "name another store with --store, or restore a backup"};
  }
  if (!is_file) {
    return {"store", State::kOk, DescribeStorePath(*resolved), ""};
  }
  if (access(resolved->c_str(), W_OK) != 0) {
    return {"store", State::kFail,
            absl::StrCat(*resolved, ": ", std::strerror(errno)),
            "make the file writable for this user"};
  }
  return {"store", State::kOk, *resolved, ""};
}

Check CheckDisk(const std::string& path) {
  if (store::IsPostgresUrl(path)) {
    return {"disk", State::kOk, "the store is on a server's", ""};
  }
  constexpr int64_t kWanted = int64_t{1} << 30;
  const std::filesystem::path folder =
      NearestFolder(std::filesystem::path(path).parent_path());
  struct statvfs disk = {};
  if (statvfs(folder.c_str(), &disk) != 0) {
    return {"disk", State::kWarn,
            absl::StrCat(folder.string(), ": ", std::strerror(errno)),
            "check that the store's folder is mounted"};
  }
  const int64_t free =
      static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
  const std::string detail =
      absl::StrCat(FormatBytes(free), " free in ", folder.string());
  if (free >= kWanted) return {"disk", State::kOk, detail, ""};
  return {"disk", free < (kWanted >> 6) ? State::kFail : State::kWarn, detail,
          "free some space, or put the store elsewhere with --store"};
}

Check CheckCoordinator(const std::string& address,
                       const base::ChannelSecurity& security) {
  const auto client =
      client::PlanningClient::Connect(address, security, absl::Seconds(2));
  if (absl::IsInvalidArgument(client.status())) {
    return {"coordinator", State::kFail, std::string(client.status().message()),
            "give --ca, --cert, --key and --token-file as for other verbs"};
  }
  if (!client.ok()) {
    return {"coordinator", State::kWarn,
            absl::StrCat("none answers at ", address),
            "plan starts its own; start a lasting one with "
            "\"meshwright up\""};
  }
  const auto workers = (*client)->ListWorkers();
  if (absl::IsUnauthenticated(workers.status()) ||
      absl::IsPermissionDenied(workers.status())) {
    return {"coordinator", State::kFail,
            std::string(workers.status().message()),
            "give a token of role read with --token-file"};
  }
  if (!workers.ok()) {
    return {"coordinator", State::kFail,
            std::string(workers.status().message()), "restart the coordinator"};
  }
  const auto attached =
      std::count_if(workers->workers().begin(), workers->workers().end(),
                    [](const v1::WorkerSummary& worker) {
                      return worker.state() != v1::WorkerSummary::AWAY;
                    });
  return {"coordinator", attached == 0 ? State::kWarn : State::kOk,
          absl::StrCat(address, " with ", attached, " workers"),
          attached == 0 ? "start a worker" : ""};
}

Check CheckProcessors() {
  const unsigned count = std::thread::hardware_concurrency();
  if (count >= 2) {
    return {"processors", State::kOk, absl::StrCat(count), ""};
  }
  return {"processors", State::kWarn, absl::StrCat(count),
          "two virtual devices on one processor take turns; measure where "
          "there are at least as many as devices"};
}

}  // namespace meshwright::cli
