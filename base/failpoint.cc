#include "base/failpoint.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace meshwright::base {
namespace {

constexpr char kVariable[] = "MESHWRIGHT_FAILPOINT";

struct FatalStep {
  std::string name;
  bool only_stops = false;
  std::atomic<int> passes_left = 0;
};

// Of the environment; null: none.
FatalStep* ReadFatalStep() {
  const char* const text = std::getenv(kVariable);
  if (text == nullptr || *text == '\0') return nullptr;
  absl::string_view words = text;
  const bool only_stops = absl::ConsumeSuffix(&words, ":stop");
  const size_t colon = words.rfind(':');
  int pass = 0;
  if (colon == absl::string_view::npos || colon == 0 ||
      !absl::SimpleAtoi(words.substr(colon + 1), &pass) || pass < 1) {
    std::fprintf(stderr,
                 "%s is '%s'; give NAME:PASS or NAME:PASS:stop, with a pass "
                 "from 1\n",
                 kVariable, text);
    _exit(2);
  }
  // Of the process; passes may come while it ends.
  auto* const step = new FatalStep;
  step->name = std::string(words.substr(0, colon));
  step->only_stops = only_stops;
  step->passes_left = pass;
  return step;
}

FatalStep* const fatal_step = ReadFatalStep();

}  // namespace

const bool failpoints_are_on = fatal_step != nullptr;

void PassFailpoint(std::string_view name) {
  if (name != fatal_step->name) return;
  if (--fatal_step->passes_left != 0) return;
  if (fatal_step->only_stops) {
    raise(SIGSTOP);  // of this thread, which goes no further; all stop with it
    return;
  }
  kill(getpid(), SIGKILL);
  while (true) pause();
}

}  // namespace meshwright::base
