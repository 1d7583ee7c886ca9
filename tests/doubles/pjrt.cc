// A PJRT plugin of our own: devices that sleep instead of computing.
//
// Concept: it is loaded as any plugin is. Compiling and running take time by a
// module's size; a device runs one program after another and is asynchronous,
// as accelerators are. A word in its module's name says what a program does:
//
//   refuse    the compiler refuses it      exhaust   a run is out of memory
//   hang      a run never ends             crash     a run ends the process
//   crowded   compiling it runs out of the device's memory
//   lie       its memory is said to be none
//   fault     a run fails; what the driver prints says more
//   spoil     its outputs are NaN, on the last node
//
// With several nodes, its devices are a part of the mesh. The clients meet
// through the key-value callbacks, and so does every run of a program for more
// devices than are here: a run waits until all clients are at it, and fails
// where another one is at another program.
//
// In -> Out: the file pjrt_double.conf beside the library has the figures, a
// "key value" a line (Settings); with `log FILE` it appends "compile BEGIN END"
// and "run BEGIN END DEVICES" there, in nanoseconds of the steady clock.
// Outputs are zeros. Source: pjrt_c_api.h.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pjrt_c_api.h"
#include "tests/doubles/pjrt_module.h"

namespace meshwright::doubles {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

struct Settings {
  int64_t devices = 2;
  std::string platform = "cuda";
  int64_t memory_bytes = int64_t{1} << 30;
  int64_t compile_ns = 1'000'000;
  int64_t compile_ns_per_instruction = 0;
  bool compile_serial = false;  // compilations wait for each other
  int64_t run_ns = 100'000;
  int64_t run_ns_per_element = 0;
  std::string initialize;  // "refuse", "crash"; empty: it succeeds
  std::string client;      // "refuse": it finds no device
  std::string crash;       // programs with this in their name end the process
  std::string log;

  static Settings Read();
};

Settings Settings::Read() {
  Settings settings;
  static int here = 0;
  Dl_info library;
  if (dladdr(&here, &library) == 0) return settings;
  const std::string path = library.dli_fname;
  std::ifstream file(path.substr(0, path.rfind('/')) + "/pjrt_double.conf");
  std::string key, value;
  while (file >> key >> value) {
    const int64_t number = std::atoll(value.c_str());
    if (key == "devices") settings.devices = number;
    if (key == "platform") settings.platform = value;
    if (key == "memory_bytes") settings.memory_bytes = number;
    if (key == "compile_ns") settings.compile_ns = number;
    if (key == "compile_ns_per_instruction") {
      settings.compile_ns_per_instruction = number;
    }
    if (key == "compile_serial") settings.compile_serial = number != 0;
    if (key == "run_ns") settings.run_ns = number;
    if (key == "run_ns_per_element") settings.run_ns_per_element = number;
    if (key == "initialize") settings.initialize = value;
    if (key == "client") settings.client = value;
    if (key == "crash") settings.crash = value;
    if (key == "log") settings.log = value;
  }
  return settings;
}

struct Program {
  Module module;
  int64_t partitions = 1;
  std::string code;

  bool Does(const char* word) const {
    return module.name.find(word) != std::string::npos;
  }
};

}  // namespace
}  // namespace meshwright::doubles

namespace doubles = meshwright::doubles;

struct PJRT_Error {
  PJRT_Error_Code code;
  std::string message;
};

struct PJRT_Event {
  doubles::Clock::time_point at;
  bool is_never = false;
};

struct PJRT_DeviceDescription {
  int id = 0;
  std::string name;
};

struct PJRT_Device {
  PJRT_DeviceDescription description;
  PJRT_Client* client = nullptr;
  // Guarded by the client's mutex.
  doubles::Clock::time_point busy_until{};
  int64_t used_bytes = 0;
};

struct PJRT_Client {
  doubles::Settings settings;
  std::vector<std::unique_ptr<PJRT_Device>> devices;
  std::vector<PJRT_Device*> all;
  size_t first = 0;  // of those that are here
  size_t addressable = 0;
  std::mutex mutex;
  std::mutex compiler;  // where compilations wait for each other
  // Of several clients; `nodes` is 1 where this one is alone.
  int64_t node = 0;
  int64_t nodes = 1;
  int64_t meetings = 0;
  PJRT_KeyValueGetCallback get = nullptr;
  void* get_argument = nullptr;
  PJRT_KeyValuePutCallback put = nullptr;
  void* put_argument = nullptr;

