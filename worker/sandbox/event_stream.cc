#include "worker/sandbox/event_stream.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace meshwright::worker::sandbox {
namespace {

constexpr uint32_t kLargestEvent = 64 << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<EventWriter>> EventWriter::Open(
    const std::string& path) {
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  }
  return std::unique_ptr<EventWriter>(new EventWriter(path, file));
}

EventWriter::~EventWriter() { close(file_); }

std::string Frame(const google::protobuf::MessageLite& message) {
  using google::protobuf::io::CodedOutputStream;
  const std::string body = message.SerializeAsString();
  uint8_t length[10];
  const uint8_t* end = CodedOutputStream::WriteVarint32ToArray(
      static_cast<uint32_t>(body.size()), length);
  std::string record(reinterpret_cast<const char*>(length), end - length);
  record += body;
  return record;
}

void EventWriter::Write(const v1::RunnerEvent& event) {
  const std::string record = Frame(event);
  std::string_view left = record;
  const std::lock_guard<std::mutex> lock(mutex_);
  while (!left.empty() && status_.ok()) {
    const ssize_t written = write(file_, left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(written);
    } else if (errno != EINTR) {
      status_ =
          absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
    }
  }
}

void EventWriter::Started(const std::string& key,
                          v1::RunnerEvent::Started::Phase phase) {
  v1::RunnerEvent event;
  event.mutable_started()->set_key(key);
  event.mutable_started()->set_phase(phase);
  Write(event);
}

void EventWriter::Result(const v1::ProfileResult& result) {
  v1::RunnerEvent event;
  *event.mutable_result() = result;
  Write(event);
}

absl::Status EventWriter::status() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

template <typename Message>
absl::StatusOr<std::vector<Message>> MessageParser<Message>::Feed(
    std::string_view bytes) {
  pending_ += bytes;
  std::vector<Message> messages;
  size_t start = 0;
  while (true) {
    uint32_t length = 0;
    size_t at = start;
    bool complete = false;
    for (int shift = 0; at < pending_.size() && shift < 35; shift += 7) {
      const auto byte = static_cast<uint8_t>(pending_[at++]);
      length |= static_cast<uint32_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) {
        complete = true;
        break;
      }
    }
    if ((!complete && at - start >= 5) || length > kLargestEvent) {
      return absl::DataLossError("the runner's stream is damaged");
    }
    if (!complete || pending_.size() - at < length) break;
    Message& message = messages.emplace_back();
    if (!message.ParseFromArray(pending_.data() + at,
                                static_cast<int>(length))) {
      return absl::DataLossError("the runner's stream is damaged");
    }
    start = at + length;
  }
  pending_.erase(0, start);
  return messages;
}

template class MessageParser<v1::RunnerEvent>;
template class MessageParser<v1::GangMessage>;

}  // namespace meshwright::worker::sandbox
