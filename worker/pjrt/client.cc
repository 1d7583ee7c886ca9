#include "worker/pjrt/client.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "pjrt_c_api.h"
#include "proto/hlo/compile_options.pb.h"
#include "worker/pjrt/call.h"
#include "worker/pjrt/element_type.h"

namespace meshwright::worker::pjrt {
namespace {

// The CPU plugin numbers the devices of a process below this: further ones are
// made, and belong to another process, so that nothing compiles for them.
constexpr int kMaxCpuDevices = 2048;

bool IsCpu(const ClientOptions& options) {
  return options.platform.empty() || options.platform == "cpu";
}

// An array element of the C API: its stride is fixed, so it is not padded.
PJRT_NamedValue NamedValue(const char* name, PJRT_NamedValue_Type type) {
  PJRT_NamedValue value = {};
  value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  value.name = name;
  value.name_size = std::char_traits<char>::length(name);
  value.type = type;
  value.value_size = 1;
  return value;
}

template <typename Args>
PJRT_Error* Refuse(Args* args, const absl::Status& status) {
  // The codes of the C API are Abseil's.
  return (*args->callback_error)(
      static_cast<PJRT_Error_Code>(static_cast<int>(status.code())),
      status.message().data(), status.message().size());
}

template <typename Args>
PJRT_Error* Answer(Args* args, const absl::StatusOr<std::string>& value) {
  if (!value.ok()) return Refuse(args, value.status());
  args->value = new char[value->size()];
  value->copy(args->value, value->size());
  args->value_size = value->size();
  args->value_deleter_callback = [](char* it) { delete[] it; };
  return nullptr;
}

KeyValueStore& StoreOf(void* argument) {
  return *static_cast<KeyValueStore*>(argument);
}

PJRT_Error* GetValue(PJRT_KeyValueGetCallback_Args* args) {
  return Answer(args, StoreOf(args->user_arg)
                          .Get({args->key, args->key_size},
                               absl::Milliseconds(args->timeout_in_ms)));
}
PJRT_Error* TryGetValue(PJRT_KeyValueTryGetCallback_Args* args) {
  return Answer(args,
                StoreOf(args->user_arg).TryGet({args->key, args->key_size}));
}
PJRT_Error* PutValue(PJRT_KeyValuePutCallback_Args* args) {
  const absl::Status status =
      StoreOf(args->user_arg)
          .Put({args->key, args->key_size}, {args->value, args->value_size});
  return status.ok() ? nullptr : Refuse(args, status);
}

void SetStore(KeyValueStore* store, PJRT_Client_Create_Args* args) {
  args->kv_get_callback = GetValue;
  args->kv_get_user_arg = store;
  args->kv_put_callback = PutValue;
  args->kv_put_user_arg = store;
  args->kv_try_get_callback = TryGetValue;
  args->kv_try_get_user_arg = store;
}

PJRT_NamedValue NamedNumber(const char* name, int64_t number) {
  PJRT_NamedValue value = NamedValue(name, PJRT_NamedValue_kInt64);
  value.int64_value = number;
  return value;
}

// `topology` outlives what is returned.
std::vector<PJRT_NamedValue> CreateOptions(const ClientOptions& options,
                                           const std::string& topology) {
  std::vector<PJRT_NamedValue> values;
  if (IsCpu(options)) {
    values.push_back(NamedNumber("cpu_device_count", options.device_count));
  } else if (options.platform == "cuda") {
    values.push_back(NamedValue("preallocate", PJRT_NamedValue_kBool));
    values.back().bool_value = false;
    if (options.memory_fraction.has_value()) {
      values.push_back(NamedValue("memory_fraction", PJRT_NamedValue_kFloat));
      values.back().float_value = *options.memory_fraction;
    }
    if (options.processes > 1) {
      values.push_back(NamedNumber("num_nodes", options.processes));
      values.push_back(NamedNumber("node_id", options.rank));
    }
    if (options.solo) {
      values.push_back(NamedValue("enable_mock_nccl", PJRT_NamedValue_kBool));
      values.back().bool_value = true;
      values.push_back(NamedNumber("num_nodes", options.device_count));
      values.push_back(NamedNumber("node_id", 0));
      values.push_back(
          NamedValue("mock_gpu_topology", PJRT_NamedValue_kString));
      values.back().string_value = topology.c_str();
      values.back().value_size = topology.size();
    }
  }
  return values;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> Client::Create(
    std::shared_ptr<const Plugin> plugin, const ClientOptions& options) {
  const bool takes_all = options.platform == "cuda" && !options.solo;
  if (options.device_count < (takes_all ? 0 : 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a mesh needs at least one device, not ", options.device_count));
  }
  if (IsCpu(options) && options.device_count > kMaxCpuDevices) {
    return absl::InvalidArgumentError(
        absl::StrCat("the mesh has ", options.device_count,
                     " devices, but a worker makes at most ", kMaxCpuDevices,
                     " of a CPU; give a smaller mesh"));
  }
  if (options.solo && options.platform != "cuda") {
    return absl::InvalidArgumentError(
        "one device can stand for a mesh only on the platform cuda");
  }
  // Slices, hosts of a slice, devices of a host: a host for each, since the
  // plugin wants as many devices on each as are here.
  const std::string topology = absl::StrCat("1x", options.device_count, "x1");
  const std::vector<PJRT_NamedValue> values = CreateOptions(options, topology);
  Padded<PJRT_Client_Create_Args> args;
  args->create_options = values.data();
  args->num_options = values.size();
  if (options.store != nullptr) SetStore(options.store, args.get());
  const absl::Status status =
      MESHWRIGHT_PJRT(plugin->api(), PJRT_Client_Create, args);
  if (!status.ok()) {
    return absl::UnavailableError(
        absl::StrCat("the plugin ", plugin->path(),
                     " finds no device it can use: ", status.message()));
  }
  auto client = std::unique_ptr<Client>(new Client(
      std::move(plugin), args->client, options.solo, options.processes > 1));
  RETURN_IF_ERROR(client->Describe());
  if (client->device_count() < options.device_count) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the mesh has ", options.device_count, " devices, but the plugin ",
        client->plugin_->path(), " finds ", client->device_count(), " here"));
  }
  return client;
}

Client::~Client() {
  Padded<PJRT_Client_Destroy_Args> args;
  args->client = client_;
  MESHWRIGHT_PJRT(plugin_->api(), PJRT_Client_Destroy, args).IgnoreError();
}

absl::Status Client::Describe() {
  const PJRT_Api* api = plugin_->api();
  Padded<PJRT_Client_PlatformName_Args> name;
  name->client = client_;
  RETURN_IF_ERROR(MESHWRIGHT_PJRT(api, PJRT_Client_PlatformName, name));
  platform_name_.assign(name->platform_name, name->platform_name_size);
  Padded<PJRT_Client_PlatformVersion_Args> version;
  version->client = client_;
  RETURN_IF_ERROR(MESHWRIGHT_PJRT(api, PJRT_Client_PlatformVersion, version));
  platform_version_.assign(version->platform_version,
                           version->platform_version_size);
  Padded<PJRT_Client_AddressableDevices_Args> devices;
  devices->client = client_;
  RETURN_IF_ERROR(
      MESHWRIGHT_PJRT(api, PJRT_Client_AddressableDevices, devices));
  devices_.assign(
      devices->addressable_devices,
      devices->addressable_devices + devices->num_addressable_devices);
  std::vector<PJRT_Device*> all = devices_;
  if (solo_) devices_.resize(1);
  if (solo_ || is_spread_) {
    Padded<PJRT_Client_Devices_Args> global;
    global->client = client_;
    RETURN_IF_ERROR(MESHWRIGHT_PJRT(api, PJRT_Client_Devices, global));
    all.assign(global->devices, global->devices + global->num_devices);
  }
  for (PJRT_Device* device : all) {
    Padded<PJRT_Device_GetDescription_Args> description;
    description->device = device;
    RETURN_IF_ERROR(
        MESHWRIGHT_PJRT(api, PJRT_Device_GetDescription, description));
    Padded<PJRT_DeviceDescription_Id_Args> id;
    id->device_description = description->device_description;
    RETURN_IF_ERROR(MESHWRIGHT_PJRT(api, PJRT_DeviceDescription_Id, id));
    device_ids_.push_back(id->id);
    if (device != devices_.front()) continue;
    Padded<PJRT_DeviceDescription_Kind_Args> kind;
    kind->device_description = description->device_description;
    RETURN_IF_ERROR(MESHWRIGHT_PJRT(api, PJRT_DeviceDescription_Kind, kind));
    device_kind_.assign(kind->device_kind, kind->device_kind_size);
    Padded<PJRT_DeviceDescription_ToString_Args> text;
    text->device_description = description->device_description;
    RETURN_IF_ERROR(
        MESHWRIGHT_PJRT(api, PJRT_DeviceDescription_ToString, text));
    device_name_.assign(text->to_string, text->to_string_size);
  }
  if (devices_.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the plugin ", plugin_->path(), " finds no device here"));
  }
  const auto first = std::find(all.begin(), all.end(), devices_.front());
  first_resident_ = static_cast<int>(first - all.begin());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Executable>> Client::Compile(
    const std::string& hlo_module, int num_partitions, int num_replicas,
    const CompilerOptions& compiler) const {
  const int devices = num_partitions * num_replicas;
  if (num_partitions < 1 || num_replicas < 1 || devices > device_count()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a program of ", num_partitions, " partitions and ", num_replicas,
        " replicas does not fit the ", device_count(), " devices of the mesh"));
  }
  hlo::CompileOptionsProto options;
  auto& build = *options.mutable_executable_build_options();
  build.set_device_ordinal(-1);
  build.set_num_replicas(num_replicas);
  build.set_num_partitions(num_partitions);
  build.set_use_spmd_partitioning(num_partitions > 1);
  auto& assignment = *build.mutable_device_assignment();
  assignment.set_replica_count(num_replicas);
  assignment.set_computation_count(num_partitions);
  const bool is_here = num_partitions == 1 && num_replicas <= resident_count();
  const int first = is_here ? first_resident_ : 0;
  for (int partition = 0; partition < num_partitions; ++partition) {
    auto& computation = *assignment.add_computation_devices();
    for (int replica = 0; replica < num_replicas; ++replica) {
      computation.add_replica_device_ids(
          device_ids_[first + partition * num_replicas + replica]);
    }
  }
  for (const auto& [name, value] : compiler) {
    (*options.mutable_env_option_overrides())[name].set_string_field(value);
  }
  // Shared among the devices of the mesh it would wait for those not there, or
  // for processes that do not compile.
  if (solo_ || is_spread_) {
    (*options.mutable_env_option_overrides())["xla_gpu_shard_autotuning"]
        .set_bool_field(false);
  }
  const std::string serialized = options.SerializeAsString();
  static constexpr std::string_view kFormat = "hlo";
  Padded<PJRT_Program> program;
  program->code = const_cast<char*>(hlo_module.data());
  program->code_size = hlo_module.size();
  program->format = kFormat.data();
  program->format_size = kFormat.size();
  Padded<PJRT_Client_Compile_Args> args;
  args->client = client_;
  args->program = program.get();
  args->compile_options = serialized.data();
  args->compile_options_size = serialized.size();
  RETURN_IF_ERROR(MESHWRIGHT_PJRT(plugin_->api(), PJRT_Client_Compile, args));
  return Executable::Wrap(plugin_->api(), args->executable,
                          std::min(devices, resident_count()));
}

