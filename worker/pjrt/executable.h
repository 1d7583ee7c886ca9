// Executable: a compiled program, loaded on its devices.
//
// Ownership: must not outlive its Client. Execute borrows its arguments, but
// the runtime consumes those that the program aliases with an output, unless
// they are listed as kept. A consumed Buffer may only be destroyed.
// Threads: one execution at a time.
// Errors: the plugin's code and first line; kResourceExhausted: out of memory;
// kInvalidArgument: arguments for another number of devices; kUnimplemented: a
// plugin without the function that is needed; kInternal: one whose answer does
// not fit the program.
#ifndef MESHWRIGHT_WORKER_PJRT_EXECUTABLE_H_
#define MESHWRIGHT_WORKER_PJRT_EXECUTABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/hlo/hlo.pb.h"
#include "proto/v1/profile.pb.h"
#include "worker/pjrt/buffer.h"

struct PJRT_Api;
struct PJRT_LoadedExecutable;
struct PJRT_Executable;

namespace meshwright::worker::pjrt {

struct Execution {
  std::vector<std::vector<Buffer>> outputs;  // [device][output]
  // From the call until the last device is done, and the CPU time that all
  // threads of this process used meanwhile.
  absl::Duration wall_time;
  absl::Duration cpu_time;
};

// The compiler's own cost analysis of the optimised program of one device; a
// loop counts once, however often it runs.
struct CompilerCosts {
  double flops = 0;
  double transcendentals = 0;
  double bytes_accessed = 0;
};

class Executable {
 public:
  // Takes `loaded` over, also when it fails.
  static absl::StatusOr<std::unique_ptr<Executable>> Wrap(
      const PJRT_Api* api, PJRT_LoadedExecutable* loaded, int device_count);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Of the devices that are here.
  int device_count() const { return device_count_; }
  int output_count() const { return output_count_; }

  // Per device.
  absl::StatusOr<v1::DeviceMemory> Memory() const;
  // kUnimplemented: this plugin has no cost analysis.
  absl::StatusOr<CompilerCosts> Costs() const;
  // The optimised program of one device, as the compiler made it.
  absl::StatusOr<hlo::HloModuleProto> OptimizedModule() const;

  // For Client::Load of the same plugin on the same devices. kUnimplemented
  // where the plugin cannot.
  absl::StatusOr<std::string> Serialize() const;

  // `arguments`: [device][argument]. `kept`: arguments that must survive the
  // run although the program would alias them.
  absl::StatusOr<Execution> Execute(
      const std::vector<std::vector<const Buffer*>>& arguments,
      const std::vector<int64_t>& kept) const;

 private:
  Executable(const PJRT_Api* api, PJRT_LoadedExecutable* loaded,
             int device_count)
      : api_(api), loaded_(loaded), device_count_(device_count) {}

  const PJRT_Api* api_;
  PJRT_LoadedExecutable* loaded_;
  PJRT_Executable* executable_ = nullptr;
  int device_count_;
  int output_count_ = 0;
};

}  // namespace meshwright::worker::pjrt

#endif  // MESHWRIGHT_WORKER_PJRT_EXECUTABLE_H_
