#include "worker/sandbox/runner_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "worker/pjrt/testing/modules.h"

namespace meshwright::worker::sandbox {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Started = v1::RunnerEvent::Started;

v1::Program Program(const std::string& key, const hlo::HloModuleProto& module,
                    int inputs, int partitions = 1) {
  v1::Program program;
  program.set_key(key);
  program.set_hlo_module(module.SerializeAsString());
  program.set_num_partitions(partitions);
  for (int i = 0; i < inputs; ++i) program.add_inputs()->set_seed(i);
  return program;
}

v1::Program Endless(const std::string& key) {
  v1::Program program = Program(key, pjrt::EndlessModule(), 1);
  program.mutable_inputs(0)->set_kind(v1::InputSpec::CONSTANT);
  program.mutable_inputs(0)->set_value(1);
  return program;
}

v1::RunnerRequest Request(std::vector<v1::Program> programs) {
  v1::RunnerRequest request;
  request.mutable_device()->set_platform("cpu");
  request.mutable_device()->set_device_count(2);
  request.mutable_options()->set_maximum_samples(12);
  request.mutable_options()->set_minimum_time_ns(1);
  for (v1::Program& program : programs) {
    *request.add_programs() = std::move(program);
  }
  return request;
}

struct Heard {
  absl::Status status;
  std::map<std::string, v1::ProfileResult> results;
  int result_count = 0;
  int children = 0;
  int last_pid = 0;
  v1::RunnerEvent::Ready ready;
  bool finished = false;
};

// `act` sees every event and the present child's process id.
Heard Measure(
    const v1::RunnerRequest& request,
    const std::function<void(const v1::RunnerEvent&, int pid)>& act = {},
    RunOptions options = {}) {
  Heard heard;
  options.scratch_folder = options.scratch_folder.empty()
                               ? ::testing::TempDir()
                               : options.scratch_folder;
  options.on_child = [&](int pid) {
    heard.last_pid = pid;
    ++heard.children;
  };
  heard.status = RunBatch(
      request,
      [&](const v1::RunnerEvent& event) {
        if (event.has_ready()) heard.ready = event.ready();
        if (event.has_finished()) heard.finished = true;
        if (event.has_result()) {
          heard.results[event.result().key()] = event.result();
          ++heard.result_count;
        }
        if (act) act(event, heard.last_pid);
      },
      options);
  return heard;
}

bool Measures(const v1::RunnerEvent& event, const std::string& key) {
  return event.has_started() && event.started().key() == key &&
         event.started().phase() == Started::MEASURE;
}

void Call(v1::Sequence& sequence, int program, int input, int output) {
  v1::Sequence::Call& call = *sequence.add_calls();
  call.set_program(program);
  call.add_inputs(input);
  call.add_outputs(output);
}

void Give(v1::Sequence& sequence, int slot, double value) {
  v1::Sequence::Value& it = *sequence.add_values();
  it.set_slot(slot);
  it.mutable_input()->set_kind(v1::InputSpec::CONSTANT);
  it.mutable_input()->set_value(value);
}

// "first" ends, as it is given 0, and "beside" reads what it makes; "victim" is
// given 1 and never ends, and "after" waits for it.
v1::RunnerRequest WithAVictim() {
  v1::RunnerRequest request =
      Request({Endless("first"), Endless("victim"), Endless("after"),
               Endless("beside"), Endless("reference")});
  v1::Sequence& sequence = *request.mutable_sequence();
  Give(sequence, 0, 0);
  Give(sequence, 1, 1);
  Call(sequence, 0, 0, 2);
  Call(sequence, 1, 1, 3);
  Call(sequence, 2, 3, 4);
  Call(sequence, 3, 2, 5);
  v1::Sequence& reference = *request.mutable_reference_sequence();
  Give(reference, 0, 0);
  Call(reference, 4, 0, 1);
  for (const int slot : {2, 4, 5}) {
    sequence.add_results(slot);
    reference.add_results(1);
  }
  return request;
}

TEST(RunnerProcessTest, ADeathInASequenceCostsWhatReadsOfIt) {
  std::vector<double> differences;
  const Heard heard =
      Measure(WithAVictim(), [&](const v1::RunnerEvent& event, int pid) {
        if (Measures(event, "victim")) kill(pid, SIGABRT);
        if (!event.has_compared()) return;
        const auto& all = event.compared().relative_differences();
        differences.assign(all.begin(), all.end());
      });
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_EQ(heard.children, 4);  // three died in the victim
  EXPECT_EQ(heard.result_count, 5);
  EXPECT_EQ(heard.results.at("victim").outcome(), v1::CRASHED);
  EXPECT_EQ(heard.results.at("after").outcome(), v1::CRASHED);
  EXPECT_THAT(heard.results.at("after").reason(),
              HasSubstr("reads what another program makes"));
  for (const char* key : {"first", "beside", "reference"}) {
    EXPECT_EQ(heard.results.at(key).outcome(), v1::MEASURED)
        << key << ": " << heard.results.at(key).reason();
  }
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_EQ(differences[0], 0);
  EXPECT_TRUE(std::isnan(differences[1]));
  EXPECT_EQ(differences[2], 0);
}

TEST(RunnerProcessTest, WhatIsTimedOnlyStandsBesideASequence) {
  v1::RunnerRequest request = WithAVictim();
  request.mutable_sequence()->mutable_values(1)->mutable_input()->set_value(0);
  v1::Program& companion = *request.add_programs();
  companion = Program("companion", pjrt::IncrementModule(8), 2);
  companion.set_timed_only(true);
  const Heard heard = Measure(request);
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_EQ(heard.results.at("companion").outcome(), v1::MEASURED);
  EXPECT_GT(heard.results.at("companion").measurement().minimum_ns(), 0);
  EXPECT_EQ(heard.results.at("after").outcome(), v1::MEASURED);
}

TEST(RunnerProcessTest, NoProgramsDescribeTheDevices) {
  const Heard heard = Measure(Request({}));
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_EQ(heard.ready.platform_name(), "cpu");
  EXPECT_EQ(heard.ready.device_count(), 2);
  EXPECT_TRUE(heard.finished);
}

TEST(RunnerProcessTest, FlagsOfTheRequestReachTheCompilerAndOthersDoNot) {
  setenv("XLA_FLAGS", "--xla_no_such_flag=1", 1);
  v1::RunnerRequest request =
      Request({Program("tiny", pjrt::IncrementModule(9), 2)});
  const Heard heard = Measure(request);
  EXPECT_TRUE(heard.status.ok()) << heard.status;
  request.mutable_options()->set_xla_flags("--xla_no_such_flag=1");
  // XLA ends a process whose flags it does not know.
  EXPECT_FALSE(Measure(request).status.ok());
  unsetenv("XLA_FLAGS");
}

TEST(RunnerProcessTest, EveryProgramGetsItsOutcome) {
  v1::Program nan = Program("nan", pjrt::LogModule(64), 1);
  nan.mutable_inputs(0)->set_kind(v1::InputSpec::CONSTANT);
  nan.mutable_inputs(0)->set_value(-1);
  v1::Program split =
      Program("split",
              pjrt::MatmulModule(64, 64, 64, pjrt::Tiled({1, 2}),
                                 pjrt::Tiled({2, 1}), pjrt::Replicated()),
              2, 2);
  v1::Program compiled = split;
  compiled.set_key("compiled");
  compiled.set_compile_only(true);
  const Heard heard =
      Measure(Request({Program("state", pjrt::IncrementModule(1000), 2), nan,
                       Program("refused", pjrt::RefusedModule(), 2), split,
                       compiled, Program("unfed", pjrt::LogModule(8), 0)}));
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_EQ(heard.children, 3) << "what failed is tried three times";
  EXPECT_EQ(heard.result_count, 6);
  auto results = heard.results;
  EXPECT_EQ(results["nan"].outcome(), v1::CRASHED);
  EXPECT_EQ(results["nan"].reason(), "NaN in output 0");
  EXPECT_EQ(results["refused"].outcome(), v1::COMPILE_FAILED);
  EXPECT_FALSE(results["refused"].reason().empty());
  EXPECT_EQ(results["unfed"].outcome(), v1::COMPILE_FAILED);

  const v1::Measurement& state = results["state"].measurement();
  ASSERT_EQ(results["state"].outcome(), v1::MEASURED)
      << results["state"].reason();
  EXPECT_GT(state.minimum_ns(), 0);
  EXPECT_GE(state.median_ns(), state.minimum_ns());
  EXPECT_EQ(state.samples_ns_size() + state.dropped_samples(), 12);
  EXPECT_EQ(state.passes(), 12);
  EXPECT_EQ(state.compute_ns(), state.time_ns());
  EXPECT_EQ(state.memory().alias_bytes(), 4000);
  // The plugin allocates with it too.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_THAT(state.device_state(), HasSubstr("allocator tcmalloc"));
#endif

  for (const char* key : {"split", "compiled"}) {
    const v1::Measurement& measurement = results[key].measurement();
    EXPECT_EQ(results[key].outcome(), v1::MEASURED);
    ASSERT_EQ(measurement.collectives_size(), 1);
    EXPECT_EQ(measurement.collectives(0).bytes(), 64 * 64 * 4);
    EXPECT_GT(measurement.memory().peak_bytes(), 0);
  }
  const v1::Measurement& timed = results["split"].measurement();
  EXPECT_EQ(timed.compute_ns() + timed.communication_ns(), timed.time_ns());
  EXPECT_EQ(results["compiled"].measurement().minimum_ns(), 0);
}

TEST(RunnerProcessTest, OutputsAreComparedWithTheReference) {
  const auto split =
      pjrt::MatmulModule(33, 64, 32, pjrt::Tiled({1, 2}), pjrt::Tiled({2, 1}),
                         pjrt::Tiled({2, 1}));
  const auto whole = pjrt::MatmulModule(33, 64, 32, {}, {}, {});
  v1::Program other = Program("other", whole, 2);
  other.mutable_inputs(1)->set_seed(99);
  v1::RunnerRequest request = Request({Program("split", split, 2, 2), other});
  *request.mutable_reference() = Program("reference", whole, 2);
  const Heard heard = Measure(request);
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_LT(heard.results.at("split").max_relative_difference(), 1e-5);
  EXPECT_EQ(heard.results.at("split").output_relative_differences_size(), 1);
  EXPECT_GT(heard.results.at("split").measurement().minimum_ns(), 0);
  EXPECT_GT(heard.results.at("other").max_relative_difference(), 0.1);
}

TEST(RunnerProcessTest, AKilledChildCostsOneProgram) {
  const Heard heard =
      Measure(Request({Program("before", pjrt::IncrementModule(9), 2),
                       Endless("victim"),
                       Program("after", pjrt::IncrementModule(8), 2)}),
              [](const v1::RunnerEvent& event, int pid) {
                if (Measures(event, "victim")) kill(pid, SIGABRT);
              });
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_EQ(heard.children, 4);  // three died in the victim
  EXPECT_EQ(heard.result_count, 3);
  EXPECT_EQ(heard.results.at("victim").outcome(), v1::CRASHED);
  EXPECT_THAT(heard.results.at("victim").reason(), HasSubstr("SIGABRT"));
  EXPECT_EQ(heard.results.at("before").outcome(), v1::MEASURED);
  EXPECT_EQ(heard.results.at("after").outcome(), v1::MEASURED);
}

// By the kernel for want of memory, or by an administrator.
TEST(RunnerProcessTest, AKillThatNothingExplainsIsNoCrash) {
  const Heard heard =
      Measure(Request({Endless("victim"),
                       Program("after", pjrt::IncrementModule(8), 2)}),
              [](const v1::RunnerEvent& event, int pid) {
                if (Measures(event, "victim")) kill(pid, SIGKILL);
              });
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_EQ(heard.children, 4);
  EXPECT_EQ(heard.results.at("victim").outcome(), v1::TRANSIENT);
  EXPECT_THAT(heard.results.at("victim").reason(), HasSubstr("SIGKILL"));
  EXPECT_EQ(heard.results.at("after").outcome(), v1::MEASURED);
}

// A memory group of plain files, as in memory_group_test.cc.
class MemoryLimitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(root_ / "proc/self");
    fs::create_directories(unit_);
    Write(root_ / "proc/self/cgroup", "0::/unit\n");
    Write(root_ / "sys/fs/cgroup/cgroup.controllers", "memory\n");
    Write(unit_ / "cgroup.controllers", "memory\n");
    Write(unit_ / "cgroup.subtree_control", "memory\n");
    Write(unit_ / "cgroup.procs", absl::StrCat(getpid(), "\n"));
    if (geteuid() == 0 &&
        setxattr(unit_.c_str(), "user.delegate", "1", 1, 0) != 0) {
      GTEST_SKIP() << "no extended attributes in TMPDIR";
    }
    options_.root = root_;
  }
  void TearDown() override { fs::remove_all(root_); }

  static void Write(const fs::path& path, const std::string& content) {
    ASSERT_TRUE(base::WriteFile(path, content).ok());
  }
  // As the kernel does where the limit is met.
  void KillAtTheLimit(int pid) {
    if (!killed_.insert(pid).second) return;
    for (const auto& it : fs::directory_iterator(unit_)) {
      if (!it.is_directory()) continue;
      Write(it.path() / "memory.events",
            absl::StrCat("oom ", killed_.size(), "\noom_kill ", killed_.size(),
                         "\n"));
    }
    kill(pid, SIGKILL);
  }

  const fs::path root_ = ::testing::TempDir() + "/runner_memory_test";
  const fs::path unit_ = root_ / "sys/fs/cgroup/unit";
  RunOptions options_;
  std::set<int> killed_;
};

