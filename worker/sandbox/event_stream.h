// The streams between meshwright-runner and its parent: messages, each behind
// its length as a varint. Results are RunnerEvents; a member of a gang is told
// GangMessages. docs/formats/job-file.md tells the rest.
#ifndef MESHWRIGHT_WORKER_SANDBOX_EVENT_STREAM_H_
#define MESHWRIGHT_WORKER_SANDBOX_EVENT_STREAM_H_

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/v1/job.pb.h"

namespace meshwright::worker::sandbox {

// Threads: any. Every event is in the file when Write returns.
// Errors: errno's, where the file cannot be opened or written (disk full,
// reader gone). The first failed write is kept in status(); later events are
// discarded.
class EventWriter {
 public:
  // Makes or empties the file; a FIFO is taken as it is. Errors: see above.
  static absl::StatusOr<std::unique_ptr<EventWriter>> Open(
      const std::string& path);
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  // Started and Result write events of these kinds.
  void Write(const v1::RunnerEvent& event);
  void Started(const std::string& key, v1::RunnerEvent::Started::Phase phase);
  void Result(const v1::ProfileResult& result);
  absl::Status status() const;

 private:
  EventWriter(std::string path, int file)
      : path_(std::move(path)), file_(file) {}

  const std::string path_;
  const int file_;
  mutable std::mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

// A message as it travels.
std::string Frame(const google::protobuf::MessageLite& message);

// Takes the stream in pieces of any size. A last message that was cut off by a
// crash is never returned.
template <typename Message>
class MessageParser {
 public:
  // Errors: kDataLoss for bytes that are no messages; nothing follows.
  absl::StatusOr<std::vector<Message>> Feed(std::string_view bytes);

 private:
  std::string pending_;
};

using EventParser = MessageParser<v1::RunnerEvent>;
using GangMessageParser = MessageParser<v1::GangMessage>;

}  // namespace meshwright::worker::sandbox

#endif  // MESHWRIGHT_WORKER_SANDBOX_EVENT_STREAM_H_
