#include "planner/pipeline/simulate.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::pipeline {
namespace {

enum class Direction { kForward, kBackward };

// Each micro-batch once forward and once backward, and in this order.
absl::Status CheckOrders(const PipelineProblem& problem,
                         const StageOrders& orders) {
  if (orders.size() != problem.stages.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are orders of ", orders.size(), " stages for ",
                     problem.stages.size()));
  }
  for (size_t stage = 0; stage < orders.size(); ++stage) {
    const auto wrong = [&](const Operation& operation) {
      return absl::InvalidArgumentError(
          absl::StrCat("the order of stage ", stage + 1, " has ",
                       Name(operation), " where it cannot be"));
    };
    std::vector<int> passes(problem.micro_batches, 0);
    for (const Operation& operation : orders[stage]) {
      const int k = operation.micro_batch;
      if (k < 0 || k >= problem.micro_batches ||
          operation.kind == OperationKind::kBackwardWeight) {
        return wrong(operation);
      }
      const int before = operation.kind == OperationKind::kForward ? 0 : 1;
      if (passes[k]++ != before) return wrong(operation);
    }
    if (orders[stage].size() !=
        2 * static_cast<size_t>(problem.micro_batches)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the order of stage ", stage + 1,
                       " leaves out a forward or a backward"));
    }
  }
  return {};
}

class Simulation {
 public:
  Simulation(const PipelineProblem& problem, const StageOrders& orders,
             const WeightDelay& delay)
      : problem_(problem), orders_(orders), delay_(delay) {
    const int stages = problem.Stages();
    const auto micro_batches = static_cast<size_t>(problem.micro_batches);
    stages_.resize(stages);
    links_[0].resize(stages - 1);
    links_[1].resize(stages - 1);
    timeline_.stages.resize(stages);
    timeline_.forward_links.resize(stages - 1);
    timeline_.backward_links.resize(stages - 1);
    for (int i = 0; i < stages; ++i) {
      stages_[i].arrived[0].assign(micro_batches, i == 0);
      stages_[i].arrived[1].assign(micro_batches, i == stages - 1);
      timeline_.stages[i].reserve(3 * micro_batches);
      Touch(i);
    }
    for (int i = 0; i + 1 < stages; ++i) {
      timeline_.forward_links[i].reserve(micro_batches);
      timeline_.backward_links[i].reserve(micro_batches);
    }
  }