TEST_F(MemoryLimitTest, AKillThereIsOutOfMemory) {
  const Heard heard = Measure(
      Request(
          {Endless("victim"), Program("after", pjrt::IncrementModule(8), 2)}),
      [&](const v1::RunnerEvent& event, int pid) {
        if (Measures(event, "victim")) KillAtTheLimit(pid);
      },
      options_);
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_EQ(killed_.size(), 3u);
  EXPECT_EQ(heard.results.at("victim").outcome(), v1::OUT_OF_MEMORY);
  EXPECT_THAT(heard.results.at("victim").reason(), HasSubstr("memory limit"));
  EXPECT_EQ(heard.results.at("after").outcome(), v1::MEASURED);
}

TEST_F(MemoryLimitTest, WhatRunsAloneIsNotBlamedForTheMemoryOfOthers) {
  // Making its inputs takes long enough to be killed in.
  v1::Program innocent = Program("innocent", pjrt::LogModule(1 << 24), 1);
  innocent.mutable_inputs(0)->set_kind(v1::InputSpec::POSITIVE);
  std::set<int> with_other;  // children that have it, too
  const Heard heard = Measure(
      Request({Program("other", pjrt::IncrementModule(8), 2), innocent}),
      [&](const v1::RunnerEvent& event, int pid) {
        if (event.started().key() == "other") with_other.insert(pid);
        if (Measures(event, "innocent") && with_other.contains(pid)) {
          KillAtTheLimit(pid);
        }
      },
      options_);
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_EQ(killed_.size(), 2u);
  EXPECT_EQ(heard.children, 4);
  EXPECT_EQ(heard.results.at("innocent").outcome(), v1::MEASURED);
  EXPECT_EQ(heard.results.at("other").outcome(), v1::MEASURED);
}

