// RoundRobin: which program runs next, from which buffers, and when to stop.
//
// Concept: the programs of a group take turns. A slow period of the machine
// thus hits all of them, and near-equal ones are compared fairly. A turn is
// some runs to warm up and one that is recorded. Sets of input buffers rotate
// by run. The program's own instructions and pages are warm then, as in a step
// of equal layers. Its data is not, because no step leaves it in the caches:
// the caller may empty them before a run that is recorded. A pass is one turn
// of every program that is not yet content. The order of a pass rotates and
// turns round, so that none is always the first, or behind the same one.
//
//   content = (enough samples over enough time, and the median sure)
//             or the most samples taken or the time budget spent
//             or far slower than the best after one pass (dynamic limit)
//
// A companion is content when all others are, however many samples it has. It
// shows how fast the machine was while they ran. So it ends neither before them
// nor after, when nothing else is in the caches. Together, none ends before all
// are content, so that all meet the same minutes. Else, when all are content,
// those whose times nearly tie get further passes, once. A
// program that is content and ties with none is finished at once. Nothing here
// reads a clock: the caller asks Next() and gives Execute() what runs a program
// once and says how long that took.
// Threads: one.
#ifndef MESHWRIGHT_WORKER_TIMING_ROUND_ROBIN_H_
#define MESHWRIGHT_WORKER_TIMING_ROUND_ROBIN_H_

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/timing/protocol.h"
#include "worker/timing/sample_set.h"

namespace meshwright::worker::timing {

struct Turn {
  int program = 0;
  int buffer_set = 0;    // of the first execution; the next takes the next set
  int executions = 1;    // back to back, in one sample
  bool warm_up = false;  // its time is counted, not kept
};

class RoundRobin {
 public:
  // `buffer_sets[i]`: sets of input buffers of program i, at least one.
  RoundRobin(const Protocol& protocol, std::vector<int> buffer_sets);

  // Makes a program a companion.
  void Accompany(int program) { states_[program].companion = true; }
  // Its samples are of no more executions, however short it is. One of them
  // counts as the protocol's minimum_sample, so that it gets as many as others.
  void ExecuteAtMost(int program, int executions) {
    states_[program].most_executions = executions;
  }
  // No program ends before the others.
  void EndTogether() { together_ = true; }

  // The next run; none when every program is content or abandoned.
  std::optional<Turn> Next();
  // Runs the program of the last Next() once, from a set of its input buffers.
  using RunOnce = std::function<absl::StatusOr<Sample>(int buffer_set)>;
  // All executions of that turn, recorded. Errors: those of `run`; nothing is
  // recorded then.
  absl::Status Execute(const RunOnce& run);
  // The same where several processes run the same programs in the same turns.
  // `agree` gives each of them the sample that all of them record, so that all
  // take the same decisions.
  using Agree =
      std::function<absl::StatusOr<Sample>(const absl::StatusOr<Sample>& own)>;
  absl::Status Execute(const RunOnce& run, const Agree& agree);
  // The program gets no more turns (it failed); its samples stay.
  void Abandon(int program);

  // Programs that became finished since the last call: none gets another turn.
  // Not those that end together, nor companions.
  std::vector<int> TakeFinished() { return std::exchange(finished_, {}); }

  // Of the samples so far, good and dropped.
  Summary Summarize(int program) const;
  int executions(int program) const { return states_[program].executions; }
  int passes(int program) const { return states_[program].samples.size(); }

 private:
  struct State {
    SampleSet samples;
    absl::Duration spent;
    int buffer_sets = 1;
    int runs = 0;
    int executions = 1;  // per sample
    int most_executions = Protocol::kMaxExecutions;
    int extra_passes = 0;
    bool content = false;
    bool abandoned = false;
    bool tied_once = false;  // or finished
    bool companion = false;
    bool waits = false;  // takes its turns until the others are content
  };

  absl::StatusOr<Sample> RunAll(const RunOnce& run) const;
  void Record(const Sample& sample);
  bool StartPass();
  void EndTurn();
  void EndPass();
  bool OutOfBudget(const State& state) const;
  bool IsContent(const State& state, absl::Duration best_first_pass) const;
  void FinishUntied();
  bool ReopenTies();

  Protocol protocol_;
  bool together_ = false;
  std::vector<State> states_;
  std::vector<int> order_;  // programs of this pass
  size_t position_ = 0;     // in order_
  int runs_ = 0;            // of this turn
  int pass_ = 0;
  Turn current_;
  std::vector<int> finished_;
};

}  // namespace meshwright::worker::timing

#endif  // MESHWRIGHT_WORKER_TIMING_ROUND_ROBIN_H_