  void Log(const std::string& line) {
    if (settings.log.empty()) return;
    const std::lock_guard lock(mutex);
    std::ofstream(settings.log, std::ios::app) << line << "\n";
  }
};

struct PJRT_Buffer {
  PJRT_Device* device = nullptr;
  PJRT_Buffer_Type type = PJRT_Buffer_Type_INVALID;
  std::vector<int64_t> dimensions;
  int64_t size = 0;
  std::string bytes;  // empty: zeros
  bool is_spoiled = false;
  doubles::Clock::time_point ready{};
  bool is_consumed = false;
};

struct PJRT_Executable {
  std::shared_ptr<const doubles::Program> program;
};

struct PJRT_LoadedExecutable {
  PJRT_Client* client = nullptr;
  std::shared_ptr<const doubles::Program> program;
};

struct PJRT_SerializedExecutable {
  std::string bytes;
};

namespace meshwright::doubles {
namespace {

PJRT_Error* Fail(PJRT_Error_Code code, std::string message) {
  return new PJRT_Error{code, std::move(message)};
}

std::string Count(Clock::time_point at) {
  return std::to_string(at.time_since_epoch().count());
}

// ---- errors and events

void DestroyError(PJRT_Error_Destroy_Args* args) { delete args->error; }
void GetMessage(PJRT_Error_Message_Args* args) {
  args->message = args->error->message.data();
  args->message_size = args->error->message.size();
}
PJRT_Error* GetCode(PJRT_Error_GetCode_Args* args) {
  args->code = args->error->code;
  return nullptr;
}
PJRT_Error* Initialize(PJRT_Plugin_Initialize_Args*) {
  const std::string does = Settings::Read().initialize;
  if (does == "crash") std::abort();
  if (does != "refuse") return nullptr;
  return Fail(PJRT_Error_Code_FAILED_PRECONDITION,
              "the driver is older than the library wants");
}
PJRT_Error* DestroyEvent(PJRT_Event_Destroy_Args* args) {
  delete args->event;
  return nullptr;
}
PJRT_Error* AwaitEvent(PJRT_Event_Await_Args* args) {
  while (args->event->is_never)
    std::this_thread::sleep_for(std::chrono::hours(1));
  std::this_thread::sleep_until(args->event->at);
  return nullptr;
}

// ---- other clients of the mesh

constexpr int kMeetingMilliseconds = 60'000;

PJRT_Error* MakeError(PJRT_Error_Code code, const char* message, size_t size) {
  return Fail(code, std::string(message, size));
}
PJRT_CallbackError make_error = MakeError;

// What every client says, by node; each says as much, in the same order.
PJRT_Error* Meet(PJRT_Client* client, const std::string& own,
                 std::vector<std::string>& said) {
  const std::string prefix =
      "double/" + std::to_string(client->meetings++) + "/";
  const std::string own_key = prefix + std::to_string(client->node);
  PJRT_KeyValuePutCallback_Args put = {};
  put.struct_size = PJRT_KeyValuePutCallback_Args_STRUCT_SIZE;
  put.key = own_key.data();
  put.key_size = own_key.size();
  put.value = own.data();
  put.value_size = own.size();
  put.callback_error = &make_error;
  put.user_arg = client->put_argument;
  if (PJRT_Error* const error = client->put(&put)) return error;
  for (int64_t node = 0; node < client->nodes; ++node) {
    const std::string key = prefix + std::to_string(node);
    PJRT_KeyValueGetCallback_Args get = {};
    get.struct_size = PJRT_KeyValueGetCallback_Args_STRUCT_SIZE;
    get.key = key.data();
    get.key_size = key.size();
    get.timeout_in_ms = kMeetingMilliseconds;
    get.callback_error = &make_error;
    get.user_arg = client->get_argument;
    if (PJRT_Error* const error = client->get(&get)) return error;
    said.emplace_back(get.value, get.value_size);
    get.value_deleter_callback(get.value);
  }
  return nullptr;
}

// ---- the client and its devices

PJRT_Error* CreateClient(PJRT_Client_Create_Args* args) {
  auto client = std::make_unique<PJRT_Client>();
  client->settings = Settings::Read();
  if (client->settings.client == "refuse") {
    return Fail(PJRT_Error_Code_NOT_FOUND,
                "no supported devices found for platform CUDA");
  }
  int64_t devices = client->settings.devices;
  bool is_solo = false;
  client->get = args->kv_get_callback;
  client->get_argument = args->kv_get_user_arg;
  client->put = args->kv_put_callback;
  client->put_argument = args->kv_put_user_arg;
  for (size_t i = 0; i < args->num_options; ++i) {
    const PJRT_NamedValue& it = args->create_options[i];
    const std::string name(it.name, it.name_size);
    if (name == "cpu_device_count") devices = it.int64_value;
    if (name == "memory_fraction") {
      client->settings.memory_bytes = static_cast<int64_t>(
          static_cast<double>(client->settings.memory_bytes) * it.float_value);
    }
    if (name == "enable_mock_nccl") is_solo = it.bool_value;
    if (name == "num_nodes") client->nodes = it.int64_value;
    if (name == "node_id") client->node = it.int64_value;
  }
  if (is_solo) devices = std::exchange(client->nodes, 1);
  if (client->nodes > 1) {
    if (client->get == nullptr || client->put == nullptr) {
      return Fail(PJRT_Error_Code_INVALID_ARGUMENT,
                  "several nodes meet through key-value callbacks");
    }
    std::vector<std::string> said;
    if (PJRT_Error* const error =
            Meet(client.get(), std::to_string(devices), said)) {
      return error;
    }
    client->first = static_cast<size_t>(client->node * devices);
    devices *= client->nodes;
  }
  for (int i = 0; i < devices; ++i) {
    auto device = std::make_unique<PJRT_Device>();
    device->description = {i, "double:" + std::to_string(i)};
    device->client = client.get();
    client->all.push_back(device.get());
    client->devices.push_back(std::move(device));
  }
  client->addressable =
      is_solo ? 1 : client->all.size() / static_cast<size_t>(client->nodes);
  args->client = client.release();
  return nullptr;
}
PJRT_Error* DestroyClient(PJRT_Client_Destroy_Args* args) {
  delete args->client;
  return nullptr;
}
PJRT_Error* GetPlatform(PJRT_Client_PlatformName_Args* args) {
  args->platform_name = args->client->settings.platform.data();
  args->platform_name_size = args->client->settings.platform.size();
  return nullptr;
}
PJRT_Error* GetVersion(PJRT_Client_PlatformVersion_Args* args) {
  static constexpr std::string_view kVersion = "double 1";
  args->platform_version = kVersion.data();
  args->platform_version_size = kVersion.size();
  return nullptr;
}
PJRT_Error* GetDevices(PJRT_Client_Devices_Args* args) {
  args->devices = args->client->all.data();
  args->num_devices = args->client->all.size();
  return nullptr;
}
PJRT_Error* GetAddressable(PJRT_Client_AddressableDevices_Args* args) {
  args->addressable_devices = args->client->all.data() + args->client->first;
  args->num_addressable_devices = args->client->addressable;
  return nullptr;
}
PJRT_Error* Describe(PJRT_Device_GetDescription_Args* args) {
  args->device_description = &args->device->description;
  return nullptr;
}
PJRT_Error* GetMemory(PJRT_Device_MemoryStats_Args* args) {
  const std::lock_guard lock(args->device->client->mutex);
  args->bytes_in_use = args->device->used_bytes;
  args->bytes_limit = args->device->client->settings.memory_bytes;
  args->bytes_limit_is_set = true;
  return nullptr;
}
PJRT_Error* GetId(PJRT_DeviceDescription_Id_Args* args) {
  args->id = args->device_description->id;
  return nullptr;
}
PJRT_Error* GetKind(PJRT_DeviceDescription_Kind_Args* args) {
  static constexpr std::string_view kKind = "Double";
  args->device_kind = kKind.data();
  args->device_kind_size = kKind.size();
  return nullptr;
}
PJRT_Error* GetName(PJRT_DeviceDescription_ToString_Args* args) {
  args->to_string = args->device_description->name.data();
  args->to_string_size = args->device_description->name.size();
  return nullptr;
}

// ---- buffers

// Null: `device` has no memory left.
PJRT_Buffer* Allocate(PJRT_Device* device, PJRT_Buffer_Type type,
                      std::vector<int64_t> dimensions, int64_t size) {
  {
    const std::lock_guard lock(device->client->mutex);
    if (device->used_bytes + size > device->client->settings.memory_bytes) {
      return nullptr;
    }
    device->used_bytes += size;
  }
  auto* const buffer = new PJRT_Buffer;
  buffer->device = device;
  buffer->type = type;
  buffer->dimensions = std::move(dimensions);
  buffer->size = size;
  return buffer;
}

PJRT_Error* FailMemory() {
  return Fail(PJRT_Error_Code_RESOURCE_EXHAUSTED,
              "the device has no memory left");
}

// By hlo.PrimitiveType.
constexpr PJRT_Buffer_Type kTypes[] = {
    PJRT_Buffer_Type_INVALID,    PJRT_Buffer_Type_PRED,
    PJRT_Buffer_Type_S8,         PJRT_Buffer_Type_S16,
    PJRT_Buffer_Type_S32,        PJRT_Buffer_Type_S64,
    PJRT_Buffer_Type_U8,         PJRT_Buffer_Type_U16,
    PJRT_Buffer_Type_U32,        PJRT_Buffer_Type_U64,
    PJRT_Buffer_Type_F16,        PJRT_Buffer_Type_F32,
    PJRT_Buffer_Type_F64,        PJRT_Buffer_Type_INVALID,
    PJRT_Buffer_Type_INVALID,    PJRT_Buffer_Type_C64,
    PJRT_Buffer_Type_BF16,       PJRT_Buffer_Type_TOKEN,
    PJRT_Buffer_Type_C128,       PJRT_Buffer_Type_F8E5M2,
    PJRT_Buffer_Type_F8E4M3FN,   PJRT_Buffer_Type_S4,
    PJRT_Buffer_Type_U4,         PJRT_Buffer_Type_F8E4M3B11FNUZ,
    PJRT_Buffer_Type_F8E5M2FNUZ, PJRT_Buffer_Type_F8E4M3FNUZ,
    PJRT_Buffer_Type_S2,         PJRT_Buffer_Type_U2,
    PJRT_Buffer_Type_F8E4M3,     PJRT_Buffer_Type_F8E3M4};

int64_t CountBytes(PJRT_Buffer_Type type, const std::vector<int64_t>& dims) {
  const auto* const at = std::find(std::begin(kTypes), std::end(kTypes), type);
  Shape shape{static_cast<int>(at - std::begin(kTypes)), dims, {}};
  return CountBytes(shape);
}

PJRT_Error* Upload(PJRT_Client_BufferFromHostBuffer_Args* args) {
  const std::vector<int64_t> dims(args->dims, args->dims + args->num_dims);
  const int64_t size = CountBytes(args->type, dims);
  PJRT_Buffer* const buffer = Allocate(args->device, args->type, dims, size);
  if (buffer == nullptr) return FailMemory();
  buffer->bytes.assign(static_cast<const char*>(args->data), size);
  args->buffer = buffer;
  args->done_with_host_buffer = new PJRT_Event{Clock::now()};
  return nullptr;
}
PJRT_Error* Download(PJRT_Buffer_ToHostBuffer_Args* args) {
  if (args->src->is_consumed) {
    return Fail(PJRT_Error_Code_INVALID_ARGUMENT, "the buffer was donated");
  }
  const size_t size = args->src->size;
  if (args->dst == nullptr || args->dst_size < size) {
    args->dst_size = size;
    return nullptr;
  }
  std::this_thread::sleep_until(args->src->ready);
  std::memset(args->dst, args->src->is_spoiled ? 0xff : 0, size);
  std::memcpy(args->dst, args->src->bytes.data(), args->src->bytes.size());
  args->event = new PJRT_Event{args->src->ready};
  return nullptr;
}
PJRT_Error* DestroyBuffer(PJRT_Buffer_Destroy_Args* args) {
  PJRT_Buffer* const buffer = args->buffer;
  if (!buffer->is_consumed) {
    const std::lock_guard lock(buffer->device->client->mutex);
    buffer->device->used_bytes -= buffer->size;
  }
  delete buffer;
  return nullptr;
}
PJRT_Error* GetDimensions(PJRT_Buffer_Dimensions_Args* args) {
  args->dims = args->buffer->dimensions.data();
  args->num_dims = args->buffer->dimensions.size();
  return nullptr;
}
PJRT_Error* GetType(PJRT_Buffer_ElementType_Args* args) {
  args->type = args->buffer->type;
  return nullptr;
}
PJRT_Error* GetReady(PJRT_Buffer_ReadyEvent_Args* args) {
  args->event = new PJRT_Event{args->buffer->ready};
  return nullptr;
}

// ---- programs

PJRT_Error* Load(PJRT_Client* client, const std::string& code,
                 int64_t partitions, PJRT_LoadedExecutable** loaded) {
  auto program = std::make_shared<Program>();
  program->partitions = partitions;
  program->code = code;
  if (!ReadModule(code, program->module) || program->Does("refuse")) {
    return Fail(PJRT_Error_Code_INVALID_ARGUMENT,
                "the compiler refuses the module " + program->module.name);
  }
  if (program->Does("crowded")) return FailMemory();
  *loaded = new PJRT_LoadedExecutable{client, std::move(program)};
  return nullptr;
}

PJRT_Error* Compile(PJRT_Client_Compile_Args* args) {
  const Settings& settings = args->client->settings;
  std::unique_lock lock(args->client->compiler, std::defer_lock);
  if (settings.compile_serial) lock.lock();
  const Clock::time_point begin = Clock::now();
  PJRT_Error* const error =
      Load(args->client, {args->program->code, args->program->code_size},
           ReadPartitions({args->compile_options, args->compile_options_size}),
           &args->executable);
  if (error != nullptr) return error;
  std::this_thread::sleep_until(
      begin + nanoseconds(settings.compile_ns +
                          settings.compile_ns_per_instruction *
                              args->executable->program->module.instructions));
  args->client->Log("compile " + Count(begin) + " " + Count(Clock::now()));
  return nullptr;
}
PJRT_Error* Deserialize(PJRT_Executable_DeserializeAndLoad_Args* args) {
  const std::string bytes(args->serialized_executable,
                          args->serialized_executable_size);
  const size_t end = bytes.find(' ');
  if (end == std::string::npos) {
    return Fail(PJRT_Error_Code_INVALID_ARGUMENT, "it is no executable");
  }
  return Load(args->client, bytes.substr(end + 1), std::atoll(bytes.c_str()),
              &args->loaded_executable);
}
PJRT_Error* Serialize(PJRT_Executable_Serialize_Args* args) {
  const Program& program = *args->executable->program;
  auto* const backing = new PJRT_SerializedExecutable{
      std::to_string(program.partitions) + " " + program.code};
  args->serialized_executable = backing;
  args->serialized_executable_deleter = [](PJRT_SerializedExecutable* it) {
    delete it;
  };
  args->serialized_bytes = backing->bytes.data();
  args->serialized_bytes_size = backing->bytes.size();
  return nullptr;
}
PJRT_Error* GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
  args->executable = new PJRT_Executable{args->loaded_executable->program};
  return nullptr;
}
PJRT_Error* DestroyExecutable(PJRT_Executable_Destroy_Args* args) {
  delete args->executable;
  return nullptr;
}
PJRT_Error* DestroyLoaded(PJRT_LoadedExecutable_Destroy_Args* args) {
  delete args->executable;
  return nullptr;
}
PJRT_Error* CountOutputs(PJRT_Executable_NumOutputs_Args* args) {
  args->num_outputs = args->executable->program->module.results.size();
  return nullptr;
}
PJRT_Error* GetSizes(PJRT_Executable_GetCompiledMemoryStats_Args* args) {
  const Program& program = *args->executable->program;
  if (program.Does("lie")) return nullptr;
  const auto sum = [&](const std::vector<Shape>& shapes) {
    int64_t bytes = 0;
    for (const Shape& shape : shapes) bytes += CountBytes(shape);
    return bytes / program.partitions;
  };
  args->argument_size_in_bytes = sum(program.module.parameters);
  args->output_size_in_bytes = sum(program.module.results);
  for (const auto& [result, parameter] : program.module.aliases) {
    args->alias_size_in_bytes +=
        CountBytes(program.module.results.at(result)) / program.partitions;
  }
  return nullptr;
}
PJRT_Error* GetCosts(PJRT_Executable_GetCostAnalysis_Args* args) {
  static thread_local PJRT_NamedValue flops;
  flops = {};
  flops.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  flops.name = "flops";
  flops.name_size = 5;
  flops.type = PJRT_NamedValue_kFloat;
  flops.float_value =
      static_cast<float>(args->executable->program->module.elements);
  flops.value_size = 1;
  args->properties = &flops;
  args->num_properties = 1;
  return nullptr;
}
// As it came: nothing is optimized. The module is field 1 of the message.
PJRT_Error* GetOptimized(PJRT_Executable_OptimizedProgram_Args* args) {
  const std::string& code = args->executable->program->code;
  std::string message = "\x0a";
  for (size_t rest = code.size();; rest >>= 7) {
    message.push_back(
        static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0)));
    if (rest <= 0x7f) break;
  }
  message += code;
  static constexpr std::string_view kFormat = "hlo_with_config";
  args->program->format = kFormat.data();
  args->program->format_size = kFormat.size();
  args->program->code_size = message.size();
  if (args->program->code != nullptr) {
    std::memcpy(args->program->code, message.data(), message.size());
  }
  return nullptr;
}

