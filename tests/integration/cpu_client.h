// The CPU devices of a test that compiles in its own process.
//
// Devices are made once per process, so there is one client for all, of as
// many devices as any mesh of these tests has. Errors: those of the plugin.
// Threads: any.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_CPU_CLIENT_H_
#define MESHWRIGHT_TESTS_INTEGRATION_CPU_CLIENT_H_

#include "absl/status/statusor.h"
#include "worker/pjrt/client.h"

namespace meshwright {

inline constexpr int kCpuDevices = 8;

absl::StatusOr<const worker::pjrt::Client*> CpuClient();

}  // namespace meshwright

#endif  // MESHWRIGHT_TESTS_INTEGRATION_CPU_CLIENT_H_