TEST(RunnerProcessTest, AProgramThatDiesOnceIsMeasured) {
  bool killed = false;
  const Heard heard = Measure(
      Request({Program("unlucky", pjrt::IncrementModule(9), 2),
               Program("other", pjrt::IncrementModule(8), 2)}),
      [&](const v1::RunnerEvent& event, int pid) {
        if (Measures(event, "unlucky") && !std::exchange(killed, true)) {
          kill(pid, SIGKILL);
        }
      });
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_TRUE(killed);
  EXPECT_EQ(heard.children, 2);
  EXPECT_EQ(heard.results.at("unlucky").outcome(), v1::MEASURED);
  EXPECT_EQ(heard.results.at("other").outcome(), v1::MEASURED);
}

// The children load and run what lies there.
TEST(RunnerProcessTest, NobodyElseWritesIntoTheFolderOfABatch) {
  RunOptions options;
  options.scratch_folder = ::testing::TempDir() + "/one_batch";
  fs::create_directory(options.scratch_folder);
  std::set<fs::perms> seen;
  const Heard heard = Measure(
      Request({Program("tiny", pjrt::IncrementModule(9), 2)}),
      [&](const v1::RunnerEvent&, int) {
        for (const auto& it : fs::directory_iterator(options.scratch_folder)) {
          seen.insert(it.status().permissions());
        }
      },
      options);
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_EQ(seen, std::set<fs::perms>({fs::perms::owner_all}));
  EXPECT_TRUE(fs::is_empty(options.scratch_folder));
}

