#include "profiledb/tables/stored_row.h"

#include <bit>
#include <chrono>
#include <cstring>

#include "absl/strings/escaping.h"
#include "profiledb/store/check_row.h"

namespace meshwright::tables {
namespace {

constexpr uint64_t kPrime = 0x100000001b3u;

// Little-endian, on every machine.
uint64_t Word(std::string_view bytes) {
  uint64_t word = 0;
  if (std::endian::native == std::endian::little &&
      bytes.size() == sizeof(word)) {
    std::memcpy(&word, bytes.data(), sizeof(word));
    return word;
  }
  for (size_t i = bytes.size(); i > 0; --i) {
    word = word << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return word;
}

}  // namespace

Checksum& Checksum::Add(std::string_view field) {
  Add(static_cast<int64_t>(field.size()));
  while (!field.empty()) {
    const std::string_view word = field.substr(0, sizeof(uint64_t));
    Add(static_cast<int64_t>(Word(word)));
    field.remove_prefix(word.size());
  }
  return *this;
}

Checksum& Checksum::Add(int64_t field) {
  state_ = (state_ ^ static_cast<uint64_t>(field)) * kPrime;
  state_ ^= state_ >> 32;  // or the upper bits would never reach the lower
  return *this;
}

std::string KeyToBytes(std::string_view key) {
  return absl::HexStringToBytes({key.data(), key.size()});
}

std::string BytesToKey(std::string_view bytes) {
  return absl::BytesToHexString({bytes.data(), bytes.size()});
}

int64_t ToUnixNs(store::Nanoseconds time) {
  return time.time_since_epoch().count();
}

store::Nanoseconds FromUnixNs(int64_t nanoseconds) {
  return store::Nanoseconds(std::chrono::nanoseconds(nanoseconds));
}

int64_t ToUnixDay(store::Nanoseconds time) {
  return std::chrono::floor<std::chrono::days>(time).time_since_epoch().count();
}

std::string SerializeResult(const v1::ProfileResult& result) {
  v1::ProfileResult without_key = result;
  without_key.clear_key();
  return without_key.SerializeAsString();
}

std::string ParseResult(std::string_view bytes, const std::string& key,
                        int64_t outcome, v1::ProfileResult& result) {
  if (!result.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return "it does not parse";
  }
  if (!result.key().empty() && result.key() != key) return "it has another key";
  if (result.outcome() != outcome) return "it has another outcome";
  result.set_key(key);
  return store::FindFault(result);
}

}  // namespace meshwright::tables
