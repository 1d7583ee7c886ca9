// A coordinator's process under the same load again and again: what it grows.
//
//   build/release/bin/soak_bench --seconds N [--postgres]
//
// The first third of the time is warm-up. Load rests before and after the rest
// of it, when the process's files and threads are counted; in between, its
// memory is sampled. The store is a SQLite file under $TMPDIR, removed at the
// end, or a PostgreSQL of its own. Exit status: 1 if the process grows or gives
// a wrong answer, with one sentence; 77 where PostgreSQL is missing.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/open_files.h"
#include "base/status_macros.h"
#include "coordinator/security/role.h"
#include "coordinator/security/token.h"
#include "coordinator/security/token_file.h"
#include "profiledb/postgres/testing/postgres_server.h"
#include "tests/bench/figure.h"
#include "tests/bench/growth.h"
#include "tests/integration/process.h"
#include "tests/integration/soak_load.h"

namespace meshwright {
namespace {

using integration::Process;
using integration::SoakLoad;
using integration::SoakTally;

constexpr int kSkipped = 77;
constexpr absl::Duration kSampleEvery = absl::Milliseconds(250);
constexpr absl::Duration kTurn = absl::Seconds(1);
constexpr int kTurnsOfWorkers = 3;
constexpr int kTurnsOfGarbage = 5;
constexpr absl::Duration kRest = absl::Seconds(4);
constexpr size_t kLogBytes = 3000;

struct Flags {
  double seconds = 0;
  bool postgres = false;
};

absl::StatusOr<std::string> AddToken(const std::string& path,
                                     security::Role role) {
  ASSIGN_OR_RETURN(security::NewToken made, security::MakeToken());
  made.token.name = security::ToString(role);
  made.token.roles = {role};
  made.token.created = base::SystemClock().Now();
  RETURN_IF_ERROR(security::ChangeTokenFile(
      path, [&](std::vector<security::Token>& tokens) {
        tokens.push_back(made.token);
        return absl::OkStatus();
      }));
  return made.text;
}

absl::StatusOr<SoakLoad::Tokens> MakeTokens(const std::string& path) {
  SoakLoad::Tokens tokens;
  ASSIGN_OR_RETURN(tokens.submit, AddToken(path, security::Role::kSubmit));
  ASSIGN_OR_RETURN(tokens.work, AddToken(path, security::Role::kWork));
  ASSIGN_OR_RETURN(tokens.admin, AddToken(path, security::Role::kAdmin));
  ASSIGN_OR_RETURN(const security::NewToken wrong, security::MakeToken());
  tokens.wrong = wrong.text;
  return tokens;
}

// Samples a process until it goes away itself.
class Sampler {
 public:
  explicit Sampler(pid_t process)
      : process_(process), thread_([this] { Run(); }) {}
  ~Sampler() {
    {
      base::MutexLock lock(&mutex_);
      is_over_ = true;
    }
    thread_.join();
  }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  std::vector<ProcessSample> Take() {
    base::MutexLock lock(&mutex_);
    return std::exchange(samples_, {});
  }

 private:
  void Run() {
    const absl::Time begin = absl::Now();
    base::MutexLock lock(&mutex_);
    while (!mutex_.AwaitWithTimeout(absl::Condition(&is_over_), kSampleEvery)) {
      auto sample = ReadProcess(process_);
      if (!sample.ok()) return;
      sample->seconds = absl::ToDoubleSeconds(absl::Now() - begin);
      samples_.push_back(*sample);
    }
  }

  const pid_t process_;
  base::Mutex mutex_;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<ProcessSample> samples_ ABSL_GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses the rest
};

class Soak {
 public:
  Soak(const Flags& flags, std::string folder)
      : flags_(flags), folder_(std::move(folder)) {}

  // kNotFound where PostgreSQL is missing.
  absl::Status Start() {
    std::string store = folder_ + "/store";
    if (flags_.postgres) {
      ASSIGN_OR_RETURN(server_, postgres::PostgresServer::Start({}));
      store = server_->NewStoreUrl();
    }
    const std::string token_file = folder_ + "/tokens.toml";
    ASSIGN_OR_RETURN(const SoakLoad::Tokens tokens, MakeTokens(token_file));
    coordinator_ = std::make_unique<Process>(std::vector<std::string>{
        "meshwright-coordinator", "--json", "--listen", "127.0.0.1:0",
        "--store", store, "--tokens", token_file});
    const auto said =
        nlohmann::json::parse(coordinator_->ReadLine(), nullptr, false);
    if (!said.is_object()) {
      return absl::InternalError("the coordinator did not start");
    }
    ASSIGN_OR_RETURN(load_, SoakLoad::Start(said.value("address", ""), tokens));
    return absl::OkStatus();
  }

  absl::StatusOr<Growth> Run() {
    const absl::Duration whole = absl::Seconds(flags_.seconds);
    RETURN_IF_ERROR(Load(whole / 3));
    ASSIGN_OR_RETURN(const ProcessSample before, Rest());
    Growth growth;
    {
      Sampler sampler(coordinator_->pid());
      RETURN_IF_ERROR(Load(whole - whole / 3));
      growth = FitGrowth(sampler.Take());
    }
    growth.before = before;
    ASSIGN_OR_RETURN(growth.after, Rest());
    return growth;
  }

  absl::Status Stop() {
    load_.reset();
    coordinator_->Signal(SIGTERM);
    const int status = coordinator_->Wait();
    if (status == 0) return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat("the coordinator ended with status ", status));
  }

