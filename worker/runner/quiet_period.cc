#include "worker/runner/quiet_period.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "worker/runner/agreement.h"

namespace meshwright::worker::runner {
namespace {

void SayWaiting(sandbox::EventWriter& events, std::string reason) {
  v1::RunnerEvent event;
  event.mutable_waiting()->set_reason(std::move(reason));
  events.Write(event);
}

// Of NVML's figures of use, and between two looks at them.
constexpr absl::Duration kPeriod = absl::Seconds(1);
constexpr absl::Duration kGlance = absl::Milliseconds(100);

// Between two tries of a gang to have all its locks.
constexpr absl::Duration kGangPause = absl::Milliseconds(200);

constexpr char kLocked[] = "another process times on these devices";

}  // namespace

QuietPeriod::QuietPeriod(const QuietMachine& machine, Patience& patience,
                         sandbox::EventWriter& events)
    : machine_(machine) {
  if (machine_.lock != nullptr) alone_ = TakeLock(events);
  const bool has_processors = AwaitProcessors(patience.left(), events);
  const bool has_devices = AwaitDevices(patience.left(), events);
  patience.NoteWait(has_processors && has_devices);
  if (machine_.cores != nullptr) machine_.cores->Spin();
  Begin();
}

bool QuietPeriod::TakeLock(sandbox::EventWriter& events) {
  if (machine_.gang != nullptr) return TakeLocksOfGang(events);
  return machine_.lock
      ->Exclude(machine_.lock_limit, [&] { SayWaiting(events, kLocked); })
      .ok();
}

// Pauses are counted, so that all members give up in the same try.
bool QuietPeriod::TakeLocksOfGang(sandbox::EventWriter& events) {
  const Agreement agreement(machine_.gang);
  absl::Duration waited;
  while (true) {
    const absl::Status all =
        agreement.Agree(machine_.lock->Exclude(absl::ZeroDuration(), [] {}));
    if (all.ok()) return true;
    machine_.lock->Release();
    if (!absl::IsDeadlineExceeded(all) || waited >= machine_.lock_limit) {
      return false;
    }
    if (waited == absl::ZeroDuration()) SayWaiting(events, kLocked);
    absl::SleepFor(kGangPause);
    waited += kGangPause;
  }
}

bool QuietPeriod::AwaitProcessors(absl::Duration limit,
                                  sandbox::EventWriter& events) {
  if (machine_.load == nullptr) return true;
  const double others =
      machine_.load->WaitForCalm(machine_.busy_share, limit, [&](double now) {
        const int count = machine_.load->processors();
        SayWaiting(events,
                   absl::StrFormat("the machine is busy: other processes use "
                                   "%.1f of its %d processors",
                                   now * count, count));
      });
  return others <= machine_.busy_share;
}

// Nothing of this process runs on the devices now. Where NVML does not know
// whose their use is, it is that of others once the last period is over.
bool QuietPeriod::AwaitDevices(absl::Duration limit,
                               sandbox::EventWriter& events) {
  if (machine_.sensors == nullptr) return true;
  const base::SteadyClock clock;
  const absl::Time deadline = clock.Now() + std::max(limit, kPeriod);
  for (bool first = true;; first = false) {
    device_share_before_ =
        machine_.sensors->ReadUseByOthers(absl::Now() - kPeriod)
            .value_or(machine_.sensors->Read().utilization_percent() / 100.0);
    const bool is_calm = device_share_before_ <= timing::kBusyShare;
    if (is_calm || clock.Now() >= deadline) return is_calm;
    if (first) {
      SayWaiting(events,
                 absl::StrFormat("the devices are busy: %.0f %% of one is used",
                                 100 * device_share_before_));
    }
    absl::SleepFor(kGlance);
  }
}

QuietPeriod::~QuietPeriod() {
  if (machine_.cores != nullptr) machine_.cores->Pause();
  if (machine_.lock != nullptr) machine_.lock->Release();
}

void QuietPeriod::Begin() {
  begin_ = absl::Now();
  if (machine_.sensors != nullptr) {
    throttled_at_begin_ = devices::IsThrottled(machine_.sensors->Read());
  }
  if (machine_.heat != nullptr) heat_at_begin_ = machine_.heat->Count();
  if (machine_.load != nullptr) machine_.load->Begin();
}

timing::Surroundings QuietPeriod::LookAround() const {
  timing::Surroundings around;
  if (!alone_) {
    around.other_load = 1;
  } else if (machine_.load != nullptr) {
    around.other_load = machine_.load->MeasureOtherShare();
    around.busy_share = machine_.busy_share;
  }
  if (machine_.heat != nullptr) {
    around.throttled = machine_.heat->Count() > heat_at_begin_;
  }
  if (machine_.sensors != nullptr) {
    around.sensors = machine_.sensors->Read();
    around.throttled =
        throttled_at_begin_ || devices::IsThrottled(*around.sensors);
    const double share =
        std::max(device_share_before_,
                 machine_.sensors->ReadUseByOthers(begin_).value_or(0));
    // Whichever is busier for what may be.
    if (share / timing::kBusyShare > around.other_load / around.busy_share) {
      around.other_load = share;
      around.busy_share = timing::kBusyShare;
    }
  }
  return around;
}

CompilePeriod::CompilePeriod(const QuietMachine& machine,
                             sandbox::EventWriter& events)
    : machine_(machine) {
  if (machine_.lock == nullptr) return;
  // Without the lock it compiles all the same: that is the other's row, which
  // sees this one as load.
  machine_.lock
      ->Share(machine_.lock_limit, [&] { SayWaiting(events, kLocked); })
      .IgnoreError();
}

CompilePeriod::~CompilePeriod() {
  if (machine_.lock != nullptr) machine_.lock->Release();
}

}  // namespace meshwright::worker::runner
