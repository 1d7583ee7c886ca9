#include "worker/collect/cupti_collector.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/shared_library.h"
#include "base/status_macros.h"

namespace meshwright::worker::collect {

// As CUPTI declares them: results and kinds are int, records and contexts are
// pointers.
struct CuptiFunctions {
  using RequestBuffer = void(uint8_t** buffer, size_t* size, size_t* records);
  using TakeBuffer = void(void* context, uint32_t stream, uint8_t* buffer,
                          size_t size, size_t valid);
  int (*register_callbacks)(RequestBuffer*, TakeBuffer*) = nullptr;
  int (*enable)(int kind) = nullptr;
  int (*disable)(int kind) = nullptr;
  int (*flush)(uint32_t flags) = nullptr;
  int (*next_record)(uint8_t* buffer, size_t valid, uint8_t** record) = nullptr;
  int (*dropped)(void* context, uint32_t stream, size_t* count) = nullptr;
  int (*describe)(int result, const char** text) = nullptr;
};

namespace {

constexpr int kMemcpy = 1;
constexpr int kMemset = 2;
constexpr int kConcurrentKernel = 10;
constexpr int kKinds[] = {kMemcpy, kMemset, kConcurrentKernel};
constexpr uint32_t kFlushForced = 1;
constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr size_t kAlignment = 8;

// CUPTI's callbacks carry no argument of ours, so one session at a time is
// here. Its threads call them.
struct Session {
  std::mutex mutex;
  const CuptiFunctions* functions = nullptr;  // null: none is open
  Collection collection;
};

Session& GetSession() {
  static auto* const session = new Session();
  return *session;
}

template <typename T>
T Read(const uint8_t* record, size_t offset) {
  T value;
  std::memcpy(&value, record + offset, sizeof(value));
  return value;
}

// The fields that all layouts of a kind share.
std::optional<KernelRecord> ReadRecord(const uint8_t* record) {
  KernelRecord read;
  read.start_ns = static_cast<int64_t>(Read<uint64_t>(record, 16));
  read.end_ns = static_cast<int64_t>(Read<uint64_t>(record, 24));
  switch (Read<int32_t>(record, 0)) {
    case kConcurrentKernel: {
      read.device = Read<uint32_t>(record, 40);
      read.stream = Read<uint32_t>(record, 48);
      const auto* const name = Read<const char*>(record, 104);
      if (name != nullptr) read.name = name;
      return read;
    }
    case kMemcpy:
      read.name = "Memcpy";
      break;
    case kMemset:
      read.name = "Memset";
      break;
    default:
      return std::nullopt;
  }
  read.kind = KernelRecord::Kind::kCopy;
  read.device = Read<uint32_t>(record, 32);
  read.stream = Read<uint32_t>(record, 40);
  return read;
}

void HandOutBuffer(uint8_t** buffer, size_t* size, size_t* records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *records = 0;  // as many as fit
}

void TakeBuffer(void* context, uint32_t stream, uint8_t* buffer,
                size_t /*size*/, size_t valid) {
  Session& session = GetSession();
  {
    const std::lock_guard lock(session.mutex);
    if (session.functions != nullptr) {
      uint8_t* record = nullptr;
      while (session.functions->next_record(buffer, valid, &record) == 0) {
        if (auto read = ReadRecord(record)) {
          session.collection.records.push_back(*std::move(read));
        }
      }
      size_t dropped = 0;
      if (session.functions->dropped(context, stream, &dropped) == 0) {
        session.collection.dropped += static_cast<int64_t>(dropped);
      }
    }
  }
  std::free(buffer);
}

// CUPTI_ERROR_INSUFFICIENT_PRIVILEGES.
constexpr int kMayNotProfile = 35;

absl::Status ToStatus(const CuptiFunctions& functions, const char* call,
                      int result) {
  if (result == 0) return {};
  const char* text = nullptr;
  functions.describe(result, &text);
  return absl::FailedPreconditionError(absl::StrCat(
      "CUPTI's ", call, ": ", text == nullptr ? "error" : text, " (", result,
      ")",
      result == kMayNotProfile ? "; load the driver's module nvidia with "
                                 "NVreg_RestrictProfilingToAdminUsers=0"
                               : ""));
}

// The copy that is mapped, else the one that pip puts beside the plugin, else
// the loader's.
absl::StatusOr<base::SharedLibrary> OpenCupti(const std::string& plugin_path) {
  static constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};
  const std::string remedy =
      "install nvidia-cuda-cupti beside the plugin, else kernels are timed by "
      "the plugin's profiler alone";
  for (const char* const name : kNames) {
    void* const mapped = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (mapped == nullptr) continue;
    dlclose(mapped);  // Open counts it once more
    return base::SharedLibrary::Open(name, remedy);
  }
  for (const std::string& folder :
       base::ListPipFolders(plugin_path, {"cu13", "cuda_cupti"})) {
    for (const char* const name : kNames) {
      std::error_code none;
      const std::string path = absl::StrCat(folder, "/", name);
      if (std::filesystem::exists(path, none)) {
        return base::SharedLibrary::Open(path, remedy);
      }
    }
  }
  auto found = base::SharedLibrary::Open(kNames[0], remedy);
  if (found.ok()) return found;
  return base::SharedLibrary::Open(kNames[1], remedy);
}

}  // namespace

