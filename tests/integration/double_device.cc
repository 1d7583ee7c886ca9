#include "tests/integration/double_device.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "worker/pjrt/testing/modules.h"
#include "worker/sandbox/runner_process.h"

namespace meshwright::integration {
namespace {

std::string MakeFolder() {
  std::string name =
      (std::filesystem::temp_directory_path() / "meshwright-double-XXXXXX")
          .string();
  if (mkdtemp(name.data()) == nullptr) std::abort();
  return name;
}

}  // namespace

DoubleDevice::DoubleDevice(const std::string& settings)
    : folder_(MakeFolder()) {
  std::filesystem::copy(MESHWRIGHT_PJRT_DOUBLE, folder_ + "/pjrt_double.so");
  std::ofstream(folder_ + "/pjrt_double.conf")
      << settings << "\nlog " << folder_ << "/log\n";
}

DoubleDevice::~DoubleDevice() { std::filesystem::remove_all(folder_); }

v1::RunnerRequest DoubleDevice::MakeRequest(
    const std::vector<std::string>& keys) const {
  v1::RunnerRequest request;
  request.mutable_device()->set_platform("cuda");
  request.mutable_device()->set_plugin_path(folder_ + "/pjrt_double.so");
  request.mutable_device()->set_device_count(1);
  hlo::HloModuleProto module = worker::pjrt::IncrementModule(1024);
  for (const std::string& key : keys) {
    module.set_name(key);
    v1::Program& program = *request.add_programs();
    program.set_key(key);
    program.set_hlo_module(module.SerializeAsString());
    program.set_num_partitions(1);
    program.add_inputs()->set_kind(v1::InputSpec::NORMAL);
    program.add_inputs()->set_kind(v1::InputSpec::NORMAL);
  }
  return request;
}

absl::Status DoubleDevice::Run(
    const v1::RunnerRequest& request,
    std::map<std::string, v1::ProfileResult>& rows) const {
  worker::sandbox::RunOptions options;
  options.grace = absl::Seconds(2);
  return worker::sandbox::RunBatch(
      request,
      [&](const v1::RunnerEvent& event) {
        if (event.has_result()) rows[event.result().key()] = event.result();
      },
      options);
}

absl::StatusOr<v1::DeviceFingerprint> DoubleDevice::Describe(
    int devices) const {
  v1::RunnerRequest request = MakeRequest({});
  request.mutable_device()->set_device_count(devices);
  v1::DeviceFingerprint fingerprint;
  RETURN_IF_ERROR(worker::sandbox::RunBatch(request,
                                            [&](const v1::RunnerEvent& event) {
                                              if (event.has_ready())
                                                fingerprint =
                                                    event.ready().fingerprint();
                                            },
                                            {}));
  return fingerprint;
}

std::vector<DoubleSpan> DoubleDevice::ReadLog(const std::string& what) const {
  std::vector<DoubleSpan> spans;
  std::ifstream log(folder_ + "/log");
  for (std::string line; std::getline(log, line);) {
    DoubleSpan span;
    char word[16] = "";
    if (std::sscanf(line.c_str(), "%15s %ld %ld", word, &span.begin_ns,
                    &span.end_ns) == 3 &&
        what == word) {
      spans.push_back(span);
    }
  }
  return spans;
}

}  // namespace meshwright::integration
