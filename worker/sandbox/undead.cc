#include "worker/sandbox/undead.h"

#include <sys/wait.h>

#include <cerrno>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/mutex.h"

namespace meshwright::worker::sandbox {
namespace {

struct UndeadChildren {
  base::Mutex mutex;
  std::set<pid_t> pids ABSL_GUARDED_BY(mutex);
};

UndeadChildren& Undead() {
  static UndeadChildren children;
  return children;
}

bool IsGone(pid_t pid) {
  int status = 0;
  const pid_t reaped = waitpid(pid, &status, WNOHANG);
  return reaped == pid || (reaped < 0 && errno == ECHILD);
}

}  // namespace

void AddUndead(pid_t pid) {
  UndeadChildren& children = Undead();
  base::MutexLock lock(&children.mutex);
  children.pids.insert(pid);
}

std::string DescribeUndead() {
  UndeadChildren& children = Undead();
  base::MutexLock lock(&children.mutex);
  std::erase_if(children.pids, IsGone);
  if (children.pids.empty()) return "";
  return absl::StrCat(
      "a runner was killed and does not die (process ",
      absl::StrJoin(children.pids, ", "),
      "); it may hold the devices, so look at their driver, or restart the "
      "machine");
}

}  // namespace meshwright::worker::sandbox