// The devices that a program of so many arguments lists runs on.
PJRT_Error* CheckArguments(const PJRT_LoadedExecutable_Execute_Args& args) {
  for (size_t device = 0; device < args.num_devices; ++device) {
    for (size_t i = 0; i < args.num_args; ++i) {
      if (args.argument_lists[device][i]->is_consumed) {
        return Fail(PJRT_Error_Code_INVALID_ARGUMENT,
                    "argument " + std::to_string(i) + " was donated");
      }
    }
  }
  return nullptr;
}

void Consume(const PJRT_LoadedExecutable_Execute_Args& args,
             const Program& program, size_t device) {
  const int64_t* const kept = args.options->non_donatable_input_indices;
  const int64_t* const end =
      kept + args.options->num_non_donatable_input_indices;
  for (const auto& [result, parameter] : program.module.aliases) {
    if (std::find(kept, end, parameter) != end) continue;
    PJRT_Buffer* const buffer = args.argument_lists[device][parameter];
    buffer->is_consumed = true;
    const std::lock_guard lock(buffer->device->client->mutex);
    buffer->device->used_bytes -= buffer->size;
  }
}

PJRT_Error* Execute(PJRT_LoadedExecutable_Execute_Args* args) {
  PJRT_Client* const client = args->executable->client;
  const Program& program = *args->executable->program;
  const std::string& crash = client->settings.crash;
  if (program.Does("crash") ||
      (!crash.empty() && program.Does(crash.c_str()))) {
    std::abort();
  }
  if (program.Does("exhaust")) return FailMemory();
  if (program.Does("fault")) {
    std::cerr << "driver: fault 31 in engine 7" << std::endl;
    return Fail(PJRT_Error_Code_INTERNAL, "the device failed");
  }
  if (PJRT_Error* const error = CheckArguments(*args)) return error;
  const nanoseconds takes(client->settings.run_ns +
                          client->settings.run_ns_per_element *
                              program.module.elements / program.partitions);
  if (client->nodes > 1) {
    std::vector<std::string> said;
    if (PJRT_Error* const error = Meet(client, program.module.name, said)) {
      return error;
    }
    for (const std::string& name : said) {
      if (name == program.module.name) continue;
      return Fail(PJRT_Error_Code_INTERNAL, "another client runs " + name +
                                                " in place of " +
                                                program.module.name);
    }
  }
  PJRT_Device* const* const here = client->all.data() + client->first;
  Clock::time_point begin = Clock::now();
  {
    const std::lock_guard lock(client->mutex);
    for (size_t i = 0; i < args->num_devices; ++i) {
      begin = std::max(begin, here[i]->busy_until);
    }
    for (size_t i = 0; i < args->num_devices; ++i) {
      here[i]->busy_until = begin + takes;
    }
  }
  const Clock::time_point end = begin + takes;
  client->Log("run " + Count(begin) + " " + Count(end) + " " +
              std::to_string(args->num_devices));
  for (size_t device = 0; device < args->num_devices; ++device) {
    Consume(*args, program, device);
    for (size_t i = 0; i < program.module.results.size(); ++i) {
      const Shape& shape = program.module.results[i];
      const size_t type = static_cast<size_t>(shape.type);
      PJRT_Buffer* const buffer = Allocate(
          here[device],
          type < std::size(kTypes) ? kTypes[type] : PJRT_Buffer_Type_INVALID,
          shape.dimensions, CountBytes(shape));
      if (buffer == nullptr) return FailMemory();
      buffer->ready = end;
      buffer->is_spoiled =
          program.Does("spoil") && client->node + 1 == client->nodes;
      args->output_lists[device][i] = buffer;
    }
    if (args->device_complete_events != nullptr) {
      args->device_complete_events[device] =
          new PJRT_Event{end, program.Does("hang")};
    }
  }
  return nullptr;
}