  SoakTally tally() const { return load_->tally(); }
  // What the coordinator logged last.
  std::string EndOfLog() {
    if (coordinator_ == nullptr) return "";
    load_.reset();
    coordinator_->Signal(SIGKILL);
    coordinator_->Wait();
    std::string log = coordinator_->Errors();
    return log.substr(log.size() - std::min(log.size(), kLogBytes));
  }

 private:
  absl::Status Load(absl::Duration time) {
    const absl::Time end = absl::Now() + time;
    load_->Resume();
    for (int turn = 1; absl::Now() < end && load_->fault().ok(); ++turn) {
      absl::SleepFor(std::min(kTurn, end - absl::Now()));
      if (turn % kTurnsOfWorkers == 0) load_->ReplaceWorkers();
      if (turn % kTurnsOfGarbage == 0) load_->CollectGarbage();
    }
    load_->Pause();
    return load_->fault();
  }

  // The fewest files and threads while nobody calls: what a call leaves behind
  // for a moment does not count.
  absl::StatusOr<ProcessSample> Rest() {
    load_->CollectGarbage();
    ASSIGN_OR_RETURN(ProcessSample fewest, ReadProcess(coordinator_->pid()));
    for (absl::Time end = absl::Now() + kRest; absl::Now() < end;) {
      absl::SleepFor(kSampleEvery);
      ASSIGN_OR_RETURN(const ProcessSample it,
                       ReadProcess(coordinator_->pid()));
      fewest.descriptors = std::min(fewest.descriptors, it.descriptors);
      fewest.threads = std::min(fewest.threads, it.threads);
    }
    return fewest;
  }

  const Flags flags_;
  const std::string folder_;
  std::unique_ptr<postgres::PostgresServer> server_;
  std::unique_ptr<Process> coordinator_;
  std::unique_ptr<SoakLoad> load_;
};

void PrintTally(const SoakTally& tally) {
  std::printf(
      "%d plans ended (%d done, %d cancelled), %d watches left, %d uploads, %d "
      "reads, %d hostile calls, %d workers came; %d plans and %d rows "
      "removed\n",
      static_cast<int>(tally.plans), static_cast<int>(tally.done),
      static_cast<int>(tally.cancelled), static_cast<int>(tally.left_watches),
      static_cast<int>(tally.uploads), static_cast<int>(tally.reads),
      static_cast<int>(tally.hostile), static_cast<int>(tally.workers),
      static_cast<int>(tally.plans_removed),
      static_cast<int>(tally.rows_removed));
}

void PrintGrowth(const Growth& growth, const Flags& flags,
                 const SoakTally& tally) {
  const char* const store = flags.postgres ? "PostgreSQL" : "SQLite";
  PrintFigure(
      absl::StrFormat("a coordinator on %s under load for %.0f s, after "
                      "warm-up: growth of resident memory (a median slope)",
                      store, growth.seconds),
      absl::StrFormat("≤ %.0f MiB an hour", AllowedAnHour(growth.seconds)),
      absl::StrFormat("%.1f MiB an hour, at %.0f MiB", growth.mib_an_hour,
                      growth.resident_mib));
  PrintFigure(
      absl::StrFormat("its open files and threads before and after %d plans, "
                      "%d uploads, %d hostile calls",
                      tally.plans, tally.uploads, tally.hostile),
      "as many",
      absl::StrFormat("%d and %d; %d and %d", growth.before.descriptors,
                      growth.after.descriptors, growth.before.threads,
                      growth.after.threads));
}

int Fail(const std::string& sentence) {
  std::fprintf(stderr, "soak_bench: %s\n", sentence.c_str());
  return 1;
}

int RunSoak(const Flags& flags, const std::string& folder) {
  Soak soak(flags, folder);
  const absl::Status started = soak.Start();
  if (absl::IsNotFound(started) && flags.postgres) {
    std::printf("skipped: %s\n", std::string(started.message()).c_str());
    return kSkipped;
  }
  if (!started.ok()) {
    return Fail(absl::StrCat(started.ToString(), "\n", soak.EndOfLog()));
  }
  const absl::StatusOr<Growth> growth = soak.Run();
  if (!growth.ok()) {
    return Fail(absl::StrCat(growth.status().message(), "\n", soak.EndOfLog()));
  }
  const SoakTally tally = soak.tally();
  PrintTally(tally);
  PrintGrowth(*growth, flags, tally);
  if (tally.done == 0) return Fail("no plan was made; give it more seconds");
  const absl::Status stopped = soak.Stop();
  if (!stopped.ok()) return Fail(std::string(stopped.message()));
  const std::string grew = FindGrowth(*growth);
  if (!grew.empty()) return Fail("the coordinator grows: " + grew);
  return 0;
}

}  // namespace
}  // namespace meshwright

int main(int argc, char** argv) {
  using namespace meshwright;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  base::RaiseOpenFiles(16384);
  Flags flags;
  CLI::App app("What a coordinator's process grows under load.");
  app.add_option("--seconds", flags.seconds, "how long, warm-up included")
      ->required()
      ->check(CLI::Range(20.0, 1e6));
  app.add_flag("--postgres", flags.postgres, "over PostgreSQL, not SQLite");
  CLI11_PARSE(app, argc, argv);
  const auto folder = std::filesystem::temp_directory_path() /
                      absl::StrFormat("meshwright_soak_%d", getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const int status = RunSoak(flags, folder);
  std::filesystem::remove_all(folder);
  return status;
}
