#include "worker/detect/tcp_item.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/status_macros.h"
#include "worker/detect/steps.h"

namespace meshwright::worker::detect {
namespace {

using cluster::Operation;

constexpr int64_t kMaximumRepetitions = 1'000'000;
// Of a run before the timed ones, which also makes the members begin together.
constexpr int64_t kWarmUpBytes = 64 << 10;
constexpr int64_t kDone = -1;

absl::Status Repeat(TcpGroup& group, const Item& item, int rank, int64_t bytes,
                    int64_t repetitions, TcpGroup::Clock::duration patience,
                    Buffers& buffers) {
  const int devices = static_cast<int>(item.members.size());
  int root = 0;
  for (int64_t i = 0; i < repetitions; ++i) {
    for (const Step& step :
         MakeSteps(*item.operation, devices, rank, bytes, root)) {
      const auto host = [&](std::optional<int> member) -> std::optional<int> {
        if (!member.has_value()) return std::nullopt;
        return item.members[*member];
      };
      const auto size = static_cast<size_t>(step.bytes);
      RETURN_IF_ERROR(group.Exchange(
          host(step.to), std::span(buffers.out).first(size), host(step.from),
          std::span(buffers.in).first(size), patience));
    }
    root = FindNextRoot(devices, root);
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::byte> Encode(const Item& item) {
  std::vector<int64_t> words(kItemBytes / 8, 0);
  words[0] = item.operation.has_value() ? static_cast<int64_t>(*item.operation)
                                        : kDone;
  words[1] = item.bytes;
  words[2] = item.repetitions;
  words[3] = static_cast<int64_t>(item.members.size());
  std::copy(item.members.begin(), item.members.end(), words.begin() + 4);
  std::vector<std::byte> bytes(kItemBytes);
  for (size_t i = 0; i < kItemBytes; ++i) {
    bytes[i] = static_cast<std::byte>(static_cast<uint64_t>(words[i / 8]) >>
                                      i % 8 * 8);
  }
  return bytes;
}

absl::StatusOr<Item> Decode(const std::vector<std::byte>& bytes, int hosts,
                            int64_t maximum_bytes) {
  std::vector<uint64_t> words(kItemBytes / 8, 0);
  for (size_t i = 0; i < std::min(bytes.size(), kItemBytes); ++i) {
    words[i / 8] |= static_cast<uint64_t>(bytes[i]) << i % 8 * 8;
  }
  const auto word = [&](size_t i) { return static_cast<int64_t>(words[i]); };
  Item item;
  if (word(0) == kDone) return item;
  item.bytes = word(1);
  item.repetitions = word(2);
  const int64_t count = word(3);
  bool good =
      word(0) >= 0 && word(0) < std::ssize(cluster::kOperations) &&
      item.bytes >= 1 && item.bytes <= maximum_bytes && item.repetitions >= 1 &&
      item.repetitions <= kMaximumRepetitions && count >= 2 && count <= hosts;
  for (int64_t i = 0; good && i < count; ++i) {
    const int64_t member = word(4 + static_cast<size_t>(i));
    good = member >= 0 && member < hosts &&
           std::ranges::count(item.members, member) == 0;
    item.members.push_back(static_cast<int>(member));
  }
  if (!good) {
    return absl::DataLossError(
        "the first host asks for what is no timing; run the same version "
        "everywhere");
  }
  item.operation = static_cast<Operation>(word(0));
  return item;
}

absl::StatusOr<absl::Duration> RunItem(TcpGroup& group, const Item& item,
                                       TcpGroup::Clock::duration patience,
                                       Buffers& buffers) {
  const auto self = std::ranges::find(item.members, group.self());
  const int rank = static_cast<int>(self - item.members.begin());
  const auto size = static_cast<size_t>(item.bytes);
  if (buffers.out.size() < size) {
    buffers.out.resize(size);
    buffers.in.resize(size);
  }
  // The root of a broadcast waits for nobody until all hosts were it once.
  const int64_t warm_ups =
      item.operation == Operation::kBroadcast ? std::ssize(item.members) : 1;
  RETURN_IF_ERROR(Repeat(group, item, rank, std::min(item.bytes, kWarmUpBytes),
                         warm_ups, patience, buffers));
  const auto begin = TcpGroup::Clock::now();
  RETURN_IF_ERROR(Repeat(group, item, rank, item.bytes, item.repetitions,
                         patience, buffers));
  return absl::FromChrono(TcpGroup::Clock::now() - begin);
}

}  // namespace meshwright::worker::detect
