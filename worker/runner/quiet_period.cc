#include "worker/runner/quiet_period.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "worker/timing/quality.h"

namespace meshwright::worker::runner {
namespace {

void SayWaiting(sandbox::EventWriter& events, std::string reason) {
  v1::RunnerEvent event;
  event.mutable_waiting()->set_reason(std::move(reason));
  events.Write(event);
}

constexpr char kLocked[] = "another process times on these devices";

}  // namespace

QuietPeriod::QuietPeriod(const QuietMachine& machine, Patience& patience,
                         sandbox::EventWriter& events)
    : machine_(machine) {
  if (machine_.lock != nullptr) {
    alone_ =
        machine_.lock
            ->Exclude(machine_.lock_limit, [&] { SayWaiting(events, kLocked); })
            .ok();
  }
  if (machine_.load != nullptr) {
    const double share = machine_.load->WaitForCalm(
        timing::kBusyShare, patience.left(), [&](double now) {
          SayWaiting(
              events,
              absl::StrCat("the machine is busy: other processes use ",
                           std::lround(100 * now), " % of its processors"));
        });
    patience.NoteWait(share <= timing::kBusyShare);
  }
  if (machine_.cores != nullptr) machine_.cores->Spin();
  if (machine_.load != nullptr) machine_.load->Begin();
}

QuietPeriod::~QuietPeriod() {
  if (machine_.cores != nullptr) machine_.cores->Pause();
  if (machine_.lock != nullptr) machine_.lock->Release();
}

double QuietPeriod::OtherLoad() const {
  if (!alone_) return 1;
  return machine_.load == nullptr ? 0 : machine_.load->MeasureOtherShare();
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
