// One coordinator for many: 1,000 simulated workers, 100 clients, a million
// profiles, in one process.
//
//   build/release/bin/service_bench [--profiles N] [--model FILE]
//                                   [--store postgres]
//
// The store is a SQLite file under $TMPDIR, removed at the end, or a PostgreSQL
// of its own, whose memory is not this process's. Workers are
// streams over a unix socket (tests/integration/simulated_workers.h) that
// answer at once, so what is timed is the coordinator: queue, leases, commits.
// They are of many hosts and join gangs, as those of GPUs do. Look-ups are
// calls of Profiles.LookUp, of clients with a connection each, from the first
// look-up to the resident size. They look up while results are recorded, too.
// Plans are made up, 60 programs each, but for those that are replayed:
// gpt2_4l, and the model FILE, with rows of a made-up machine. Rows of made-up
// plans have programs of a real size; those that fill the store have none.
// Resident size and threads are the whole process's, with its workers and
// clients; growth while a module is uploaded is the peak's, with the client in
// a process of its own.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mutex.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/daemon/coordinator.h"
#include "coordinator/planning/plan_pipeline.h"
#include "profiledb/open.h"
#include "profiledb/postgres/testing/postgres_server.h"
#include "profiledb/store/testing/rows.h"
#include "tests/bench/figure.h"
#include "tests/bench/made_up_program.h"
#include "tests/integration/module_upload.h"
#include "tests/integration/simulated_workers.h"

namespace meshwright {
namespace {

using client::PlanningClient;
using Clock = std::chrono::steady_clock;

constexpr int kWorkers = 1000;
constexpr int kHosts = 125;  // of them, as of GPUs with eight a host
constexpr int kClients = 100;
constexpr int kPrograms = 60;        // of a made-up plan
constexpr int kQueued = 1000;        // plans without a worker
constexpr int kOfOnePlan = 1000;     // programs, of durable results from one
constexpr int kManyPlans = 200;      // of durable results from many plans
constexpr int kLookedUp = 200;       // keys of a call, as a plan asks
constexpr int kFewLookedUp = 20;     // of a call that comes at its time
constexpr double kOffered = 20'000;  // look-ups a second
constexpr int64_t kModuleBytes = 100'000'000;

struct Flags {
  int profiles = 1'000'000;
  std::string model;
  bool postgres = false;
};

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "service_bench: %s\n", status.ToString().c_str());
  std::exit(1);
}
template <typename Value>
Value Require(absl::StatusOr<Value> value) {
  Require(value.status());
  return *std::move(value);
}

double Seconds(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double Percentile99(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t at = values.size() * 99 / 100;
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(at),
                   values.end());
  return values[at];
}

// "VmRSS:   1234 kB", of this process.
int64_t ReadStatus(const std::string& name) {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word) {
    if (word != name + ":") continue;
    int64_t figure = 0;
    file >> figure;
    return figure;
  }
  return 0;
}
double ResidentMib() { return static_cast<double>(ReadStatus("VmRSS")) / 1024; }

std::string MakeRowKey(int row) {
  return store::MakeKey(absl::StrCat("row ", row));
}

// When programs were asked for, so that whoever gets them can tell how long
// they took to come.
class Dispatches {
 public:
  void Ask(const v1::RunnerRequest& request) {
    const auto now = Clock::now();
    base::MutexLock lock(&mutex_);
    for (const v1::Program& program : request.programs()) {
      asked_[program.key()] = now;
    }
  }
  void Come(const v1::RunnerRequest& request) {
    const auto now = Clock::now();
    base::MutexLock lock(&mutex_);
    if (request.programs().empty()) return;
    const auto asked = asked_.find(request.programs(0).key());
    if (asked == asked_.end()) return;
    waits_.push_back(
        std::chrono::duration<double>(now - asked->second).count());
  }
  std::vector<double> Take() {
    base::MutexLock lock(&mutex_);
    asked_.clear();
    return std::exchange(waits_, {});
  }

 private:
  base::Mutex mutex_;
  absl::flat_hash_map<std::string, Clock::time_point> asked_
      ABSL_GUARDED_BY(mutex_);
  std::vector<double> waits_ ABSL_GUARDED_BY(mutex_);
};

