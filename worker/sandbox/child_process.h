// ChildProcess: a child that writes a result stream, watched by its parent.
//
// Concept: the child's file 3 is a pipe to us, its messages (stdout, stderr)
// are another; its stdin is empty, or the file that it is given. A file that it
// shares with us is its file 4.
// It has no other file of ours.
// It has a process group of its own, so that a person's Ctrl-C reaches the
// parent alone. Errors: those of errno where a pipe, the program or poll fails.
// Ownership: the destructor kills and reaps: nothing is left running, but for
// what does not die (undead.h).
// Threads: one, the one that spawned; it must live as long as the child does
// (the child asks to die with it).
#ifndef MESHWRIGHT_WORKER_SANDBOX_CHILD_PROCESS_H_
#define MESHWRIGHT_WORKER_SANDBOX_CHILD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace meshwright::worker::sandbox {

class ChildProcess {
 public:
  // The path under which the child opens its result pipe.
  static constexpr char kResultPath[] = "/dev/fd/3";
  static constexpr int kSharedFile = 4;
  // A runner that ends takes a second at most to give large devices back.
  static constexpr absl::Duration kPatience = absl::Seconds(10);

  // `arguments[0]` is the program. `environment`: "NAME=value", all of it.
  // `shared_file`, `input`: below 0, none. kNotFound, kPermissionDenied, ...
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Spawn(
      const std::vector<std::string>& arguments,
      const std::vector<std::string>& environment, int shared_file = -1,
      int input = -1);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  struct Heard {
    std::string results;  // what came on the result pipe
    bool ended = false;   // the child is gone, or about to be
    bool woken = false;   // `wake` became readable
    bool late = false;    // nothing came before the deadline
  };
  // Waits for any of these. `deadline`: of base::SteadyClock.
  absl::StatusOr<Heard> Listen(absl::Time deadline, int wake);

  // Does not wait; AwaitEnd does.
  void Kill();
  // Waits for its end and reaps. "killed by SIGSEGV", "ended with status 1",
  // with the last line of its messages where there is one. Empty after status
  // 0. One that is not gone after `patience` is killed, and is left to undead.h
  // after as long again: kAborted.
  absl::StatusOr<std::string> Reap(absl::Duration patience = kPatience);
  // The signal that ended it, once it is reaped; 0: none.
  int end_signal() const { return end_signal_; }
  // The end of what it printed, up to 16 KiB, in ASCII.
  const std::string& messages() const { return messages_kept_; }

  pid_t pid() const { return pid_; }

 private:
  ChildProcess() = default;
  void ReadMessages();
  // False: it is there after `patience`.
  bool AwaitEnd(absl::Duration patience, int* status);

  pid_t pid_ = 0;
  bool reaped_ = false;
  int end_signal_ = 0;
  int results_ = -1;
  int messages_ = -1;
  std::string messages_kept_;
};

}  // namespace meshwright::worker::sandbox

#endif  // MESHWRIGHT_WORKER_SANDBOX_CHILD_PROCESS_H_
