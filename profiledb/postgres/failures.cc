#include "profiledb/postgres/failures.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "profiledb/store/away.h"

namespace meshwright::postgres {
namespace {

constexpr size_t kStateLetters = 5;

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

bool EndsConnection(std::string_view state) {
  return state == "57P01" || state == "57P02" || state == "57P03" ||
         state == "57P05" || state == "25P03" ||
         absl::StartsWith({state.data(), state.size()}, "08");
}

absl::Status ToStatus(const std::string& store, std::string_view state,
                      std::string_view message) {
  const std::string line = FirstLine(message);
  const auto is_class = [&](std::string_view letters) {
    return state.substr(0, 2) == letters;
  };
  if (state.empty() || EndsConnection(state)) {
    return meshwright::store::MarkAway(absl::UnavailableError(absl::StrCat(
        "the store ", store, " has no connection to its server: ", line,
        "; see that the server runs and try again")));
  }
  if (state == "55P03" || state == "40001" || state == "40P01") {
    return meshwright::store::MarkAway(absl::UnavailableError(
        absl::StrCat("the store ", store, " is held by another process")));
  }
  if (state == "53300") {
    return meshwright::store::MarkAway(absl::UnavailableError(absl::StrCat(
        "the server of the store ", store, " has no connection left: ", line)));
  }
  if (state == "53100") {
    return meshwright::store::MarkAway(absl::ResourceExhaustedError(
        absl::StrCat("the store ", store,
                     " cannot grow: the disk is full; make room on it")));
  }
  if (is_class("53") || is_class("54")) {
    absl::Status status = absl::ResourceExhaustedError(absl::StrCat(
        "the server of the store ", store, " has too little: ", line));
    // Of 54, what was asked is beyond a limit of PostgreSQL, also later.
    return is_class("53") ? meshwright::store::MarkAway(std::move(status))
                          : status;
  }
  if (is_class("28")) {
    return absl::PermissionDeniedError(
        absl::StrCat("the store ", store, " does not let you in: ", line));
  }
  if (state == "42501" || state == "25006") {
    absl::Status status = absl::PermissionDeniedError(
        absl::StrCat("the store ", store, " cannot be written: ", line,
                     "; see that its server takes writes, and of this user"));
    // A server that reads only is a standby until it takes over.
    return state == "25006" ? meshwright::store::MarkAway(std::move(status))
                            : status;
  }
  if (state == "22021") {  // of a column of text; others hold any bytes
    return absl::InvalidArgumentError(absl::StrCat(
        "a name is no text, as the store ", store,
        " has them (a zero byte, or no UTF-8); give another: ", line));
  }
  if (state == "3D000") {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no store ", store, ": ", line));
  }
  if (is_class("XX")) {
    return absl::DataLossError(
        absl::StrCat("the store ", store, " is damaged: ", line));
  }
  return absl::InternalError(
      absl::StrCat("the store ", store, " failed: ", line));
}

std::string TakeState(std::string& message) {
  const std::string_view before = ":  ";
  const std::string_view after = ": ";
  for (size_t at = message.find(before); at != std::string::npos;
       at = message.find(before, at + 1)) {
    const size_t begin = at + before.size();
    const std::string state = message.substr(begin, kStateLetters);
    if (state.size() < kStateLetters ||
        message.compare(begin + kStateLetters, after.size(), after) != 0 ||
        !std::all_of(state.begin(), state.end(), [](unsigned char c) {
          return absl::ascii_isdigit(c) || absl::ascii_isupper(c);
        })) {
      continue;
    }
    message.erase(begin - 1, kStateLetters + after.size() + 1);
    return state;
  }
  return "";
}

}  // namespace meshwright::postgres