CuptiCollector::CuptiCollector(std::unique_ptr<CuptiFunctions> functions)
    : functions_(std::move(functions)) {}

absl::StatusOr<std::unique_ptr<CuptiCollector>> CuptiCollector::Open(
    const std::string& plugin_path) {
  ASSIGN_OR_RETURN(const base::SharedLibrary library, OpenCupti(plugin_path));
  auto functions = std::make_unique<CuptiFunctions>();
  RETURN_IF_ERROR(library.Find("cuptiActivityRegisterCallbacks",
                               &functions->register_callbacks));
  RETURN_IF_ERROR(library.Find("cuptiActivityEnable", &functions->enable));
  RETURN_IF_ERROR(library.Find("cuptiActivityDisable", &functions->disable));
  RETURN_IF_ERROR(library.Find("cuptiActivityFlushAll", &functions->flush));
  RETURN_IF_ERROR(
      library.Find("cuptiActivityGetNextRecord", &functions->next_record));
  RETURN_IF_ERROR(
      library.Find("cuptiActivityGetNumDroppedRecords", &functions->dropped));
  RETURN_IF_ERROR(library.Find("cuptiGetResultString", &functions->describe));
  return std::unique_ptr<CuptiCollector>(
      new CuptiCollector(std::move(functions)));
}

CuptiCollector::~CuptiCollector() {
  Session& session = GetSession();
  const std::lock_guard lock(session.mutex);
  if (session.functions == functions_.get()) session.functions = nullptr;
}

absl::Status CuptiCollector::Start() {
  Session& session = GetSession();
  {
    const std::lock_guard lock(session.mutex);
    session.functions = functions_.get();
    session.collection = {};
  }
  // Records dropped before are not of this session.
  size_t dropped = 0;
  functions_->dropped(nullptr, 0, &dropped);
  RETURN_IF_ERROR(
      ToStatus(*functions_, "cuptiActivityRegisterCallbacks",
               functions_->register_callbacks(HandOutBuffer, TakeBuffer)));
  for (const int kind : kKinds) {
    absl::Status enabled =
        ToStatus(*functions_, "cuptiActivityEnable", functions_->enable(kind));
    if (enabled.ok()) continue;
    // Nobody stops a session that did not start, and what is timed next would
    // be timed with collection on.
    Stop().IgnoreError();
    return enabled;
  }
  return {};
}

absl::StatusOr<Collection> CuptiCollector::Stop() {
  absl::Status status = ToStatus(*functions_, "cuptiActivityFlushAll",
                                 functions_->flush(kFlushForced));
  for (const int kind : kKinds) {
    const absl::Status disabled = ToStatus(*functions_, "cuptiActivityDisable",
                                           functions_->disable(kind));
    if (status.ok()) status = disabled;
  }
  Session& session = GetSession();
  const std::lock_guard lock(session.mutex);
  session.functions = nullptr;
  if (!status.ok()) return status;
  return std::exchange(session.collection, {});
}

}  // namespace meshwright::worker::collect