// The job file is gone once its child has read it; the real plugin compiles
// and runs under all that holds.
TEST(RunnerProcessTest, ARunnerIsConfinedAndSaysSo) {
  std::string status;
  std::string limits;
  const Heard heard = Measure(
      Request({Program("tiny", pjrt::IncrementModule(9), 2)}),
      [&](const v1::RunnerEvent& event, int pid) {
        if (!Measures(event, "tiny")) return;
        status =
            base::ReadFile(absl::StrCat("/proc/", pid, "/status")).value_or("");
        limits =
            base::ReadFile(absl::StrCat("/proc/", pid, "/limits")).value_or("");
      });
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_EQ(heard.results.at("tiny").outcome(), v1::MEASURED);
  EXPECT_THAT(status, HasSubstr("NoNewPrivs:\t1"));
  EXPECT_THAT(status, HasSubstr("Seccomp:\t2"));
  EXPECT_THAT(limits,
              ::testing::ContainsRegex("Max core file size +0 +0 +bytes"));
  EXPECT_THAT(limits, ::testing::ContainsRegex("Max address space +unlimited"));
  std::map<std::string, bool> holds;
  for (const v1::SandboxMeasure& measure : heard.ready.sandbox()) {
    holds[measure.name()] = measure.holds();
    EXPECT_NE(measure.holds(), !measure.reason().empty()) << measure.name();
  }
  for (const char* name :
       {"privileges", "limits", "system calls", "network", "job files"}) {
    EXPECT_TRUE(holds[name]) << name;
  }
  EXPECT_TRUE(holds.contains("memory"));
}