// A made-up plan: a look-up, one batch, and commits of the rows as they come,
// with their programs. Its module says which programs ("made up NUMBER
// OF-PROGRAMS"). `pieces_of`: MakeUpProgram's module.
absl::StatusOr<v1::Plan> MakeUpPlan(const v1::PlanRequest& request,
                                    const std::string& pieces_of,
                                    store::ProfileStore& profiles,
                                    Dispatches& dispatches,
                                    jobs::Measurer& measurer) {
  const std::vector<std::string> words =
      absl::StrSplit(request.hlo_module(), ' ');
  int programs = 0;
  if (words.size() < 4 || !absl::SimpleAtoi(words[3], &programs)) {
    return absl::InvalidArgumentError("no made-up module");
  }
  v1::RunnerRequest batch;
  batch.mutable_device()->set_platform("cpu");
  batch.mutable_device()->set_device_count(2);
  const auto device = measurer.Describe(batch.device());
  if (!device.ok()) return device.status();
  std::vector<std::string> keys;
  absl::flat_hash_map<std::string, int> numbers;
  for (int i = 0; i < programs; ++i) {
    keys.push_back(store::MakeKey(absl::StrCat(words[2], " of ", i)));
    numbers[keys.back()] = i;
    v1::Program& program = *batch.add_programs();
    program.set_key(keys.back());
    program.set_hlo_module(MakeUpProgram(pieces_of, i));
  }
  const auto known = profiles.Lookup(keys);
  if (!known.ok()) return known.status();
  dispatches.Ask(batch);
  const absl::Status measured = measurer.MeasureTogether(
      batch,
      [&](absl::Span<const v1::ProfileResult> results) {
        std::vector<store::Entry> entries;
        for (const v1::ProfileResult& result : results) {
          const int number = numbers.at(result.key());
          entries.push_back({.result = result,
                             .origin = store::MakeOrigin(result, ""),
                             .program = batch.programs(number).hlo_module()});
        }
        return profiles.Record(entries);
      },
      nullptr);
  if (!measured.ok()) return measured;
  return v1::Plan();
}

class Bench {
 public:
  Bench(Flags flags, std::string folder)
      : flags_(std::move(flags)), folder_(std::move(folder)) {}

  void Run() {
    MakeStore();
    Fill();
    const double idle = ResidentMib();
    Restart();
    PrintFigure("threads of the process with 1,000 plans that wait", "≤ 64",
                absl::StrCat(ReadStatus("Threads")));
    clients_ = ConnectClients();
    MeasureLookUps();
    {
      const integration::SimulatedWorkers workers(
          coordinator_->address(), {.count = kWorkers, .hosts = kHosts},
          [this](const v1::RunnerRequest& batch) { dispatches_.Come(batch); });
      EndQueued();
      MeasureResults();
      Learn("gpt2_4l", "tests/testdata/gpt2_4l.hlo.pb");
      if (!flags_.model.empty()) Learn("model", flags_.model);
      if (workers.attached() != kWorkers) {
        Require(absl::InternalError("a worker was lost"));
      }
      PrintFigure(
          absl::StrFormat("resident with %d profiles, %d workers and %d "
                          "clients in the process",
                          flags_.profiles, kWorkers, kClients),
          "≤ 1024 MiB", absl::StrFormat("%.0f MiB", ResidentMib()));
      std::printf("resident after filling the store: %.0f MiB\n", idle);
    }
    Replay("replaying a plan of gpt2_4l, all rows known, no worker", "≤ 2 s",
           "gpt2_4l", "tests/testdata/gpt2_4l.hlo.pb");
    if (!flags_.model.empty()) {
      Replay("a plan of " +
                 std::filesystem::path(flags_.model).stem().string() +
                 ", all rows known, no worker",
             "≤ 1 s", "model", flags_.model);
    }
    Stop();
  }

  void Upload() {
    MakeStore();
    Start();
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts again
    const double before = ResidentMib();
    const pid_t child = fork();
    if (child == 0) {
      const std::string address = coordinator_->address();
      execl("/proc/self/exe", "service_bench", "--upload", address.c_str(),
            flags_.model.c_str(), nullptr);
      _exit(1);
    }
    int status = 0;
    const double took = Seconds([&] { waitpid(child, &status, 0); });
    if (status != 0) Require(absl::InternalError("the upload failed"));
    const double peak = static_cast<double>(ReadStatus("VmHWM")) / 1024;
    PrintFigure("growth while a module of 100 MB is uploaded", "≤ 150 MB",
                absl::StrFormat("%.0f MB, %.1f s",
                                (peak - before) * (1 << 20) / 1e6, took));
  }

