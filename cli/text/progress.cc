#include "cli/text/progress.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/text/format.h"
#include "cli/text/tame.h"

namespace meshwright::cli {
namespace {

constexpr absl::Duration kFileInterval = absl::Seconds(30);

}  // namespace

std::string RenderProgress(const v1::PlanProgress& progress,
                           absl::Duration elapsed) {
  constexpr int64_t kWidth = 20;
  std::string line = absl::StrFormat("%-8s", progress.phase());
  const int64_t total = progress.total();
  const int64_t done = std::clamp<int64_t>(progress.done(), 0, total);
  if (total > 0) {
    const int64_t filled = kWidth * done / total;
    absl::StrAppend(&line, "[", std::string(filled, '#'),
                    std::string(kWidth - filled, '-'), "] ", done, "/", total);
  }
  if (progress.cached() > 0) {
    absl::StrAppend(&line, "  ", progress.cached(), " cached");
  }
  if (progress.best_seconds() > 0) {
    absl::StrAppend(&line, "  best ", FormatSeconds(progress.best_seconds()));
  }
  // Cached programs took no time, so they say nothing about the rest.
  const int64_t worked = done - std::clamp<int64_t>(progress.cached(), 0, done);
  const double seconds = absl::ToDoubleSeconds(elapsed);
  if (worked > 0 && done < total && seconds >= 1) {
    absl::StrAppend(&line, "  ",
                    FormatSeconds(seconds / static_cast<double>(worked) *
                                  static_cast<double>(total - done)),
                    " left");
  }
  if (!progress.message().empty()) {
    absl::StrAppend(&line, "  ", Tame(progress.message()));
  }
  return line;
}

void ProgressDisplay::Show(const v1::PlanProgress& progress) {
  const absl::Time now = clock_->Now();
  if (progress.phase() != phase_) {
    Close();
    phase_ = progress.phase();
    phase_began_ = now;
  }
  const std::string line = RenderProgress(progress, now - phase_began_);
  if (terminal_) {
    *out_ << "\r\033[K" << line << std::flush;
  } else if (last_line_ == absl::InfinitePast()) {
    last_line_ = now;
  } else if (now - last_line_ >= kFileInterval) {
    last_line_ = now;
    *out_ << line << "\n" << std::flush;
  }
}

void ProgressDisplay::Close() {
  if (terminal_ && !phase_.empty()) *out_ << "\n" << std::flush;
  phase_.clear();
}

}  // namespace meshwright::cli