absl::StatusOr<std::unique_ptr<Executable>> Client::Load(
    const std::string& serialized, int devices) const {
  Padded<PJRT_Executable_DeserializeAndLoad_Args> args;
  args->client = client_;
  args->serialized_executable = serialized.data();
  args->serialized_executable_size = serialized.size();
  RETURN_IF_ERROR(MESHWRIGHT_PJRT(plugin_->api(),
                                  PJRT_Executable_DeserializeAndLoad, args));
  return Executable::Wrap(plugin_->api(), args->loaded_executable,
                          std::min(devices, resident_count()));
}

absl::StatusOr<int64_t> Client::DeviceMemoryBytes() const {
  Padded<PJRT_Device_MemoryStats_Args> args;
  args->device = devices_.front();
  RETURN_IF_ERROR(
      MESHWRIGHT_PJRT(plugin_->api(), PJRT_Device_MemoryStats, args));
  if (!args->bytes_limit_is_set) {
    return absl::UnimplementedError("the plugin states no memory limit");
  }
  return args->bytes_limit;
}

absl::StatusOr<Buffer> Client::Upload(const HostArray& array,
                                      int device) const {
  ASSIGN_OR_RETURN(const int type, ToBufferType(array.type));
  Padded<PJRT_Client_BufferFromHostBuffer_Args> args;
  args->client = client_;
  args->data = array.bytes.data();
  args->type = static_cast<PJRT_Buffer_Type>(type);
  args->dims = array.dimensions.data();
  args->num_dims = array.dimensions.size();
  args->host_buffer_semantics =
      PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes;
  args->device = devices_[device];
  RETURN_IF_ERROR(
      MESHWRIGHT_PJRT(plugin_->api(), PJRT_Client_BufferFromHostBuffer, args));
  Buffer buffer(plugin_->api(), args->buffer);
  RETURN_IF_ERROR(Await(plugin_->api(), args->done_with_host_buffer));
  RETURN_IF_ERROR(buffer.AwaitReady());
  return buffer;
}

}  // namespace meshwright::worker::pjrt
