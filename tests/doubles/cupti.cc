// A libcupti of our own: it hands out activity records of the real layout, as a
// test says.
//
// Concept: a test places kernels, copies and drops; cuptiActivityFlushAll asks
// for buffers and delivers what was placed while its kind was enabled, in
// buffers of `cuptiDouble_SetRecordsPerBuffer` records each. Records placed as
// late come with the flush after.
// Source: cupti_activity.h of CUDA 13.5 (CUpti_ActivityKernel13,
// CUpti_ActivityMemcpy7, CUpti_ActivityMemset5), to the fields that are read.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

struct __attribute__((packed, aligned(8))) Kernel {
  int32_t kind;
  uint8_t cache_configuration;
  uint8_t shared_memory_configuration;
  uint16_t registers;
  int32_t partitioned_cache_requested;
  int32_t partitioned_cache_executed;
  uint64_t start;
  uint64_t end;
  uint64_t completed;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  int32_t grid[3];
  int32_t block[3];
  int32_t static_shared_memory;
  int32_t dynamic_shared_memory;
  uint32_t local_memory_per_thread;
  uint32_t local_memory_total;
  uint32_t correlation;
  int64_t grid_id;
  const char* name;
  uint8_t newer[128];
};
static_assert(offsetof(Kernel, start) == 16);
static_assert(offsetof(Kernel, device) == 40);
static_assert(offsetof(Kernel, stream) == 48);
static_assert(offsetof(Kernel, correlation) == 92);
static_assert(offsetof(Kernel, name) == 104);

struct __attribute__((packed, aligned(8))) Transfer {
  int32_t kind;
  uint8_t what[4];
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;
  uint8_t newer[64];
};
static_assert(offsetof(Transfer, start) == 16);
static_assert(offsetof(Transfer, device) == 32);
static_assert(offsetof(Transfer, stream) == 40);

constexpr int kMaxLimitReached = 12;
constexpr int kConcurrentKernel = 10;

struct Placed {
  int kind;
  uint64_t start;
  uint64_t end;
  uint32_t stream;
  std::string name;
  uint32_t device;
};

using RequestBuffer = void(uint8_t**, size_t*, size_t*);
using TakeBuffer = void(void*, uint32_t, uint8_t*, size_t, size_t);

struct State {
  std::mutex mutex;
  RequestBuffer* request = nullptr;
  TakeBuffer* take = nullptr;
  std::set<int> enabled;
  std::deque<Placed> placed;
  std::deque<Placed> late;
  std::deque<std::string> names;  // outlive the records
  size_t dropped = 0;
  size_t records_per_buffer = 1000;
  int refusal = 0;  // of kernels, by cuptiActivityEnable
  uint32_t device = 0;
};

State& GetState() {
  static auto* const state = new State();
  return *state;
}

size_t SizeOf(const uint8_t* record) {
  int32_t kind = 0;
  std::memcpy(&kind, record, sizeof(kind));
  return kind == kConcurrentKernel ? sizeof(Kernel) : sizeof(Transfer);
}

size_t Write(State& state, const Placed& it, uint8_t* at) {
  if (it.kind == kConcurrentKernel) {
    Kernel record = {};
    record.kind = it.kind;
    record.start = it.start;
    record.end = it.end;
    record.device = it.device;
    record.stream = it.stream;
    record.name = state.names.emplace_back(it.name).c_str();
    std::memcpy(at, &record, sizeof(record));
    return sizeof(record);
  }
  Transfer record = {};
  record.kind = it.kind;
  record.start = it.start;
  record.end = it.end;
  record.device = it.device;
  record.stream = it.stream;
  std::memcpy(at, &record, sizeof(record));
  return sizeof(record);
}

}  // namespace

extern "C" {

void cuptiDouble_Reset() {
  State& state = GetState();
  const std::lock_guard lock(state.mutex);
  state.enabled.clear();
  state.placed.clear();
  state.late.clear();
  state.dropped = 0;
  state.records_per_buffer = 1000;
  state.refusal = 0;
  state.device = 0;
}

// Not delivered where the kind is not enabled.
void cuptiDouble_Place(int kind, uint64_t start, uint64_t end, uint32_t stream,
                       const char* name, bool late) {
  State& state = GetState();
  const std::lock_guard lock(state.mutex);
  if (!state.enabled.contains(kind)) return;
  (late ? state.late : state.placed)
      .push_back({kind, start, end, stream, name, state.device});
}

// Of what is placed from here on.
void cuptiDouble_SetDevice(uint32_t device) { GetState().device = device; }

void cuptiDouble_Drop(size_t records) { GetState().dropped += records; }

void cuptiDouble_SetRecordsPerBuffer(size_t records) {
  GetState().records_per_buffer = records;
}

// Of kernels; copies are collected all the same.
void cuptiDouble_RefuseToEnable(int result) { GetState().refusal = result; }

size_t cuptiDouble_CountEnabled() {
  State& state = GetState();
  const std::lock_guard lock(state.mutex);
  return state.enabled.size();
}

int cuptiActivityRegisterCallbacks(RequestBuffer* request, TakeBuffer* take) {
  GetState().request = request;
  GetState().take = take;
  return 0;
}

int cuptiActivityEnable(int kind) {
  State& state = GetState();
  const std::lock_guard lock(state.mutex);
  if (kind == kConcurrentKernel && state.refusal != 0) return state.refusal;
  state.enabled.insert(kind);
  return 0;
}

int cuptiActivityDisable(int kind) {
  State& state = GetState();
  const std::lock_guard lock(state.mutex);
  state.enabled.erase(kind);
  return 0;
}

int cuptiActivityFlushAll(uint32_t) {
  State& state = GetState();
  std::deque<Placed> placed;
  {
    const std::lock_guard lock(state.mutex);
    placed.swap(state.placed);
    state.placed.swap(state.late);
  }
  while (!placed.empty()) {
    uint8_t* buffer = nullptr;
    size_t size = 0;
    size_t most = 0;
    state.request(&buffer, &size, &most);
    if (buffer == nullptr) return 8;
    size_t valid = 0;
    for (size_t i = 0; i < state.records_per_buffer && !placed.empty() &&
                       valid + sizeof(Kernel) <= size;
         ++i) {
      valid += Write(state, placed.front(), buffer + valid);
      placed.pop_front();
    }
    state.take(nullptr, 0, buffer, size, valid);
  }
  return 0;
}

int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid,
                               uint8_t** record) {
  uint8_t* const next = *record == nullptr ? buffer : *record + SizeOf(*record);
  if (next >= buffer + valid) return kMaxLimitReached;
  *record = next;
  return 0;
}

int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) {
  *dropped = GetState().dropped;
  GetState().dropped = 0;
  return 0;
}

int cuptiGetResultString(int result, const char** text) {
  *text = result == 35 ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                       : "CUPTI_ERROR_UNKNOWN";
  return 0;
}

}  // extern "C"