PJRT_Api MakeApi() {
  PJRT_Api api = {};
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = PJRT_API_MINOR;
  api.PJRT_Error_Destroy = DestroyError;
  api.PJRT_Error_Message = GetMessage;
  api.PJRT_Error_GetCode = GetCode;
  api.PJRT_Plugin_Initialize = Initialize;
  api.PJRT_Event_Destroy = DestroyEvent;
  api.PJRT_Event_Await = AwaitEvent;
  api.PJRT_Client_Create = CreateClient;
  api.PJRT_Client_Destroy = DestroyClient;
  api.PJRT_Client_PlatformName = GetPlatform;
  api.PJRT_Client_PlatformVersion = GetVersion;
  api.PJRT_Client_Devices = GetDevices;
  api.PJRT_Client_AddressableDevices = GetAddressable;
  api.PJRT_Client_Compile = Compile;
  api.PJRT_Client_BufferFromHostBuffer = Upload;
  api.PJRT_Device_GetDescription = Describe;
  api.PJRT_Device_MemoryStats = GetMemory;
  api.PJRT_DeviceDescription_Id = GetId;
  api.PJRT_DeviceDescription_Kind = GetKind;
  api.PJRT_DeviceDescription_ToString = GetName;
  api.PJRT_Executable_Destroy = DestroyExecutable;
  api.PJRT_Executable_NumOutputs = CountOutputs;
  api.PJRT_Executable_GetCompiledMemoryStats = GetSizes;
  api.PJRT_Executable_GetCostAnalysis = GetCosts;
  api.PJRT_Executable_OptimizedProgram = GetOptimized;
  api.PJRT_Executable_Serialize = Serialize;
  api.PJRT_Executable_DeserializeAndLoad = Deserialize;
  api.PJRT_LoadedExecutable_Destroy = DestroyLoaded;
  api.PJRT_LoadedExecutable_GetExecutable = GetExecutable;
  api.PJRT_LoadedExecutable_Execute = Execute;
  api.PJRT_Buffer_Destroy = DestroyBuffer;
  api.PJRT_Buffer_Dimensions = GetDimensions;
  api.PJRT_Buffer_ElementType = GetType;
  api.PJRT_Buffer_ReadyEvent = GetReady;
  api.PJRT_Buffer_ToHostBuffer = Download;
  return api;
}

}  // namespace
}  // namespace meshwright::doubles

extern "C" const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api api = doubles::MakeApi();
  return &api;
}
