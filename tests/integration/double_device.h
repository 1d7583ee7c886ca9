// DoubleDevice: a place with a PJRT plugin that sleeps (tests/doubles/pjrt.cc),
// and the programs that it understands.
//
// Ownership: the place is a folder that goes with the object. Threads: one.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_DOUBLE_DEVICE_H_
#define MESHWRIGHT_TESTS_INTEGRATION_DOUBLE_DEVICE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/v1/device.pb.h"
#include "proto/v1/job.pb.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::integration {

// A piece of the plugin's work, in nanoseconds of the steady clock.
struct DoubleSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

class DoubleDevice {
 public:
  // `settings`: lines of pjrt_double.conf.
  explicit DoubleDevice(const std::string& settings);
  ~DoubleDevice();
  DoubleDevice(const DoubleDevice&) = delete;
  DoubleDevice& operator=(const DoubleDevice&) = delete;

  // A batch of programs with these keys, which are their modules' names, too.
  v1::RunnerRequest MakeRequest(const std::vector<std::string>& keys) const;
  // Runs it in the sandbox: the rows by key.
  absl::Status Run(const v1::RunnerRequest& request,
                   std::map<std::string, v1::ProfileResult>& rows) const;

  // What its runner says of the machine, for a worker.
  absl::StatusOr<v1::DeviceFingerprint> Describe(int devices) const;

  std::vector<DoubleSpan> ReadCompiles() const { return ReadLog("compile"); }
  std::vector<DoubleSpan> ReadRuns() const { return ReadLog("run"); }

 private:
  std::vector<DoubleSpan> ReadLog(const std::string& what) const;

  std::string folder_;
};

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_DOUBLE_DEVICE_H_
