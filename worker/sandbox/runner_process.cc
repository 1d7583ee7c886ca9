#include "worker/sandbox/runner_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/installed_file.h"
#include "base/private_folder.h"
#include "base/status_macros.h"
#include "worker/sandbox/child_process.h"
#include "worker/sandbox/environment.h"
#include "worker/sandbox/event_stream.h"
#include "worker/sandbox/memory_group.h"
#include "worker/sandbox/progress_page.h"
#include "worker/sandbox/restrictions.h"
#include "worker/timing/protocol.h"

namespace meshwright::worker::sandbox {
namespace {

using Started = v1::RunnerEvent::Started;

// More than any of the runner's own limits (worker/runner/quiet_period.h).
constexpr absl::Duration kLongestWait = absl::Minutes(20);

// A file that becomes readable when stop is requested.
class StopSignal {
 public:
  explicit StopSignal(const std::stop_token& stop)
      : callback_(stop, [this] { eventfd_write(file_.number, 1); }) {}
  int file() const { return file_.number; }

 private:
  struct EventFile {
    const int number = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ~EventFile() { close(number); }
  };
  EventFile file_;
  // Declared last: destroyed, and any call of it waited for, before the rest.
  std::stop_callback<std::function<void()>> callback_;
};

constexpr char kJobFile[] = "job";
constexpr char kFolderPrefix[] = "meshwright-run-";

std::string ScratchFolder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

// Both ends of a line to a member's runner.
struct Line {
  int own = -1;
  int childs = -1;
  ~Line() {
    CloseChilds();
    if (own >= 0) close(own);
  }
  absl::Status Open() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return absl::ErrnoToStatus(errno, "cannot make a line to the runner");
    }
    own = ends[0];
    // Clear of the child's files.
    childs = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    const int error = errno;
    close(ends[1]);
    return childs >= 0
               ? absl::OkStatus()
               : absl::ErrnoToStatus(error, "cannot make a line to the runner");
  }
  void CloseChilds() {
    if (childs >= 0) close(childs);
    childs = -1;
  }
};

// Ends the writing before the line goes.
class OpenInbox {
 public:
  OpenInbox(GangInbox* inbox, int socket) : inbox_(inbox), socket_(socket) {
    if (inbox_ != nullptr) inbox_->Open(socket);
  }
  ~OpenInbox() {
    shutdown(socket_, SHUT_RDWR);  // ends a write that blocks
    if (inbox_ != nullptr) inbox_->Close();
  }
  OpenInbox(const OpenInbox&) = delete;
  OpenInbox& operator=(const OpenInbox&) = delete;

 private:
  GangInbox* const inbox_;
  const int socket_;
};

// How one child ended.
struct Ending {
  bool finished = false;  // it said so itself; `error` may be set
  std::string error;
  bool final = false;  // trying again is no use
  bool late = false;
  std::string reason;                 // of a death
  v1::Outcome outcome = v1::CRASHED;  // of the program that a child dies in
  std::string log;                    // what the child printed last
};

class BatchRun {
 public:
  BatchRun(const v1::RunnerRequest& request, const EventFunction& on_event,
           const RunOptions& options, const timing::Protocol& protocol,
           std::string runner)
      : request_(request),
        on_event_(on_event),
        options_(options),
        protocol_(protocol),
        runner_(std::move(runner)),
        stop_(options.stop) {}

  absl::Status Run();

 private:
  absl::Status CheckKeys();
  absl::StatusOr<Ending> RunChild(const v1::RunnerRequest& rest);
  v1::RunnerEvent WithMeasures(const v1::RunnerEvent& event) const;
  void Take(const v1::RunnerEvent& event, const ChildProcess& child,
            Ending& ending);
  bool IsTriedAgain(const v1::ProfileResult& result);
  void SetDeadline(absl::Duration limit);
  bool TakesTurns();
  bool IsLastDeath(const std::string& key, v1::Outcome outcome);
  void ReadDeath(const ChildProcess& child, Ending& ending);
  static std::string Why(const Ending& ending);
  absl::Status Blame(const v1::RunnerRequest& rest, const Ending& ending);
  v1::RunnerRequest Rest() const;

  const v1::RunnerRequest& request_;
  const EventFunction& on_event_;
  const RunOptions& options_;
  const timing::Protocol protocol_;
  const std::string runner_;
  // The job file of the present child and what the children of the batch
  // compiled. Nobody else may write there: the children run what they find.
  std::unique_ptr<base::PrivateFolder> folder_;
  absl::StatusOr<std::unique_ptr<MemoryGroup>> memory_ =
      absl::UnavailableError("it was not tried");
  StopSignal stop_;