TEST(RunnerProcessTest, AChildHasNoOtherFileOfOurs) {
  const int secret = open("/proc/self/status", O_RDONLY);  // without O_CLOEXEC
  ASSERT_GT(secret, 2);
  bool seen = true;
  const Heard heard =
      Measure(Request({Program("tiny", pjrt::IncrementModule(9), 2)}),
              [&](const v1::RunnerEvent& event, int pid) {
                if (!Measures(event, "tiny")) return;
                seen = false;
                for (const auto& file : std::filesystem::directory_iterator(
                         absl::StrCat("/proc/", pid, "/fd"))) {
                  std::error_code gone;
                  seen |= std::filesystem::read_symlink(file.path(), gone)
                              .string()
                              .ends_with(absl::StrCat(getpid(), "/status"));
                }
              });
  close(secret);
  EXPECT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_FALSE(seen);
}

TEST(RunnerProcessTest, NoEventIsWrittenBetweenTimedRuns) {
  v1::RunnerRequest request =
      Request({Program("tiny", pjrt::IncrementModule(9), 2)});
  request.mutable_options()->set_minimum_time_ns(50'000'000);
  request.mutable_options()->set_maximum_samples(60);
  int events = 0;
  const Heard heard =
      Measure(request, [&](const v1::RunnerEvent&, int) { ++events; });
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  const v1::Measurement& row = heard.results.at("tiny").measurement();
  EXPECT_GT(row.passes(), 20);
  EXPECT_GT(row.executions_per_sample(), 1);
  EXPECT_LT(events, 12);
}

TEST(RunnerProcessTest, ARowSaysWhereAndHowItWasMeasured) {
  v1::RunnerRequest request =
      Request({Program("tiny", pjrt::IncrementModule(9), 2, 2)});
  request.mutable_options()->set_version(6);
  const Heard heard = Measure(request);
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  const v1::Measurement& row = heard.results.at("tiny").measurement();
  EXPECT_NE(row.quality(), v1::QUALITY_UNSPECIFIED);
  EXPECT_NE(row.device_id(), "");
  EXPECT_EQ(row.protocol_version(), 6);
  ASSERT_EQ(row.anchors_size(), 2);
  EXPECT_EQ(row.anchors(0).name(), "products");
  EXPECT_GT(row.anchors(0).minimum_ns(), 0);
  EXPECT_EQ(row.anchors(1).name(), "launch");
  EXPECT_GT(row.launch_ns(), 0);
}

// Which program the kill hits is chance; that each has one row, and no more
// than one pays, is not.
TEST(RunnerProcessTest, AKilledParallelCompileCostsAtMostOneProgram) {
  std::vector<v1::Program> programs;
  for (int i = 0; i < 6; ++i) {
    programs.push_back(
        Program(std::string(1, 'a' + i), pjrt::IncrementModule(8 + i), 2));
  }
  RunOptions options;
  options.compile_threads = 2;
  bool killed = false;
  const Heard heard = Measure(
      Request(programs),
      [&](const v1::RunnerEvent& event, int pid) {
        if (event.started().key() == "b" && !std::exchange(killed, true)) {
          kill(pid, SIGKILL);
        }
      },
      options);
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_EQ(heard.result_count, 6);
  int crashed = 0;
  for (const auto& [key, result] : heard.results) {
    crashed += result.outcome() == v1::CRASHED ? 1 : 0;
  }
  EXPECT_LE(crashed, 1);
}

