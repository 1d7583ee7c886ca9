#include "worker/runner/gang_line.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::worker::runner {
namespace {

absl::Status LineIsOver() {
  return absl::UnavailableError("the gang of this runner is over");
}

}  // namespace

GangLine::GangLine(const v1::GangPlace& place, sandbox::EventWriter& events,
                   int input)
    : place_(place),
      events_(events),
      end_(eventfd(0, EFD_CLOEXEC)),
      reader_([this, input] { Read(input); }) {}

GangLine::~GangLine() {
  eventfd_write(end_, 1);
  reader_.join();
  close(end_);
}

absl::Status GangLine::AwaitGo() {
  v1::RunnerEvent event;
  event.mutable_at_gate();
  events_.Write(event);
  base::MutexLock lock(&mutex_);
  const auto is_open = [this] { return may_go_ || is_over_; };
  mutex_.Await(absl::Condition(&is_open));
  return may_go_ ? absl::OkStatus() : LineIsOver();
}

absl::Status GangLine::Put(const std::string& key, const std::string& value) {
  v1::RunnerEvent event;
  event.mutable_put()->set_key(key);
  event.mutable_put()->set_value(value);
  events_.Write(event);
  return events_.status();
}

absl::StatusOr<std::string> GangLine::Get(const std::string& key,
                                          absl::Duration timeout) {
  ASSIGN_OR_RETURN(v1::GangMessage::Value value,
                   AwaitAnswer(Ask(key, /*waits=*/true), key, timeout));
  return std::move(*value.mutable_value());
}

absl::StatusOr<std::string> GangLine::TryGet(const std::string& key) {
  ASSIGN_OR_RETURN(
      v1::GangMessage::Value value,
      AwaitAnswer(Ask(key, /*waits=*/false), key, absl::InfiniteDuration()));
  if (!value.is_there()) {
    return absl::NotFoundError(absl::StrCat("nobody has put ", key));
  }
  return std::move(*value.mutable_value());
}

int64_t GangLine::Ask(const std::string& key, bool waits) {
  v1::RunnerEvent event;
  int64_t number = 0;
  {
    base::MutexLock lock(&mutex_);
    number = next_++;
    asked_[number];
  }
  event.mutable_get()->set_number(number);
  event.mutable_get()->set_key(key);
  event.mutable_get()->set_waits(waits);
  events_.Write(event);
  return number;
}

absl::StatusOr<v1::GangMessage::Value> GangLine::AwaitAnswer(
    int64_t number, const std::string& key, absl::Duration timeout) {
  base::MutexLock lock(&mutex_);
  const auto is_answered = [&] {
    return is_over_ || asked_.at(number).has_value();
  };
  mutex_.AwaitWithTimeout(absl::Condition(&is_answered), timeout);
  const std::optional<v1::GangMessage::Value> value =
      std::move(asked_.extract(number).mapped());
  if (value.has_value()) return *value;
  if (is_over_) return LineIsOver();
  return absl::DeadlineExceededError(absl::StrCat(
      "no member has put ", key, " within ", absl::FormatDuration(timeout)));
}

absl::StatusOr<std::vector<std::string>> GangLine::Exchange(
    const std::string& own) {
  // By these keys the coordinator knows what all have read
  // (coordinator/jobs/gangs/key_values.h).
  const std::string prefix = absl::StrCat("meshwright/", exchanges_++, "/");
  RETURN_IF_ERROR(Put(absl::StrCat(prefix, rank()), own));
  // All at once: one round trip, and the members go on close together.
  std::vector<int64_t> asked(size());
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    asked[other] = Ask(absl::StrCat(prefix, other), /*waits=*/true);
  }
  std::vector<std::string> said(size());
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) {
      said[other] = own;
      continue;
    }
    ASSIGN_OR_RETURN(v1::GangMessage::Value value,
                     AwaitAnswer(asked[other], absl::StrCat(prefix, other),
                                 absl::InfiniteDuration()));
    said[other] = std::move(*value.mutable_value());
  }
  return said;
}

void GangLine::Take(const v1::GangMessage& message) {
  base::MutexLock lock(&mutex_);
  if (message.has_go()) may_go_ = true;
  if (!message.has_value()) return;
  const auto asked = asked_.find(message.value().number());
  if (asked != asked_.end()) asked->second = message.value();
}

void GangLine::Read(int input) {
  sandbox::GangMessageParser parser;
  pollfd files[2] = {{input, POLLIN, 0}, {end_, POLLIN, 0}};
  char buffer[1 << 16];
  while (true) {
    if (poll(files, 2, -1) < 0 && errno == EINTR) continue;
    if (files[1].revents != 0) return;
    const ssize_t size = read(input, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    const auto messages =
        parser.Feed({buffer, static_cast<size_t>(size < 0 ? 0 : size)});
    if (size <= 0 || !messages.ok()) break;
    for (const v1::GangMessage& message : *messages) Take(message);
  }
  base::MutexLock lock(&mutex_);
  is_over_ = true;
}

}  // namespace meshwright::worker::runner