  std::set<std::string> open_;  // keys without a result
  std::set<std::string> dead_;  // keys that have their row for a death
  std::map<std::pair<std::string, v1::Outcome>, int> deaths_;
  bool ready_sent_ = false;
  bool compared_sent_ = false;
  bool one_by_one_ = false;  // compile serially in the next child
  std::string alone_;        // the only program of the next child
  // Of the present child:
  std::optional<Started> started_;
  std::set<std::string> compiling_;  // in or through the compiler, no result
  int results_ = 0;
  bool failed_ = false;  // an execution, of a program that is tried again
  const base::SteadyClock clock_;
  absl::Time deadline_;  // of clock_
  std::unique_ptr<ProgressPage> progress_;
  int64_t seen_runs_ = 0;
  int64_t seen_compiled_ = 0;
};

absl::Status BatchRun::CheckKeys() {
  for (const v1::Program& program : request_.programs()) {
    if (!open_.insert(program.key()).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "two programs of the batch have the key \"", program.key(), "\""));
    }
  }
  return absl::OkStatus();
}

absl::Status BatchRun::Run() {
  RETURN_IF_ERROR(CheckKeys());
  ASSIGN_OR_RETURN(folder_,
                   base::PrivateFolder::Make(options_.scratch_folder.empty()
                                                 ? ScratchFolder()
                                                 : options_.scratch_folder,
                                             kFolderPrefix));
  memory_ = MemoryGroup::Make(ComputeRunnerMemoryLimit(), options_.root);
  while (true) {
    const v1::RunnerRequest rest = Rest();
    ASSIGN_OR_RETURN(const Ending ending, RunChild(rest));
    const bool was_alone = !std::exchange(alone_, "").empty();
    if (ending.finished && !ending.error.empty()) {
      return ending.final ? absl::FailedPreconditionError(ending.error)
                          : absl::UnavailableError(ending.error);
    }
    if (ending.finished && open_.empty()) break;
    if (request_.has_gang()) {
      if (open_.empty()) break;
      const bool says_something =
          !ending.finished && ending.outcome != v1::TRANSIENT;
      if (request_.programs_size() == 1 && says_something) {
        RETURN_IF_ERROR(Blame(rest, ending));
      }
      return absl::UnavailableError(absl::StrCat("the runner ", Why(ending)));
    }
    if (ending.finished && (failed_ || was_alone)) continue;
    RETURN_IF_ERROR(Blame(rest, ending));
    if (open_.empty()) break;
  }
  v1::RunnerEvent done;
  done.mutable_finished();
  on_event_(done);
  return absl::OkStatus();
}

v1::RunnerRequest BatchRun::Rest() const {
  v1::RunnerRequest rest;
  *rest.mutable_device() = request_.device();
  *rest.mutable_options() = request_.options();
  if (request_.has_gang()) *rest.mutable_gang() = request_.gang();
  if (request_.has_reference()) {
    *rest.mutable_reference() = request_.reference();
  }
  if (request_.has_sequence()) {  // as a whole, but for what died
    rest = request_;
    for (v1::Program& program : *rest.mutable_programs()) {
      program.set_compile_only(dead_.contains(program.key()));
    }
    return rest;
  }
  for (const v1::Program& program : request_.programs()) {
    const bool is_left_out = !alone_.empty() && program.key() != alone_;
    if (open_.contains(program.key()) && !is_left_out) {
      *rest.add_programs() = program;
    }
  }
  return rest;
}

absl::StatusOr<Ending> BatchRun::RunChild(const v1::RunnerRequest& rest) {
  RETURN_IF_ERROR(folder_->WriteFile(kJobFile, rest.SerializeAsString()));
  std::vector<std::string> arguments = {
      runner_, folder_->path() + "/" + kJobFile, ChildProcess::kResultPath,
      "--parent", absl::StrCat(getpid())};
  const int threads = one_by_one_ ? 1 : options_.compile_threads;
  if (threads > 0) {
    arguments.insert(arguments.end(),
                     {"--compile-threads", absl::StrCat(threads)});
  }
  ASSIGN_OR_RETURN(progress_, ProgressPage::Make());
  arguments.insert(arguments.end(),
                   {"--executables", folder_->path(), "--progress",
                    absl::StrCat(ChildProcess::kSharedFile)});
  Line line;
  if (request_.has_gang()) RETURN_IF_ERROR(line.Open());
  // Declared before the child: it closes when that is dead.
  std::optional<OpenInbox> inbox;
  ASSIGN_OR_RETURN(
      const auto child,
      ChildProcess::Spawn(arguments,
                          MakeRunnerEnvironment(request_.options().xla_flags()),
                          progress_->file(), line.childs));
  line.CloseChilds();
  if (request_.has_gang()) inbox.emplace(options_.inbox, line.own);
  if (memory_.ok()) {
    const absl::Status added = (*memory_)->Add(child->pid());
    if (!added.ok()) memory_ = added;
  }
  if (options_.on_child) options_.on_child(child->pid());
  started_.reset();
  compiling_.clear();
  results_ = 0;
  failed_ = false;
  // Opening a plugin and its devices is given the compiler's time.
  SetDeadline(options_.grace + protocol_.compile_limit);
  EventParser parser;
  Ending ending;
  while (true) {
    ASSIGN_OR_RETURN(const ChildProcess::Heard heard,
                     child->Listen(deadline_, stop_.file()));
    if (heard.woken) return absl::CancelledError("the batch was stopped");
    ASSIGN_OR_RETURN(const auto events, parser.Feed(heard.results));
    for (const v1::RunnerEvent& event : events) Take(event, *child, ending);
    if (heard.late && TakesTurns()) continue;
    if (heard.late) {
      ending.late = true;
      child->Kill();
      RETURN_IF_ERROR(child->Reap().status());
      return ending;
    }
    if (heard.ended) {
      ASSIGN_OR_RETURN(ending.reason, child->Reap());
      ReadDeath(*child, ending);
      return ending;
    }
  }
}

