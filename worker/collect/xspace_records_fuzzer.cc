// libFuzzer on the reader of XLA's profile, and on the sums over what it read.
//
// Concept: a plugin's bytes are parsed as a message and read as kernels. Bytes
// changed at random rarely stay a profile, so the mutator changes the message:
// times, streams, names and their references. Raw bytes are changed now and
// then, for the parser. Whatever was read, no share of the time is negative,
// and all of them are the span.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "proto/hlo/xplane.pb.h"
#include "worker/collect/kernel_times.h"
#include "worker/collect/xspace_records.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t capacity);

namespace meshwright::worker::collect {
namespace {

using Random = std::minstd_rand;

size_t Below(Random& random, size_t limit) { return random() % limit; }

void Require(bool holds) {
  if (!holds) std::abort();
}

// A millisecond from the beginnings of the first records on.
std::vector<Window> MakeWindows(const Collection& collection) {
  constexpr size_t kWindows = 4;
  std::vector<Window> windows;
  for (const KernelRecord& record : collection.records) {
    if (windows.size() == kWindows) break;
    if (record.start_ns <= 0 || record.start_ns > INT64_MAX / 2) continue;
    windows.push_back({record.start_ns, record.start_ns + 1'000'000});
  }
  std::sort(
      windows.begin(), windows.end(),
      [](const Window& a, const Window& b) { return a.begin_ns < b.begin_ns; });
  return windows;
}

void Exercise(const hlo::XSpace& space) {
  const Collection collection = ReadXSpace(space);
  const v1::KernelTimes times =
      SumKernels(collection, MakeWindows(collection), {"all-reduce.3"});
  Require(times.compute_ns() >= 0 && times.communication_ns() >= 0);
  Require(times.overlap_ns() >= 0 && times.lead_ns() >= 0);
  Require(times.copy_ns() >= 0 && times.idle_ns() >= 0);
  Require(times.compute_ns() + times.communication_ns() - times.overlap_ns() +
              times.copy_ns() + times.idle_ns() ==
          times.span_ns());
  for (const v1::HotKernel& kernel : times.hottest()) {
    Require(kernel.total_ns() >= 0 && kernel.count() > 0);
  }
}

int64_t Number(Random& random) {
  static constexpr int64_t kNumbers[] = {0,
                                         1,
                                         -1,
                                         9,
                                         14,
                                         21,
                                         22,
                                         999,
                                         1'000,
                                         736'000,
                                         1'312'000,
                                         int64_t{1} << 40,
                                         INT64_MAX,
                                         INT64_MIN,
                                         INT64_MAX - 1,
                                         1'795'726'091'783'693'308};
  const size_t which = Below(random, std::size(kNumbers) + 2);
  return which < std::size(kNumbers)
             ? kNumbers[which]
             : static_cast<int64_t>(uint64_t{random()} << Below(random, 40));
}

std::string Word(Random& random) {
  static constexpr const char* kWords[] = {
      "",       "/device:GPU:0", "Stream #1", "XLA Ops",     "hlo_op",
      "Memset", "MemcpyD2D",     "nccl",      "all-reduce.3"};
  return Below(random, 16) == 0 ? std::string(3'000, 'x')
                                : kWords[Below(random, std::size(kWords))];
}

// One of a list, which gets its first if it has none.
template <typename List>
auto& Pick(Random& random, List& list) {
  if (list.empty()) list.Add();
  return *list.Mutable(
      static_cast<int>(Below(random, static_cast<size_t>(list.size()))));
}

void EditEvent(Random& random, hlo::XEvent& event) {
  switch (Below(random, 5)) {
    case 0:
      event.set_metadata_id(Number(random));
      break;
    case 1:
      event.set_offset_ps(Number(random));
      break;
    case 2:
      event.set_duration_ps(Number(random));
      break;
    case 3:
      Pick(random, *event.mutable_stats()).set_metadata_id(Number(random));
      break;
    default: {
      hlo::XStat& stat = Pick(random, *event.mutable_stats());
      if (Below(random, 2) == 0)
        stat.set_str_value(Word(random));
      else
        stat.set_ref_value(static_cast<uint64_t>(Number(random)));
    }
  }
}

void Edit(Random& random, hlo::XSpace& space) {
  hlo::XPlane& plane = Pick(random, *space.mutable_planes());
  hlo::XLine& line = Pick(random, *plane.mutable_lines());
  switch (Below(random, 9)) {
    case 0:
      plane.set_name(Word(random));
      break;
    case 1:
      (*plane.mutable_event_metadata())[Number(random)].set_name(Word(random));
      break;
    case 2:
      (*plane.mutable_stat_metadata())[Number(random)].set_name(Word(random));
      break;
    case 3:
      line.set_name(Word(random));
      break;
    case 4:
      line.set_timestamp_ns(Number(random));
      break;
    case 5: {
      const hlo::XLine copy = line;
      *plane.add_lines() = copy;
      break;
    }
    case 6: {
      const hlo::XEvent copy = Pick(random, *line.mutable_events());
      *line.add_events() = copy;
      break;
    }
    default:
      EditEvent(random, Pick(random, *line.mutable_events()));
  }
}

}  // namespace
}  // namespace meshwright::worker::collect

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  meshwright::hlo::XSpace space;
  if (space.ParseFromArray(data, static_cast<int>(size))) {
    meshwright::worker::collect::Exercise(space);
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t capacity, unsigned seed) {
  namespace collect = meshwright::worker::collect;
  collect::Random random(seed);
  meshwright::hlo::XSpace space;
  if (collect::Below(random, 16) == 0 ||
      !space.ParseFromArray(data, static_cast<int>(size))) {
    return LLVMFuzzerMutate(data, size, capacity);
  }
  const size_t edits = 1 + collect::Below(random, 4);
  for (size_t i = 0; i < edits; ++i) collect::Edit(random, space);
  const std::string bytes = space.SerializeAsString();
  if (bytes.empty() || bytes.size() > capacity) {
    return LLVMFuzzerMutate(data, size, capacity);
  }
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