 private:
  void MakeStore() {
    store_ = folder_ + "/store";
    if (!flags_.postgres) return;
    server_ = Require(postgres::PostgresServer::Start({.is_durable = true}));
    store_ = server_->NewStoreUrl();
  }
  void Start() {
    profiles_ = Require(store::OpenProfileStore(store_));
    plans_ = Require(store::OpenPlanStore(store_));
    daemon::Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.profiles = profiles_.get();
    dependencies.plans = plans_.get();
    dependencies.shares_store = flags_.postgres;
    dependencies.listen_address = absl::StrCat("unix:", folder_, "/socket");
    dependencies.plan = [this](const v1::PlanRequest& request,
                               jobs::Measurer* measurer,
                               const jobs::ProgressFunction& progress) {
      return request.hlo_module().starts_with("made up")
                 ? MakeUpPlan(request, pieces_of_, *profiles_, dispatches_,
                              *measurer)
                 : planning::MakePlan(request, {profiles_.get(), measurer},
                                      progress);
    };
    coordinator_ = std::make_unique<daemon::Coordinator>(dependencies);
    Require(coordinator_->Start());
    Require(coordinator_->AwaitLeadership());
    client_ = Require(PlanningClient::Connect(coordinator_->address()));
  }
  void Stop() {
    clients_.clear();
    client_.reset();
    coordinator_.reset();
    plans_.reset();
    profiles_.reset();
  }

  void Fill() {
    Start();
    constexpr int kEntries = 500;
    const double took = Seconds([&] {
      for (int row = 0; row < flags_.profiles; row += kEntries) {
        std::vector<store::Entry> entries;
        for (int i = row; i < std::min(row + kEntries, flags_.profiles); ++i) {
          entries.push_back(
              {.result = store::MakeWorkersRow(absl::StrCat("row ", i), i),
               .origin = store::MakeWorkersOrigin(i)});
        }
        Require(profiles_->Record(entries));
      }
    });
    std::printf("%d profiles recorded in %.0f s, %d a commit\n",
                flags_.profiles, took, kEntries);
  }

  // With plans that wait: what a coordinator has to go through.
  void Restart() {
    for (int i = 0; i < kQueued; ++i) Submit(absl::StrCat("wait-", i), 1);
    AwaitUpdates(2);
    Stop();
    const double took = Seconds([&] {
      Start();
      Require(client_->ListWorkers());
    });
    PrintFigure(absl::StrFormat("restart until it answers: %d profiles, 1,000 "
                                "unfinished plans",
                                flags_.profiles),
                "≤ 3 s", absl::StrFormat("%.2f s", took));
    AwaitUpdates(3);
  }

  // Queued is the first of each plan; each run then ends by waiting.
  void AwaitUpdates(int64_t updates) {
    store::PlanFilter all;
    all.limit = kQueued;
    const auto is_there = [&](const v1::PlanRecord& record) {
      return record.sequence() >= updates;
    };
    while (true) {
      const auto records = Require(plans_->List(all));
      if (std::all_of(records.begin(), records.end(), is_there)) return;
      absl::SleepFor(absl::Milliseconds(50));
    }
  }

  std::vector<std::string> DrawKeys(std::mt19937& random, int count) const {
    std::vector<std::string> keys(count);
    for (std::string& key : keys) {
      key = MakeRowKey(static_cast<int>(random() % flags_.profiles));
    }
    return keys;
  }