void BatchRun::ReadDeath(const ChildProcess& child, Ending& ending) {
  ending.log = child.messages();
  const bool is_over = memory_.ok() && (*memory_)->TakeKill();
  if (child.end_signal() != SIGKILL) return;
  ending.outcome = is_over ? v1::OUT_OF_MEMORY : v1::TRANSIENT;
  ending.reason += is_over
                       ? ", at the memory limit of the runner"
                       : ", by the kernel for want of memory or by a person";
}

bool BatchRun::IsLastDeath(const std::string& key, v1::Outcome outcome) {
  return ++deaths_[{key, outcome}] >= options_.maximum_crashes;
}

// An execution that failed counts as a death does: it may be the machine's
// fault. Not in a sequence, where others read what it did not make.
bool BatchRun::IsTriedAgain(const v1::ProfileResult& result) {
  if (result.outcome() != v1::CRASHED || request_.has_sequence() ||
      request_.has_gang() || IsLastDeath(result.key(), v1::CRASHED)) {
    return false;
  }
  failed_ = true;
  return true;
}

// Signs of life until now do not count for it.
void BatchRun::SetDeadline(absl::Duration limit) {
  deadline_ = clock_.Now() + limit;
  seen_runs_ = progress_->runs();
  seen_compiled_ = progress_->compiled();
}

// Whether programs were compiled or run since the deadline was set; if so it is
// set again. Compilations that wait for each other, as for the device that they
// tune kernels on, may take the limit together.
bool BatchRun::TakesTurns() {
  if (progress_->compiled() != seen_compiled_) {
    SetDeadline(options_.grace + protocol_.compile_limit);
    return true;
  }
  if (!progress_->program().has_value() || progress_->runs() == seen_runs_) {
    return false;
  }
  SetDeadline(options_.grace + protocol_.time_limit);
  return true;
}

// The runner said what it did itself; this is what was done to it.
v1::RunnerEvent BatchRun::WithMeasures(const v1::RunnerEvent& event) const {
  v1::RunnerEvent whole = event;
  v1::RunnerEvent::Ready& ready = *whole.mutable_ready();
  *ready.add_sandbox() = MakeMeasure("memory", memory_.status());
  *ready.add_sandbox() = MakeMeasure("job files", folder_->locked());
  return whole;
}

// What the child printed up to now says more of a failure than its row.
v1::RunnerEvent WithLog(const v1::RunnerEvent& event,
                        const ChildProcess& child) {
  v1::RunnerEvent whole = event;
  if (event.result().outcome() == v1::CRASHED) {
    whole.mutable_result()->set_log(child.messages());
  }
  return whole;
}

void BatchRun::Take(const v1::RunnerEvent& event, const ChildProcess& child,
                    Ending& ending) {
  switch (event.event_case()) {
    case v1::RunnerEvent::kReady:
      if (!std::exchange(ready_sent_, true)) on_event_(WithMeasures(event));
      break;
    case v1::RunnerEvent::kStarted: {
      started_ = event.started();
      const bool compiles = started_->phase() == Started::COMPILE;
      if (compiles) {
        compiling_.insert(started_->key());
      } else {
        compiling_.clear();
      }
      SetDeadline(options_.grace +
                  (compiles ? protocol_.compile_limit : protocol_.time_limit));
      on_event_(event);
      break;
    }
    case v1::RunnerEvent::kResult:
      compiling_.erase(event.result().key());
      if (IsTriedAgain(event.result())) break;
      if (open_.erase(event.result().key()) > 0) {
        ++results_;
        on_event_(WithLog(event, child));
      }
      break;
    case v1::RunnerEvent::kCompared:
      // Where a child dies later, the next one has less to compare.
      if (!std::exchange(compared_sent_, true)) on_event_(event);
      break;
    case v1::RunnerEvent::kWaiting:
    case v1::RunnerEvent::kAtGate:  // it waits for the other members
    case v1::RunnerEvent::kGet:
      SetDeadline(kLongestWait);
      on_event_(event);
      break;
    case v1::RunnerEvent::kPut:
      on_event_(event);
      break;
    case v1::RunnerEvent::kFinished:
      ending.finished = true;
      ending.error = event.finished().error();
      ending.final = event.finished().final();
      break;
    case v1::RunnerEvent::EVENT_NOT_SET:
      break;
  }
}

