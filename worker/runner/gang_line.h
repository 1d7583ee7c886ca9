// GangLine: the line of a member of a gang to the other members.
//
// Concept: the runners of a gang run the same programs at the same time. Each
// says what it has to say as an event, and hears answers on its standard input;
// the coordinator passes both on (coordinator/jobs/gangs).
//
//   AwaitGo ─▶ Put, Get (the plugin's runtime) ─▶ Exchange, Exchange, ...
//
// Every member calls Exchange equally often, with what it found. So all know
// what each found, and decide alike: none runs a program that another one
// cannot run, and all run each equally often. Threads: all methods from any
// thread but AwaitGo and Exchange, which are for one. Reads on a thread of its
// own. Errors: those of KeyValueStore. kUnavailable when the line ends: the
// gang is over, and the parent ends this process.
#ifndef MESHWRIGHT_WORKER_RUNNER_GANG_LINE_H_
#define MESHWRIGHT_WORKER_RUNNER_GANG_LINE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "proto/v1/job.pb.h"
#include "worker/pjrt/key_value_store.h"
#include "worker/sandbox/event_stream.h"

namespace meshwright::worker::runner {

class GangLine : public pjrt::KeyValueStore {
 public:
  // `events` outlives the line. `input`: a file that stays open.
  GangLine(const v1::GangPlace& place, sandbox::EventWriter& events, int input);
  ~GangLine() override;
  GangLine(const GangLine&) = delete;
  GangLine& operator=(const GangLine&) = delete;

  int rank() const { return place_.rank(); }
  int size() const { return place_.size(); }

  // Says that this one is at the gate; returns when all are.
  absl::Status AwaitGo();
  absl::Status Put(const std::string& key, const std::string& value) override;
  absl::StatusOr<std::string> Get(const std::string& key,
                                  absl::Duration timeout) override;
  absl::StatusOr<std::string> TryGet(const std::string& key) override;

  // What every member says, by rank.
  absl::StatusOr<std::vector<std::string>> Exchange(const std::string& own);

 private:
  // The number of the question, which AwaitAnswer takes once.
  int64_t Ask(const std::string& key, bool waits) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<v1::GangMessage::Value> AwaitAnswer(int64_t number,
                                                     const std::string& key,
                                                     absl::Duration timeout)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Read(int input) ABSL_LOCKS_EXCLUDED(mutex_);
  void Take(const v1::GangMessage& message) ABSL_LOCKS_EXCLUDED(mutex_);

  const v1::GangPlace place_;
  sandbox::EventWriter& events_;
  const int end_;  // an event file: the reader ends
  int exchanges_ = 0;

  base::Mutex mutex_;
  bool may_go_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t next_ ABSL_GUARDED_BY(mutex_) = 1;
  // By number; absent until it is answered.
  std::map<int64_t, std::optional<v1::GangMessage::Value>> asked_
      ABSL_GUARDED_BY(mutex_);
  std::jthread reader_;  // last: joined before the rest is destroyed
};

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_GANG_LINE_H_
