#include "worker/devices/idle_spinner.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "worker/devices/cores.h"
#include "worker/devices/machine.h"

namespace meshwright::worker::devices {
namespace {

// To the core's other thread, and to a hypervisor, that nothing is done here.
void Rest() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether the calling thread now runs on `core` alone, and only where nothing
// else wants to.
bool BecomeIdleOn(int core) {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(core, &here);
  const sched_param parameters{};
  return pthread_setaffinity_np(pthread_self(), sizeof(here), &here) == 0 &&
         pthread_setschedparam(pthread_self(), SCHED_IDLE, &parameters) == 0;
}

// The child has none of our files: its end must not be taken for ours.
pid_t Spawn(const std::vector<std::string>& arguments) {
  std::vector<char*> values;
  for (const std::string& argument : arguments) {
    values.push_back(const_cast<char*>(argument.c_str()));
  }
  values.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (int file : {0, 1, 2}) {
    posix_spawn_file_actions_addopen(&files, file, "/dev/null", O_RDWR, 0);
  }
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, values[0], &files, nullptr, values.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  return error == 0 ? pid : 0;
}

}  // namespace

std::unique_ptr<IdleSpinner> IdleSpinner::Start(const std::string& program) {
  const std::vector<int> cores = ListOwnCores();
  if (cores.empty()) return nullptr;
  const pid_t pid = Spawn({program, kIdleSpinnerFlag, absl::StrJoin(cores, ","),
                           "--parent", absl::StrCat(getpid())});
  if (pid <= 0) return nullptr;
  // It stops itself once it could take its cores, or ends.
  int status = 0;
  if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status)) {
    return nullptr;
  }
  return std::unique_ptr<IdleSpinner>(
      new IdleSpinner(pid, static_cast<int>(cores.size())));
}

IdleSpinner::~IdleSpinner() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void IdleSpinner::Spin() { kill(pid_, SIGCONT); }
void IdleSpinner::Pause() { kill(pid_, SIGSTOP); }

int SpinOnCores(const std::string& cores, pid_t parent) {
  if (!DieWith(parent)) return 1;
  std::atomic<int> ready = 0;
  std::atomic<bool> failed = false;
  std::vector<std::jthread> threads;
  const auto turn = [&](int core) {
    if (!BecomeIdleOn(core)) {
      failed = true;
      return;
    }
    ++ready;
    while (!failed.load(std::memory_order_relaxed)) Rest();
  };
  for (const auto core : absl::StrSplit(cores, ',')) {
    int number = 0;
    if (!absl::SimpleAtoi(core, &number) || number < 0 ||
        number >= CPU_SETSIZE) {
      failed = true;
      break;
    }
    threads.emplace_back(turn, number);
  }
  while (!failed && ready < static_cast<int>(threads.size())) sched_yield();
  if (!failed) raise(SIGSTOP);
  threads.clear();  // joins them
  return 1;
}

}  // namespace meshwright::worker::devices
