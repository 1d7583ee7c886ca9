// Client: a plugin's runtime with its devices.
//
// Concept: one client per process and platform. It compiles HLO modules,
// moves arrays to its devices and keeps both alive. Devices are named by their
// place 0..device_count()-1 among those of the client.
// Threads: Compile and Upload from any thread.
// Errors: Create says kUnavailable when the plugin finds no usable device and
// kFailedPrecondition when it has fewer than asked for. kInvalidArgument for a
// number of devices that no mesh has, or a program of more than there are.
// Compile keeps the compiler's code (kResourceExhausted: out of memory) and
// first line.
#ifndef MESHWRIGHT_WORKER_PJRT_CLIENT_H_
#define MESHWRIGHT_WORKER_PJRT_CLIENT_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/pjrt/buffer.h"
#include "worker/pjrt/executable.h"
#include "worker/pjrt/key_value_store.h"
#include "worker/pjrt/plugin.h"

struct PJRT_Client;
struct PJRT_Device;

namespace meshwright::worker::pjrt {

struct ClientOptions {
  std::string platform;  // "cpu", "cuda"; anything else: no create options
  int device_count = 1;  // 0: all there are, but of a CPU
  // One GPU stands for all `device_count` of the mesh: it compiles their
  // program and runs the first device's part, with communication switched off.
  // Its results are undefined.
  bool solo = false;
  // Of an accelerator's memory, that programs may have; none: the plugin
  // chooses.
  std::optional<float> memory_fraction = std::nullopt;
  // The mesh is spread over so many processes, each with a client; this is the
  // one of this rank. They meet through the store, which outlives the client.
  int rank = 0;
  int processes = 1;
  KeyValueStore* store = nullptr;
};

// XLA's debug options by name, as text.
using CompilerOptions = std::map<std::string, std::string>;

class Client {
 public:
  // Opens the runtime and its devices; the plugin lives as long as the client.
  // Errors: see above.
  static absl::StatusOr<std::unique_ptr<Client>> Create(
      std::shared_ptr<const Plugin> plugin, const ClientOptions& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const std::string& platform_name() const { return platform_name_; }
  const std::string& platform_version() const { return platform_version_; }
  const std::string& device_kind() const { return device_kind_; }
  // Of the first that is here.
  const std::string& device_name() const { return device_name_; }
  // Of the mesh. Of those `resident_count` are here, from `first_resident` on:
  // all, one alone, or those of this process.
  int device_count() const { return static_cast<int>(device_ids_.size()); }
  int first_resident() const { return first_resident_; }
  bool is_solo() const { return solo_; }
  int resident_count() const { return static_cast<int>(devices_.size()); }

  // `hlo_module`: a serialized HloModuleProto. With several partitions XLA
  // partitions it by its annotations; with several replicas every device runs
  // it as it is. Device i is partition (or replica) i. Replicas alone that fit
  // the devices that are here run on these.
  absl::StatusOr<std::unique_ptr<Executable>> Compile(
      const std::string& hlo_module, int num_partitions, int num_replicas = 1,
      const CompilerOptions& compiler = {}) const;

  // Loads the bytes of Executable::Serialize, for a program of so many devices.
  absl::StatusOr<std::unique_ptr<Executable>> Load(
      const std::string& serialized, int devices) const;

  // The bytes that the allocator of the first device may give out.
  // kUnimplemented where the plugin does not say.
  absl::StatusOr<int64_t> DeviceMemoryBytes() const;

  // Returns when the device holds the array.
  absl::StatusOr<Buffer> Upload(const HostArray& array, int device) const;

 private:
  Client(std::shared_ptr<const Plugin> plugin, PJRT_Client* client, bool solo,
         bool is_spread)
      : plugin_(std::move(plugin)),
        client_(client),
        solo_(solo),
        is_spread_(is_spread) {}
  absl::Status Describe();

  std::shared_ptr<const Plugin> plugin_;
  PJRT_Client* client_;
  bool solo_;
  bool is_spread_;  // over processes
  int first_resident_ = 0;
  std::vector<PJRT_Device*> devices_;  // that are here
  std::vector<int> device_ids_;        // of all
  std::string platform_name_;
  std::string platform_version_;
  std::string device_kind_;
  std::string device_name_;
};

}  // namespace meshwright::worker::pjrt

#endif  // MESHWRIGHT_WORKER_PJRT_CLIENT_H_