  std::vector<std::unique_ptr<PlanningClient>> ConnectClients() const {
    std::vector<std::unique_ptr<PlanningClient>> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.push_back(
          Require(PlanningClient::Connect(coordinator_->address())));
      LookUp(*clients.back(), {MakeRowKey(0)});  // opens the connection
    }
    return clients;
  }

  // How many of them there are.
  static int64_t LookUp(PlanningClient& client,
                        const std::vector<std::string>& keys) {
    v1::LookUpRequest request;
    request.mutable_keys()->Assign(keys.begin(), keys.end());
    return Require(client.LookUpRows(request)).rows_size();
  }

  void MeasureLookUps() {
    std::atomic<int64_t> found = 0;
    // Drawn before the clock starts.
    std::vector<std::vector<std::vector<std::string>>> calls(kClients);
    for (int client = 0; client < kClients; ++client) {
      std::mt19937 random(client);
      for (int i = 0; i < 20; ++i) {
        calls[client].push_back(DrawKeys(random, kLookedUp));
      }
    }
    const double took = Seconds([&] {
      std::vector<std::jthread> clients;
      for (int client = 0; client < kClients; ++client) {
        clients.emplace_back([&, client] {
          for (const auto& keys : calls[client]) {
            found += LookUp(*clients_[client], keys);
          }
        });
      }
    });
    PrintFigure(absl::StrFormat("look-ups a second, %d clients, %d keys a "
                                "call, %d profiles",
                                kClients, kLookedUp, flags_.profiles),
                "≥ 20,000",
                absl::StrFormat("%.0f", static_cast<double>(found) / took));
    MeasureLookUpLatency();
  }

  // All clients, kOffered look-ups a second: calls come at their times,
  // whatever those before them took. So many calls of each client, or until it
  // is to stop. Returns the seconds that each took.
  std::vector<double> LookUpAtTimes(int calls, const std::stop_token& stop) {
    const std::chrono::duration<double> between(kClients * kFewLookedUp /
                                                kOffered);
    base::Mutex mutex;
    std::vector<double> waits;
    {
      std::vector<std::jthread> clients;
      const auto begin = Clock::now() + std::chrono::milliseconds(200);
      for (int client = 0; client < kClients; ++client) {
        clients.emplace_back([&, client] {
          std::mt19937 random(1000 + client);
          std::vector<double> own;
          for (int i = 0; i < calls && !stop.stop_requested(); ++i) {
            const std::vector<std::string> keys =
                DrawKeys(random, kFewLookedUp);
            const auto due =
                begin +
                std::chrono::duration_cast<Clock::duration>(
                    between * (i + static_cast<double>(client) / kClients));
            std::this_thread::sleep_until(due);
            LookUp(*clients_[client], keys);
            own.push_back(
                std::chrono::duration<double>(Clock::now() - due).count());
          }
          base::MutexLock lock(&mutex);
          waits.insert(waits.end(), own.begin(), own.end());
        });
      }
    }
    return waits;
  }

  void MeasureLookUpLatency() {
    constexpr int kCalls = 50;
    PrintFigure(
        absl::StrFormat("look-up p99, 20,000 look-ups a second of %d clients, "
                        "%d keys a call",
                        kClients, kFewLookedUp),
        "≤ 10 ms",
        absl::StrFormat("%.1f ms",
                        1e3 * Percentile99(LookUpAtTimes(kCalls, {}))));
  }

  std::string Submit(const std::string& name, int programs) {
    v1::SubmitPlanRequest request;
    request.mutable_request()->set_hlo_module(
        absl::StrCat("made up ", name, " ", programs));
    request.set_owner("bench");
    return Require(client_->SubmitPlan(request)).id();
  }

  void Await(const std::string& id) {
    v1::WatchPlanRequest watch;
    watch.set_id(id);
    v1::PlanState state = v1::PLAN_STATE_UNSPECIFIED;
    std::string reason;
    Require(client_->WatchPlan(watch,
                               [&](const v1::PlanUpdate& update) {
                                 if (update.state() !=
                                     v1::PLAN_STATE_UNSPECIFIED) {
                                   state = update.state();
                                   reason = update.reason();
                                 }
                               },
                               {}));
    if (state != v1::DONE) Require(absl::InternalError(reason));
  }

  void EndQueued() {
    store::PlanFilter all;
    all.limit = kQueued;
    for (const v1::PlanRecord& record : Require(plans_->List(all))) {
      Await(record.id());
    }
    dispatches_.Take();
  }

  // Beside look-ups of all clients.
  void MeasureResults() {
    std::stop_source stop;
    std::vector<double> waits;
    std::jthread clients([&] {
      waits = LookUpAtTimes(std::numeric_limits<int>::max(), stop.get_token());
    });
    std::vector<std::string> ids;
    const double many = Seconds([&] {
      for (int i = 0; i < kManyPlans; ++i) {
        ids.push_back(Submit(absl::StrCat("many-", i), kPrograms));
      }
      for (const std::string& id : ids) Await(id);
    });
    PrintFigure(
        absl::StrFormat("durable results a second, %d plans of %d programs, "
                        "%d workers of %d hosts, while %d clients look up "
                        "20,000 rows a second",
                        kManyPlans, kPrograms, kWorkers, kHosts, kClients),
        "≥ 500", absl::StrFormat("%.0f", kManyPlans * kPrograms / many));
    PrintFigure(
        "dispatch p99 meanwhile, from a plan's batch to a worker's", "≤ 50 ms",
        absl::StrFormat("%.1f ms", 1e3 * Percentile99(dispatches_.Take())));
    const double one = Seconds([&] { Await(Submit("one", kOfOnePlan)); });
    PrintFigure(absl::StrFormat("durable results a second, one plan of %d "
                                "programs, beside the same look-ups",
                                kOfOnePlan),
                "≥ 500", absl::StrFormat("%.0f", kOfOnePlan / one));
    stop.request_stop();
    clients.join();
    PrintFigure("look-up p99 beside durable results", "≤ 10 ms",
                absl::StrFormat("%.1f ms", 1e3 * Percentile99(waits)));
    dispatches_.Take();
  }

  v1::SubmitPlanRequest MakeRequest(const std::string& name,
                                    const std::string& path) const {
    v1::SubmitPlanRequest request;
    *request.mutable_request()->mutable_hlo_module() =
        Require(base::ReadFile(path));
    request.mutable_request()->set_model_name(name);
    request.mutable_request()->mutable_mesh()->add_shape(1);
    request.mutable_request()->mutable_mesh()->add_shape(2);
    request.set_owner("bench");
    return request;
  }

  void Learn(const std::string& name, const std::string& path) {
    Await(Require(client_->SubmitPlan(MakeRequest(name, path))).id());
  }

  void Replay(const std::string& what, const std::string& wanted,
              const std::string& name, const std::string& path) {
    const v1::SubmitPlanRequest request = MakeRequest(name, path);
    std::string id;
    const double took = Seconds([&] {
      id = Require(client_->SubmitPlan(request)).id();
      Await(id);
    });
    const v1::PlanRecord record = Require(client_->GetPlan(id));
    PrintFigure(what, wanted,
                absl::StrFormat("%.2f s, %d rows", took,
                                record.plan().programs().cached()));
  }

  const Flags flags_;
  const std::string folder_;
  std::unique_ptr<postgres::PostgresServer> server_;
  std::string store_;  // its path or URL
  base::SystemClock clock_;
  // Of which made-up programs are pieces.
  const std::string pieces_of_ = Require(base::ReadFile(kProgramModule));
  Dispatches dispatches_;
  std::unique_ptr<store::ProfileStore> profiles_;
  std::unique_ptr<store::PlanStore> plans_;
  std::unique_ptr<daemon::Coordinator> coordinator_;
  std::unique_ptr<PlanningClient> client_;
  std::vector<std::unique_ptr<PlanningClient>> clients_;  // that look up
};

