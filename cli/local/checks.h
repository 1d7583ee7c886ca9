// The checks of `doctor`: one function per part of an installation.
//
// Out: every check answers, and one that is not ok says the way out.
#ifndef MESHWRIGHT_CLI_LOCAL_CHECKS_H_
#define MESHWRIGHT_CLI_LOCAL_CHECKS_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/rpc/channel_security.h"
#include "proto/v1/job.pb.h"

namespace meshwright::cli {

struct Check {
  enum class State { kOk, kWarn, kFail };
  std::string name;
  State state = State::kOk;
  std::string detail;
  std::string advice;  // empty when ok
};

const char* ToString(Check::State state);

Check CheckRunner();
// `ready`: what the runner said of the devices (worker::DescribeDevices).
Check CheckPlugin(const v1::DeviceSpec& device,
                  const absl::StatusOr<v1::RunnerEvent::Ready>& ready);
Check CheckSandbox(const absl::StatusOr<v1::RunnerEvent::Ready>& ready);
Check CheckStore(const std::string& path);
Check CheckDisk(const std::string& path);
Check CheckCoordinator(const std::string& address,
                       const base::ChannelSecurity& security = {});
Check CheckProcessors();

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_LOCAL_CHECKS_H_
