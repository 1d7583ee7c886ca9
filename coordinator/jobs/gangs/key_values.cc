#include "coordinator/jobs/gangs/key_values.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::jobs::gangs {
namespace {

// What an entry takes beside its text.
constexpr int64_t kEntryBytes = 64;

KeyValues::Answer MakeAnswer(const KeyValues::Ask& ask,
                             const std::string* value) {
  KeyValues::Answer answer;
  answer.rank = ask.rank;
  v1::GangMessage::Value& said = *answer.message.mutable_value();
  said.set_number(ask.number);
  said.set_is_there(value != nullptr);
  if (value != nullptr) said.set_value(*value);
  return answer;
}

}  // namespace

absl::StatusOr<std::vector<KeyValues::Answer>> KeyValues::Put(
    const std::string& key, const std::string& value) {
  const int64_t bytes = std::ssize(key) + std::ssize(value) + kEntryBytes;
  if (bytes_ + bytes > kMaxBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the members of the gang tell each other more than ",
                     kMaxBytes >> 20, " MiB"));
  }
  bytes_ += bytes;
  values_[key] = value;
  std::vector<Answer> answers;
  const auto waiting = waiting_.find(key);
  if (waiting == waiting_.end()) return answers;
  for (const Ask& ask : waiting->second) {
    answers.push_back(MakeAnswer(ask, &value));
  }
  waiting_.erase(waiting);
  return answers;
}

std::optional<KeyValues::Answer> KeyValues::Get(Ask ask, const std::string& key,
                                                bool waits) {
  const auto found = values_.find(key);
  if (found != values_.end()) return MakeAnswer(ask, &found->second);
  if (!waits) return MakeAnswer(ask, nullptr);
  waiting_[key].push_back(ask);
  return std::nullopt;
}

}  // namespace meshwright::jobs::gangs