TEST(RunnerProcessTest, AHangingProgramTimesOut) {
  v1::RunnerRequest request = Request(
      {Endless("hangs"), Program("after", pjrt::IncrementModule(8), 2)});
  request.mutable_options()->set_program_time_limit_ns(2'000'000'000);
  RunOptions options;
  options.grace = absl::Seconds(1);
  const Heard heard = Measure(request, {}, options);
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_EQ(heard.results.at("hangs").outcome(), v1::TIMED_OUT);
  EXPECT_EQ(heard.results.at("hangs").reason(), "a run took longer than 2s");
  EXPECT_EQ(heard.results.at("after").outcome(), v1::MEASURED);
}

TEST(RunnerProcessTest, AStopLeavesNothingRunning) {
  std::stop_source stop;
  RunOptions options;
  options.stop = stop.get_token();
  const Heard heard = Measure(
      Request({Endless("endless")}),
      [&](const v1::RunnerEvent& event, int) {
        if (Measures(event, "endless")) stop.request_stop();
      },
      options);
  EXPECT_EQ(heard.status.code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE(heard.finished);
  EXPECT_EQ(kill(heard.last_pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(RunnerProcessTest, TheChildDiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    int runner = 0;
    RunOptions options;
    options.on_child = [&](int pid) { runner = pid; };
    RunBatch(
        Request({Endless("endless")}),
        [&](const v1::RunnerEvent& event) {
          if (!Measures(event, "endless")) return;
          if (write(ends[1], &runner, sizeof(runner)) < 0) _exit(2);
          _exit(0);
        },
        options)
        .IgnoreError();
    _exit(1);
  }
  int runner = 0;
  ASSERT_EQ(read(ends[0], &runner, sizeof(runner)), sizeof(runner));
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, runner, 0));
  int status = 0;
  ASSERT_EQ(waitpid(parent, &status, 0), parent);
  if (handle >= 0) {
    pollfd file = {handle, POLLIN, 0};
    EXPECT_EQ(poll(&file, 1, 30'000), 1) << "the runner outlived its parent";
    close(handle);
  }
  close(ends[0]);
  close(ends[1]);
}

TEST(RunnerProcessTest, BadDevicesAreOneSentence) {
  v1::RunnerRequest request = Request({});
  request.mutable_device()->set_plugin_path("/nowhere/plugin.so");
  absl::Status status = Measure(request).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "there is no plugin at /nowhere/plugin.so");

  request.mutable_device()->clear_plugin_path();
  request.mutable_device()->set_device_count(0);
  status = Measure(request).status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("at least one device"));
}

TEST(RunnerProcessTest, WhatCannotStartIsSaid) {
  RunOptions options;
  options.scratch_folder = "/nowhere";
  EXPECT_THAT(std::string(Measure(Request({}), {}, options).status.message()),
              HasSubstr("/nowhere"));
  options = {};
  options.runner_path = "/nowhere/runner";
  EXPECT_EQ(Measure(Request({}), {}, options).status.code(),
            absl::StatusCode::kNotFound);
  options.runner_path = "/bin/false";
  EXPECT_EQ(Measure(Request({}), {}, options).status.code(),
            absl::StatusCode::kUnavailable);
}

TEST(RunnerProcessTest, EqualKeysAreRefused) {
  const v1::Program program = Program("twice", pjrt::LogModule(8), 1);
  EXPECT_EQ(Measure(Request({program, program})).status.code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(RunnerProcessTest, ARealTrainingStepIsMeasured) {
  hlo::HloModuleProto module;
  ASSERT_TRUE(module.ParseFromString(
      *base::ReadFile("tests/testdata/llama_tiny.hlo.pb")));
  v1::Program program = Program("llama", module, 0);
  for (const auto& shape : module.host_program_shape().parameters()) {
    v1::InputSpec& input = *program.add_inputs();
    input.set_kind(shape.element_type() == hlo::F32 ? v1::InputSpec::POSITIVE
                                                    : v1::InputSpec::INDEX);
    input.set_scale(0.05);
    input.set_bound(7);
    input.set_seed(program.inputs_size());
  }
  v1::RunnerRequest request = Request({program});
  *request.mutable_reference() = program;
  request.mutable_reference()->set_key("reference");
  const Heard heard = Measure(request);
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  const v1::ProfileResult& result = heard.results.at("llama");
  EXPECT_EQ(result.outcome(), v1::MEASURED) << result.reason();
  EXPECT_EQ(result.max_relative_difference(), 0);
  EXPECT_GT(result.measurement().memory().alias_bytes(), 0);
}

}  // namespace
}  // namespace meshwright::worker::sandbox