std::string BatchRun::Why(const Ending& ending) {
  if (ending.late) return "gave no sign of life in time";
  return ending.reason.empty() ? "ended early" : ending.reason;
}

absl::Status BatchRun::Blame(const v1::RunnerRequest& rest,
                             const Ending& ending) {
  const std::string reason = Why(ending);
  if (!started_.has_value()) {
    return absl::UnavailableError(
        absl::StrCat("the runner, before its first program, ", reason));
  }
  const std::optional<int> timed = progress_->program();
  const bool compiles =
      !timed.has_value() && started_->phase() == Started::COMPILE;
  std::string guilty = started_->key();
  if (timed == ProgressPage::kOther) {
    guilty.clear();
  } else if (timed.has_value() && *timed < rest.programs_size()) {
    guilty = rest.programs(*timed).key();
  }
  if (!open_.contains(guilty) && compiling_.size() == 1) {
    guilty = *compiling_.begin();
  }
  if (!open_.contains(guilty) && request_.has_reference() &&
      guilty == request_.reference().key()) {
    const std::string error =
        absl::StrCat("the runner, in the reference run, ", reason);
    return ending.outcome == v1::TRANSIENT
               ? absl::UnavailableError(error)
               : absl::FailedPreconditionError(error);
  }
  if (compiles && compiling_.size() > 1 && !one_by_one_) {
    one_by_one_ = true;
    return absl::OkStatus();
  }
  one_by_one_ = false;
  if (!open_.contains(guilty)) {
    // Nobody's fault; tried again as long as every child brings something.
    if (results_ > 0) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat("the runner, between two programs, ", reason));
  }
  // A death may be the machine's fault; three are the program's. Those of gangs
  // the coordinator counts.
  if (!ending.late && !request_.has_gang() &&
      !IsLastDeath(guilty, ending.outcome)) {
    // The others of its batch may have had the memory.
    if (ending.outcome == v1::OUT_OF_MEMORY && !request_.has_sequence() &&
        deaths_[{guilty, ending.outcome}] + 1 >= options_.maximum_crashes) {
      alone_ = guilty;
    }
    return absl::OkStatus();
  }
  v1::RunnerEvent event;
  v1::ProfileResult& result = *event.mutable_result();
  result.set_key(guilty);
  if (ending.late) {
    result.set_outcome(v1::TIMED_OUT);
    result.set_reason(absl::StrCat(
        compiles ? "compiling took longer than " : "a run took longer than ",
        absl::FormatDuration(compiles ? protocol_.compile_limit
                                      : protocol_.time_limit)));
  } else {
    result.set_outcome(ending.outcome);
    result.set_reason(absl::StrCat("the runner was at it when it ", reason));
    result.set_log(ending.log);
  }
  open_.erase(guilty);
  dead_.insert(guilty);
  on_event_(event);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunBatch(const v1::RunnerRequest& request,
                      const EventFunction& on_event,
                      const RunOptions& options) {
  ASSIGN_OR_RETURN(const timing::Protocol protocol,
                   timing::ReadProtocol(request.options()));
  std::string runner = options.runner_path;
  if (runner.empty()) {
    ASSIGN_OR_RETURN(runner, FindRunner());
  }
  return BatchRun(request, on_event, options, protocol, std::move(runner))
      .Run();
}

int SweepJobFolders() {
  return base::PrivateFolder::Sweep(ScratchFolder(), kFolderPrefix);
}

absl::StatusOr<std::string> FindRunner() {
  if (const char* named = std::getenv("MESHWRIGHT_RUNNER");
      named != nullptr && *named != '\0') {
    return std::string(named);
  }
  const std::optional<std::string> runner =
      base::FindInstalled("meshwright-runner");
  if (runner.has_value() && access(runner->c_str(), X_OK) == 0) return *runner;
  return absl::NotFoundError(
      "meshwright-runner is not beside this program; set MESHWRIGHT_RUNNER to "
      "its path");
}

}  // namespace meshwright::worker::sandbox
