#include "worker/comm/executor/rank.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "worker/comm/executor/memory.h"
#include "worker/comm/protocol/transfer.h"

namespace meshwright::worker::comm {
namespace {

using Clock = Transport::Clock;

double ToSeconds(Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

// A task of this host under way.
struct Item {
  Transfer transfer;
  TaskReport report;
  std::set<int> ready;  // at the sender: receivers with a free port
  bool sending = false;
  std::optional<uint64_t> sum;  // at a receiver: the sender's checksum
  bool done = false;
  Clock::time_point received_at;  // the last chunk
  Clock::time_point sent_at;      // that which is under way
};

class Rank : public Transport::Events {
 public:
  Rank(const Plan& plan, int self, std::span<Bytes> destinations,
       Transport& transport)
      : plan_(plan),
        self_(self),
        ports_(FindPorts(plan, self)),
        destinations_(destinations),
        transport_(transport) {}

  absl::Status Prepare(std::span<const std::span<const std::byte>> sources);
  Outcome Finish();

  void Connected() override;
  absl::StatusOr<std::span<std::byte>> Place(int peer,
                                             const Frame& frame) override;
  void Arrived(int peer, const Frame& frame) override;
  void Lost(int peer, const absl::Status& why) override;
  void Tick() override;

 private:
  bool is_leader() const { return self_ == 0; }
  bool ended() const { return committed_ || !status_.ok(); }
  // This rank said FINISHED: the leader now decides about the plan; it sees
  // every loss and may have said COMMIT before.
  bool bound_by_leader() const { return said_finished_ && !is_leader(); }
  const Task& task(int index) const { return plan_.tasks[index]; }
  double Now() const { return ToSeconds(Clock::now() - began_); }

  void Say(int peer, FrameType type, int task = 0, uint64_t value = 0);
  void Fail(absl::Status status);
  void Refuse(int peer, const std::string& what);

  void Join(int peer);
  void Start();
  void ServePorts();
  void Pump(int index);
  void ChunkSent(int index, const Chunk& chunk);
  void ChunkHere(int index, const Frame& frame);
  void FinishReceiving(int index);
  void FinishIfDone();
  void Finished(int peer, uint64_t nanoseconds);
  void Commit(uint64_t nanoseconds);
  absl::StatusOr<Item*> Find(const Frame& frame);

  const Plan& plan_;
  const int self_;
  const Ports ports_;
  std::span<Bytes> destinations_;
  Transport& transport_;
  std::map<int, Bytes> staging_;  // by task
  std::map<int, Item> items_;     // by task
  size_t sent_tasks_ = 0;         // into ports_.outgoing
  size_t received_tasks_ = 0;     // into ports_.incoming
  bool announced_ = false;        // READY was said for the next one
  bool serving_ = false;
  std::map<int, Bytes> abort_texts_;  // by peer
  std::set<int> joined_;              // at the leader
  std::set<int> finished_;            // at the leader
  bool started_ = false;
  bool said_finished_ = false;
  uint64_t last_end_ = 0;  // nanoseconds; at the leader of all ranks
  bool committed_ = false;
  uint64_t makespan_ = 0;
  Clock::time_point began_;
  absl::Status status_;
};

absl::Status Rank::Prepare(
    std::span<const std::span<const std::byte>> sources) {
  int64_t incoming = 0;
  for (const int index : ports_.incoming) {
    incoming += task(index).size_bytes;
    RETURN_IF_ERROR(CheckFits(incoming, task(index).id));
  }
  for (const int index : ports_.outgoing) {
    const auto size = static_cast<int64_t>(sources[index].size());
    if (size != task(index).size_bytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("task ", task(index).id, " has ", task(index).size_bytes,
                       " bytes, but its source has ", size));
    }
    items_.emplace(index,
                   Item{Transfer(plan_, task(index), self_, sources[index]),
                        {index, true}});
  }
  for (const int index : ports_.incoming) {
    ASSIGN_OR_RETURN(staging_[index],
                     Allocate(task(index).size_bytes, task(index).id));
    items_.emplace(index, Item{Transfer(plan_, task(index), self_,
                                        std::span<std::byte>(staging_[index])),
                               {index, false}});
  }
  return {};
}

Outcome Rank::Finish() {
  Outcome outcome;
  outcome.status = status_;
  for (auto& [index, item] : items_) {
    item.report.bytes_sent = item.transfer.sent_bytes();
    item.report.bytes_received = item.transfer.received_bytes();
    if (committed_) item.report.verdict = Verdict::kMatch;
    outcome.tasks.push_back(item.report);
  }
  if (!committed_) {
    if (status_.ok()) {
      outcome.status = absl::CancelledError(
          "the connections were closed before the plan was done");
    }
    return outcome;
  }
  outcome.makespan_seconds = static_cast<double>(makespan_) * 1e-9;
  for (auto& [index, bytes] : staging_) destinations_[index] = std::move(bytes);
  return outcome;
}

void Rank::Say(int peer, FrameType type, int task, uint64_t value) {
  Frame frame;
  frame.type = type;
  frame.host = static_cast<uint32_t>(self_);
  frame.task = static_cast<uint32_t>(task);
  frame.value = value;
  transport_.Send(peer, frame);
}

void Rank::Fail(absl::Status status) {
  if (ended()) return;
  status_ = std::move(status);
  Frame last;
  last.type = FrameType::kAbort;
  last.host = static_cast<uint32_t>(self_);
  last.value = static_cast<uint64_t>(status_.code());
  transport_.Close(last, std::string(status_.message()));
}

void Rank::Lost(int peer, const absl::Status& why) {
  if (!bound_by_leader()) return Fail(why);
  if (peer != 0) return;
  Fail(absl::Status(
      why.code(),
      absl::StrCat(why.message(),
                   "; this host has everything and published nothing, the "
                   "others may have: run the plan again on all of them")));
}

void Rank::Refuse(int peer, const std::string& what) {
  Fail(absl::DataLossError(
      absl::StrCat("host ", plan_.hosts[peer].id, ": ", what)));
}

// ---- coming together ----

void Rank::Connected() {
  if (is_leader()) return Join(self_);
  Say(0, FrameType::kJoined);
}

void Rank::Join(int peer) {
  joined_.insert(peer);
  if (joined_.size() != plan_.hosts.size()) return;
  for (const int other : FindPeers(plan_, self_)) Say(other, FrameType::kStart);
  Start();
}

void Rank::Start() {
  started_ = true;
  began_ = Clock::now();
  ServePorts();
  FinishIfDone();
}

// ---- ports ----

// Gives each port to its next task, as far as they are free.
void Rank::ServePorts() {
  if (!started_ || ended()) return;
  if (!announced_ && received_tasks_ < ports_.incoming.size()) {
    announced_ = true;
    const int next = ports_.incoming[received_tasks_];
    Say(task(next).sender, FrameType::kReady, next);
  }
  if (serving_ || sent_tasks_ == ports_.outgoing.size()) return;
  const int next = ports_.outgoing[sent_tasks_];
  Item& item = items_.at(next);
  if (item.ready.size() != task(next).receivers.size()) return;
  serving_ = true;
  item.report.start_seconds = Now();
  Pump(next);
}

// Sends the next chunk, if it is here and none is under way.
void Rank::Pump(int index) {
  Item& item = items_.at(index);
  if (item.sending) return;
  const std::optional<Chunk> chunk = item.transfer.Next();
  if (!chunk.has_value()) return;
  item.sending = true;
  item.sent_at = Clock::now();
  Frame frame;
  frame.type = FrameType::kChunk;
  frame.host = static_cast<uint32_t>(self_);
  frame.task = static_cast<uint32_t>(index);
  frame.step = chunk->step;
  frame.payload_bytes = static_cast<uint32_t>(chunk->bytes.size());
  frame.value = static_cast<uint64_t>(chunk->offset);
  transport_.Send(chunk->to, frame, chunk->bytes,
                  [this, index, sent = *chunk] { ChunkSent(index, sent); });
}

void Rank::ChunkSent(int index, const Chunk& chunk) {
  Item& item = items_.at(index);
  item.sending = false;
  item.transfer.Sent(chunk);
  if (!item.transfer.all_sent()) return Pump(index);
  if (!item.report.sender) return FinishReceiving(index);
  item.report.checksum = item.transfer.Checksum();
  for (const int receiver : task(index).receivers) {
    Say(receiver, FrameType::kSum, index, *item.report.checksum);
  }
  item.done = true;
  item.report.end_seconds = Now();
  serving_ = false;
  ++sent_tasks_;
  ServePorts();
  FinishIfDone();
}

void Rank::ChunkHere(int index, const Frame& frame) {
  Item& item = items_.at(index);
  item.transfer.Arrived(frame.step, frame.payload_bytes);
  item.received_at = Clock::now();
  if (item.transfer.all_here()) {
    // The checksum need not be here for the port to be free.
    announced_ = false;
    ++received_tasks_;
    ServePorts();
  }
  Pump(index);
  FinishReceiving(index);
}

// A receiver has everything, has passed it on, and knows the checksum.
void Rank::FinishReceiving(int index) {
  Item& item = items_.at(index);
  if (item.done || !item.transfer.all_here() || !item.sum.has_value()) return;
  if (!item.report.checksum.has_value()) {
    item.report.checksum = item.transfer.Checksum();
    if (*item.report.checksum != *item.sum) {
      item.report.verdict = Verdict::kMismatch;
      return Fail(absl::DataLossError(absl::StrCat(
          "task ", task(index).id, ": the slice that host ",
          plan_.hosts[self_].id, " received differs from the slice of host ",
          plan_.hosts[task(index).sender].id, " (checksums ",
          absl::Hex(*item.report.checksum, absl::kZeroPad16), " and ",
          absl::Hex(*item.sum, absl::kZeroPad16),
          "); nothing was published, run it again")));
    }
    item.report.verdict = Verdict::kMatch;
    item.report.end_seconds = Now();
  }
  if (!item.transfer.all_sent()) return;
  item.done = true;
  FinishIfDone();
}

// ---- the end ----

void Rank::FinishIfDone() {
  const bool all_done = std::ranges::all_of(
      items_, [](const auto& entry) { return entry.second.done; });
  if (!started_ || ended() || said_finished_ || !all_done) return;
  said_finished_ = true;
  double last = 0;
  for (const auto& [index, item] : items_) {
    last = std::max(last, item.report.end_seconds.value_or(0));
  }
  const auto nanoseconds = static_cast<uint64_t>(std::ceil(last * 1e9));
  if (is_leader()) return Finished(self_, nanoseconds);
  Say(0, FrameType::kFinished, 0, nanoseconds);
}

void Rank::Finished(int peer, uint64_t nanoseconds) {
  finished_.insert(peer);
  last_end_ = std::max(last_end_, nanoseconds);
  if (finished_.size() == plan_.hosts.size()) Commit(last_end_);
}

void Rank::Commit(uint64_t nanoseconds) {
  if (ended()) return;
  committed_ = true;
  makespan_ = nanoseconds;
  Frame last;
  last.type = FrameType::kCommit;
  last.host = static_cast<uint32_t>(self_);
  last.value = nanoseconds;
  transport_.Close(last, "");
}

// ---- what comes ----

absl::StatusOr<Item*> Rank::Find(const Frame& frame) {
  const auto found = items_.find(static_cast<int>(frame.task));
  if (found == items_.end()) {
    return absl::DataLossError("it spoke of a task that it has no part in");
  }
  return &found->second;
}

absl::StatusOr<std::span<std::byte>> Rank::Place(int peer, const Frame& frame) {
  if (frame.type == FrameType::kAbort) {
    abort_texts_[peer].resize(frame.payload_bytes);
    return std::span<std::byte>(abort_texts_[peer]);
  }
  if (frame.type != FrameType::kChunk) {
    return absl::DataLossError("it sent what nobody waited for");
  }
  ASSIGN_OR_RETURN(Item* const item, Find(frame));
  if (!announced_ ||
      ports_.incoming[received_tasks_] != static_cast<int>(frame.task)) {
    return absl::DataLossError("it sent a chunk that nobody was ready for");
  }
  if (!item->report.start_seconds.has_value()) {
    item->report.start_seconds = Now();
  }
  return item->transfer.Expect(peer, frame.step, frame.value,
                               frame.payload_bytes);
}

void Rank::Arrived(int peer, const Frame& frame) {
  const int index = static_cast<int>(frame.task);
  switch (frame.type) {
    case FrameType::kJoined:
      if (!is_leader() || started_)
        return Refuse(peer, "it joined out of turn");
      return Join(peer);
    case FrameType::kStart:
      if (peer != 0 || started_) return Refuse(peer, "it started out of turn");
      return Start();
    case FrameType::kFinished:
      if (!is_leader() || !started_)
        return Refuse(peer, "it ended out of turn");
      return Finished(peer, frame.value);
    case FrameType::kCommit:
      if (!said_finished_) return Refuse(peer, "it published too early");
      return Commit(frame.value);
    case FrameType::kAbort: {
      if (bound_by_leader() && peer != 0) return;
      const Bytes& said = abort_texts_[peer];
      const std::string text(reinterpret_cast<const char*>(said.data()),
                             said.size());
      const bool known = frame.value >= 1 && frame.value <= 16;
      return Fail(absl::Status(known
                                   ? static_cast<absl::StatusCode>(frame.value)
                                   : absl::StatusCode::kUnknown,
                               text));
    }
    case FrameType::kReady:
    case FrameType::kChunk:
    case FrameType::kSum:
      break;
    case FrameType::kHello:
    case FrameType::kBeat:
    case FrameType::kChannel:
    case FrameType::kDeviceChunk:
      return;
  }
  const auto item = Find(frame);
  if (!item.ok()) return Refuse(peer, std::string(item.status().message()));
  const bool from_sender = task(index).sender == peer;
  if (frame.type == FrameType::kReady) {
    if (std::ranges::count(task(index).receivers, peer) == 0 ||
        !(*item)->report.sender) {
      return Refuse(peer, "it is ready for a task that is not its own");
    }
    (*item)->ready.insert(peer);
    return ServePorts();
  }
  if (frame.type == FrameType::kSum) {
    if (!from_sender || (*item)->sum.has_value()) {
      return Refuse(peer, "it sent a checksum out of turn");
    }
    (*item)->sum = frame.value;
    return FinishReceiving(index);
  }
  ChunkHere(index, frame);
}

// A transfer that has begun and stands still is lost, too.
void Rank::Tick() {
  if (!started_) return;
  // Half of the deadline, so that all know within the whole.
  const auto late = [&, now = Clock::now()](Clock::time_point last) {
    return ToSeconds(now - last) > plan_.deadline_seconds / 2;
  };
  const auto stuck = [&](int index, const std::string& what) {
    Fail(absl::DeadlineExceededError(
        absl::StrCat("task ", task(index).id, ": ", what, " for ",
                     plan_.deadline_seconds / 2, " s; is its link down?")));
  };
  for (const auto& [index, item] : items_) {
    if (item.sending && late(item.sent_at)) {
      const Host& to = plan_.hosts[item.transfer.Next()->to];
      return stuck(index, absl::StrCat("host ", to.id, " took nothing"));
    }
    const std::vector<int> midway = item.transfer.Midway();
    if (!midway.empty() && late(item.received_at)) {
      const Host& from = plan_.hosts[midway.front()];
      return stuck(index, absl::StrCat("nothing came from host ", from.id));
    }
  }
}

}  // namespace

Outcome RunRank(const Plan& plan, int self,
                std::span<const std::span<const std::byte>> sources,
                std::span<Bytes> destinations, Transport& transport) {
  Rank rank(plan, self, destinations, transport);
  if (absl::Status status = rank.Prepare(sources); !status.ok()) {
    return {.status = std::move(status)};
  }
  transport.Run(rank);
  return rank.Finish();
}

}  // namespace meshwright::worker::comm
