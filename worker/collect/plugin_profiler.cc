#include "worker/collect/plugin_profiler.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "proto/hlo/xplane.pb.h"
#include "worker/collect/xspace_records.h"

namespace meshwright::worker::collect {
namespace {

constexpr int kProfilerExtension = 1;

// Every argument struct of the extension begins like this; the functions check
// its size, so each call states that of its own struct.
struct SessionArguments {
  size_t size = sizeof(SessionArguments);
  void* session = nullptr;
};

struct CreateArguments {
  size_t size = sizeof(CreateArguments);
  const char* options = nullptr;
  size_t options_size = 0;
  void* session = nullptr;  // out
};

struct CollectArguments {
  size_t size = sizeof(CollectArguments);
  void* session = nullptr;
  uint8_t* buffer = nullptr;  // null: only the size is asked
  size_t buffer_size = 0;     // out
};

struct ErrorArguments {
  size_t size = sizeof(ErrorArguments);
  void* reserved = nullptr;
  void* error = nullptr;
};

struct MessageArguments {
  size_t size = sizeof(MessageArguments);
  void* reserved = nullptr;
  const void* error = nullptr;
  const char* message = nullptr;  // out
  size_t message_size = 0;        // out
};

// The extension: the base of all of them, then its table.
struct ProfilerExtension {
  size_t size;
  int type;
  void* next;
  const ProfilerTable* table;
};

}  // namespace

struct ProfilerTable {
  size_t size;
  void* reserved;
  void (*destroy_error)(ErrorArguments*);
  void (*read_message)(MessageArguments*);
  void* read_code;
  void* (*create)(CreateArguments*);
  void* (*destroy)(SessionArguments*);
  void* (*start)(SessionArguments*);
  void* (*stop)(SessionArguments*);
  void* (*collect)(CollectArguments*);
};

namespace {

absl::Status TakeProfilerError(const ProfilerTable& table, void* error) {
  if (error == nullptr) return {};
  MessageArguments message;
  message.error = error;
  table.read_message(&message);
  const std::string text(message.message, message.message_size);
  ErrorArguments destroy;
  destroy.error = error;
  table.destroy_error(&destroy);
  return absl::FailedPreconditionError(
      absl::StrCat("the plugin's profiler: ", text.substr(0, text.find('\n'))));
}

}  // namespace

absl::StatusOr<std::unique_ptr<PluginProfiler>> PluginProfiler::Open(
    std::shared_ptr<const pjrt::Plugin> plugin) {
  const void* const found = plugin->FindExtension(kProfilerExtension);
  const auto* const extension = static_cast<const ProfilerExtension*>(found);
  if (extension == nullptr || extension->size < sizeof(ProfilerExtension) ||
      extension->table == nullptr ||
      extension->table->size < sizeof(ProfilerTable)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the plugin ", plugin->path(),
                     " has no profiler extension, so kernels have no HLO "
                     "operation"));
  }
  return std::unique_ptr<PluginProfiler>(
      new PluginProfiler(std::move(plugin), extension->table));
}

PluginProfiler::~PluginProfiler() { Destroy(); }

void PluginProfiler::Destroy() {
  if (session_ == nullptr) return;
  SessionArguments arguments;
  arguments.session = std::exchange(session_, nullptr);
  TakeProfilerError(*table_, table_->destroy(&arguments)).IgnoreError();
}

absl::Status PluginProfiler::Start() {
  Destroy();
  hlo::ProfileOptions options;
  options.set_version(1);
  options.set_device_tracer_level(1);
  const std::string serialized = options.SerializeAsString();
  CreateArguments create;
  create.options = serialized.data();
  create.options_size = serialized.size();
  RETURN_IF_ERROR(TakeProfilerError(*table_, table_->create(&create)));
  session_ = create.session;
  SessionArguments start;
  start.session = session_;
  return TakeProfilerError(*table_, table_->start(&start));
}

absl::StatusOr<std::string> PluginProfiler::Collect() {
  SessionArguments stop;
  stop.session = session_;
  RETURN_IF_ERROR(TakeProfilerError(*table_, table_->stop(&stop)));
  CollectArguments collect;
  collect.session = session_;
  RETURN_IF_ERROR(TakeProfilerError(*table_, table_->collect(&collect)));
  // The plugin may hand its own buffer out, or want one to fill.
  std::string bytes(collect.buffer_size, '\0');
  if (collect.buffer != nullptr) {
    std::memcpy(bytes.data(), collect.buffer, collect.buffer_size);
    return bytes;
  }
  collect.buffer = reinterpret_cast<uint8_t*>(bytes.data());
  RETURN_IF_ERROR(TakeProfilerError(*table_, table_->collect(&collect)));
  return bytes;
}

absl::StatusOr<Collection> PluginProfiler::Stop() {
  const absl::Cleanup destroy = [this] { Destroy(); };
  ASSIGN_OR_RETURN(const std::string bytes, Collect());
  hlo::XSpace space;
  // XLA's plugins count a 0 behind the message.
  const bool has_end = !bytes.empty() && bytes.back() == '\0';
  const auto size = static_cast<int>(bytes.size());
  if (!space.ParseFromArray(bytes.data(), size) &&
      !(has_end && space.ParseFromArray(bytes.data(), size - 1))) {
    return absl::InternalError("the plugin's profile is no XSpace");
  }
  return ReadXSpace(space);
}

}  // namespace meshwright::worker::collect