// The client of Upload.
// The bytes of a real module as often as it takes: no random ones, which no
// module consists of and nothing compresses.
int UploadModule(const std::string& address, const std::string& model) {
  std::ifstream file(model, std::ios::binary);
  const std::string once{std::istreambuf_iterator<char>(file), {}};
  if (once.empty()) Require(absl::NotFoundError("cannot read " + model));
  std::string module;
  while (static_cast<int64_t>(module.size()) < kModuleBytes) module += once;
  module.resize(kModuleBytes);
  Require(integration::PutModule(address, module));
  return 0;
}

void RunAlone(const std::function<void()>& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    work();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) std::exit(1);
}

}  // namespace
}  // namespace meshwright

int main(int argc, char** argv) {
  using namespace meshwright;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  rlimit files = {};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  Flags flags;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--upload") return UploadModule(argv[i + 1], argv[i + 2]);
    if (flag == "--profiles") flags.profiles = std::atoi(argv[i + 1]);
    if (flag == "--model") flags.model = argv[i + 1];
    if (flag == "--store") {
      flags.postgres = std::string(argv[i + 1]) == "postgres";
    }
  }
  const auto folder = std::filesystem::temp_directory_path() /
                      absl::StrFormat("meshwright_service_bench_%d", getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "upload");
  // In a process of its own, whose allocator has nothing at hand.
  if (!flags.model.empty()) {
    RunAlone([&] { Bench(flags, folder / "upload").Upload(); });
  }
  RunAlone([&] { Bench(flags, folder).Run(); });
  std::filesystem::remove_all(folder);
  return 0;
}
