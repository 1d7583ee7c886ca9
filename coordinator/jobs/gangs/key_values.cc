#include "coordinator/jobs/gangs/key_values.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"

namespace meshwright::jobs::gangs {
namespace {

// What an entry takes beside its text.
constexpr int64_t kEntryBytes = 64;

int64_t CountBytes(const std::string& key, const std::string& value) {
  return std::ssize(key) + std::ssize(value) + kEntryBytes;
}

// The member's key of the round that all have read when it puts this one; none
// for a key of no round.
std::optional<std::string> FindReadKey(const std::string& key) {
  const std::vector<absl::string_view> parts = absl::StrSplit(key, '/');
  int64_t round = 0;
  if (parts.size() != 3 || parts[0] != "meshwright" ||
      !absl::SimpleAtoi(parts[1], &round) || round < 2) {
    return std::nullopt;
  }
  return absl::StrCat(parts[0], "/", round - 2, "/", parts[2]);
}

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
  if (const auto read = FindReadKey(key)) Erase(*read);
  const auto before = values_.find(key);
  const int64_t freed =
      before == values_.end() ? 0 : CountBytes(key, before->second);
  RETURN_IF_ERROR(Reserve(CountBytes(key, value) - freed));
  values_[key] = value;
  std::vector<Answer> answers;
  const auto waiting = waiting_.find(key);
  if (waiting == waiting_.end()) return answers;
  for (const Ask& ask : waiting->second) {
    answers.push_back(MakeAnswer(ask, &value));
    bytes_ -= CountBytes(key, "");
  }
  waiting_.erase(waiting);
  return answers;
}

absl::StatusOr<std::optional<KeyValues::Answer>> KeyValues::Get(
    Ask ask, const std::string& key, bool waits) {
  const auto found = values_.find(key);
  if (found != values_.end()) return MakeAnswer(ask, &found->second);
  if (!waits) return MakeAnswer(ask, nullptr);
  RETURN_IF_ERROR(Reserve(CountBytes(key, "")));
  waiting_[key].push_back(ask);
  return std::nullopt;
}

void KeyValues::Erase(const std::string& key) {
  const auto found = values_.find(key);
  if (found == values_.end()) return;
  bytes_ -= CountBytes(key, found->second);
  values_.erase(found);
}

absl::Status KeyValues::Reserve(int64_t bytes) {
  if (bytes_ + bytes > kMaxBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the members of the gang tell each other more than ", kMaxBytes >> 20,
        " MiB; measure the program on one worker that has all devices"));
  }
  bytes_ += bytes;
  return absl::OkStatus();
}

}  // namespace meshwright::jobs::gangs