  absl::StatusOr<Timeline> Run() {
    for (;;) {
      do {
        Dispatch();
      } while (CompleteThoseAt(now_));
      FillWaits();
      if (events_.empty()) break;
      now_ = events_.top().time;
      CompleteThoseAt(now_);
    }
    for (size_t i = 0; i < stages_.size(); ++i) {
      if (stages_[i].next == orders_[i].size()) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "the orders wait for each other: stage ", i + 1,
          " never gets to run ", Name(orders_[i][stages_[i].next])));
    }
    timeline_.step = now_;
    return std::move(timeline_);
  }

 private:
  // A send that a stage has ready, where a transfer holds its stages.
  struct Send {
    Direction direction;
    int32_t micro_batch;
    Picoseconds ready;
  };
  struct StageState {
    size_t next = 0;  // in its order
    bool busy = false;
    bool touched = false;
    std::vector<char> arrived[2];   // by direction, per micro-batch
    std::vector<int32_t> backward;  // whose input gradient is done, in order
    size_t weights = 0;             // of them started
    int64_t live_bytes = 0;
    std::optional<Send> send;

    size_t Delayed() const { return backward.size() - weights; }
  };
  struct LinkState {
    bool busy = false;
    std::vector<int32_t> queue;  // all that ever came, in order
    size_t started = 0;
  };
  // A stage (below the number of stages) or a link in one direction.
  struct Event {
    Picoseconds time;
    int resource;
    bool operator>(const Event& other) const {
      return std::tie(time, resource) > std::tie(other.time, other.resource);
    }
  };

  LinkState& Link(Direction direction, int link) {
    return links_[static_cast<int>(direction)][link];
  }
  std::vector<Delivery>& Deliveries(Direction direction, int link) {
    return direction == Direction::kForward ? timeline_.forward_links[link]
                                            : timeline_.backward_links[link];
  }

  Picoseconds TransferTime(Direction direction, int link) const {
    const Transfer& costs = problem_.transfers[link];
    return direction == Direction::kForward ? costs.forward : costs.backward;
  }
  bool HoldsStages(Direction direction, int link) const {
    return !problem_.overlap && TransferTime(direction, link).count() > 0;
  }

  void Touch(int stage) {
    if (stages_[stage].touched) return;
    stages_[stage].touched = true;
    touched_.push_back(stage);
  }

  bool CompleteThoseAt(Picoseconds time) {
    bool any = false;
    while (!events_.empty() && events_.top().time == time) {
      const int resource = events_.top().resource;
      events_.pop();
      any = true;
      const int stages = problem_.Stages();
      if (resource < stages) {
        CompleteOperation(resource);
      } else if (resource < 2 * stages) {
        CompleteTransfer(Direction::kForward, resource - stages);
      } else {
        CompleteTransfer(Direction::kBackward, resource - 2 * stages);
      }
    }
    return any;
  }

  void CompleteOperation(int stage) {
    StageState& state = stages_[stage];
    const Stage& costs = problem_.stages[stage];
    const Operation& operation = timeline_.stages[stage].back().operation;
    state.busy = false;
    Touch(stage);
    switch (operation.kind) {
      case OperationKind::kForward:
        if (stage + 1 < problem_.Stages()) {
          Offer(Direction::kForward, stage, operation.micro_batch);
        }
        return;
      case OperationKind::kBackward:
        state.live_bytes -= costs.activation_bytes;
        break;
      case OperationKind::kBackwardInput:
        state.live_bytes +=
            costs.ComputeDelayedBytes() - costs.activation_bytes;
        state.backward.push_back(operation.micro_batch);
        break;
      case OperationKind::kBackwardWeight:
        state.live_bytes -= costs.ComputeDelayedBytes();
        return;
    }
    if (stage > 0) Offer(Direction::kBackward, stage, operation.micro_batch);
  }

  void Offer(Direction direction, int from, int32_t micro_batch) {
    const int link = direction == Direction::kForward ? from : from - 1;
    if (HoldsStages(direction, link)) {
      stages_[from].send = Send{direction, micro_batch, now_};
      return;
    }
    Link(direction, link).queue.push_back(micro_batch);
    StartQueued(direction, link);
  }

  void StartQueued(Direction direction, int index) {
    LinkState& link = Link(direction, index);
    if (link.busy || link.started == link.queue.size()) return;
    StartTransfer(direction, index, link.queue[link.started++]);
  }

  void StartTransfer(Direction direction, int link, int32_t micro_batch) {
    const bool forward = direction == Direction::kForward;
    const Picoseconds end = now_ + TransferTime(direction, link);
    Link(direction, link).busy = true;
    Deliveries(direction, link).push_back({micro_batch, now_, end});
    events_.push({end, (forward ? 1 : 2) * problem_.Stages() + link});
  }

  void CompleteTransfer(Direction direction, int link) {
    const bool forward = direction == Direction::kForward;
    const int to = forward ? link + 1 : link;
    Link(direction, link).busy = false;
    const int32_t micro_batch = Deliveries(direction, link).back().micro_batch;
    stages_[to].arrived[static_cast<int>(direction)][micro_batch] = true;
    Touch(to);
    if (!HoldsStages(direction, link)) {
      StartQueued(direction, link);
      return;
    }
    const int from = forward ? link : link + 1;
    stages_[from].busy = stages_[to].busy = false;
    Touch(from);
  }

  // Starts what can start now, but for delayed weights.
  void Dispatch() {
    if (!problem_.overlap) StartSends();
    for (const int stage : touched_) {
      stages_[stage].touched = false;
      idle_.push_back(stage);
      StartNext(stage);
    }
    touched_.clear();
  }

  void StartSends() {
    std::vector<int> senders;
    for (const int stage : touched_) {
      for (int near = std::max(0, stage - 1);
           near <= std::min(stage + 1, problem_.Stages() - 1); ++near) {
        if (stages_[near].send.has_value() && !stages_[near].busy) {
          senders.push_back(near);
        }
      }
    }
    const auto link_of = [&](int stage) {
      return stages_[stage].send->direction == Direction::kForward ? stage
                                                                   : stage - 1;
    };
    const auto key = [&](int stage) {
      const Send& send = *stages_[stage].send;
      return std::tuple(send.ready,
                        Deliveries(send.direction, link_of(stage)).size(),
                        send.direction == Direction::kForward, stage);
    };
    std::sort(senders.begin(), senders.end(),
              [&](int a, int b) { return key(a) < key(b); });
    for (const int stage : senders) {
      StageState& state = stages_[stage];
      if (!state.send.has_value() || state.busy) continue;
      const Send send = *state.send;
      StageState& receiver =
          stages_[send.direction == Direction::kForward ? stage + 1
                                                        : stage - 1];
      if (receiver.busy) continue;
      state.busy = receiver.busy = true;
      const int link = link_of(stage);
      state.send.reset();
      StartTransfer(send.direction, link, send.micro_batch);
    }
  }

  void StartNext(int stage) {
    StageState& state = stages_[stage];
    if (state.busy || state.send.has_value()) return;
    if (state.Delayed() > static_cast<size_t>(delay_.max)) {
      StartWeight(stage);
      return;
    }
    if (state.next == orders_[stage].size()) return;
    const Operation& operation = orders_[stage][state.next];
    const bool forward = operation.kind == OperationKind::kForward;
    if (!state.arrived[forward ? 0 : 1][operation.micro_batch]) return;
    const Stage& costs = problem_.stages[stage];
    const int64_t more =
        forward ? costs.activation_bytes
                : costs.ComputeDelayedBytes() - costs.activation_bytes;
    if (more > 0 && state.Delayed() > 0 && !Fits(stage, more)) {
      StartWeight(stage);
      return;
    }
    if (forward) state.live_bytes += costs.activation_bytes;
    ++state.next;
    Start(stage, operation);
  }

  bool Fits(int stage, int64_t bytes) const {
    return problem_.memory_limit_bytes.empty() ||
           problem_.stages[stage].persistent_bytes + stages_[stage].live_bytes +
                   bytes <=
               problem_.memory_limit_bytes[stage];
  }

  void StartWeight(int stage) {
    StageState& state = stages_[stage];
    Start(stage,
          {OperationKind::kBackwardWeight, state.backward[state.weights++]});
  }

  void Start(int stage, const Operation& operation) {
    const Picoseconds end =
        now_ + FindTime(problem_.stages[stage], operation.kind);
    stages_[stage].busy = true;
    timeline_.stages[stage].push_back({operation, now_, end});
    events_.push({end, stage});
  }

  // Once nothing else happens at this moment.
  void FillWaits() {
    for (const int stage : idle_) {
      const StageState& state = stages_[stage];
      if (state.busy || state.send.has_value() || state.Delayed() == 0) {
        continue;
      }
      if (delay_.yields && ArrivesDuringWeight(stage)) continue;
      StartWeight(stage);
    }
    idle_.clear();
  }

  bool ArrivesDuringWeight(int stage) {
    const StageState& state = stages_[stage];
    if (state.next == orders_[stage].size()) return false;
    const Operation& next = orders_[stage][state.next];
    const bool forward = next.kind == OperationKind::kForward;
    const Direction direction =
        forward ? Direction::kForward : Direction::kBackward;
    const int link = forward ? stage - 1 : stage;
    if (link < 0 || link + 1 >= problem_.Stages()) return false;
    if (!Link(direction, link).busy) return false;
    const Delivery& delivery = Deliveries(direction, link).back();
    return delivery.micro_batch == next.micro_batch &&
           delivery.end < now_ + problem_.stages[stage].backward_weight;
  }

  const PipelineProblem& problem_;
  const StageOrders& orders_;
  const WeightDelay delay_;
  Timeline timeline_;
  Picoseconds now_{0};
  std::vector<StageState> stages_;
  std::vector<LinkState> links_[2];  // by direction
  std::vector<int> touched_;         // something happened to them just now
  std::vector<int> idle_;            // touched at this moment; perhaps idle
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

absl::StatusOr<Timeline> Simulate(const PipelineProblem& problem,
                                  const StageOrders& orders,
                                  const WeightDelay& delay) {
  RETURN_IF_ERROR(CheckOrders(problem, orders));
  return Simulation(problem, orders, delay).Run();
}

}  // namespace meshwright::pipeline
