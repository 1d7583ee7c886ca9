// ProgressDisplay: one line on a terminal that follows a plan's phases.
//
//   measure [############--------] 42/81  39 cached  best 27.3 ms  2 min left
//
// Concept: RenderProgress is the whole look, a function of numbers; the display
// only rewrites the line, and keeps the last line of each finished phase. In a
// file, as of a batch job, there is nothing to rewrite: it gets a line every
// half minute, so none for a plan that is done by then.
// Threads: one at a time.
#ifndef MESHWRIGHT_CLI_TEXT_PROGRESS_H_
#define MESHWRIGHT_CLI_TEXT_PROGRESS_H_

#include <ostream>
#include <string>

#include "absl/time/time.h"
#include "base/clock.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

// `elapsed`: since the phase began.
std::string RenderProgress(const v1::PlanProgress& progress,
                           absl::Duration elapsed);

class ProgressDisplay {
 public:
  ProgressDisplay(std::ostream* out, bool terminal, const base::Clock* clock)
      : out_(out), terminal_(terminal), clock_(clock) {}
  ~ProgressDisplay() { Close(); }

  // Draws over the line of the same phase; another phase begins a new line.
  void Show(const v1::PlanProgress& progress);
  // Leaves the cursor at the start of a fresh line.
  void Close();

 private:
  std::ostream* const out_;
  const bool terminal_;
  const base::Clock* const clock_;
  std::string phase_;
  absl::Time phase_began_;
  absl::Time last_line_ = absl::InfinitePast();  // where there is no terminal
};

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_PROGRESS_H_
