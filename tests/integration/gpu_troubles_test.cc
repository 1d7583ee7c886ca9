// What `doctor` and a worker say of a GPU that cannot be used: one sentence
// each, with the doubles of the plugin and of NVML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/double_device.h"
#include "tests/integration/process.h"

namespace meshwright::integration {
namespace {

using testing::HasSubstr;
using testing::Ne;

struct Trouble {
  const char* name;
  const char* driver;  // lines of nvml_double.conf
  const char* plugin;  // lines of pjrt_double.conf
  const char* detail;
  const char* advice;
};

void PrintTo(const Trouble& it, std::ostream* out) { *out << it.name; }

class GpuTroublesTest : public testing::TestWithParam<Trouble> {
 protected:
  void SetUp() override {
    folder_ =
        absl::StrCat(testing::TempDir(), "/gpu_trouble_", GetParam().name);
    std::filesystem::create_directories(folder_);
    std::filesystem::copy_file(
        MESHWRIGHT_DOUBLES "/nvidia/cu13/lib/libnvidia-ml.so.1",
        folder_ + "/libnvidia-ml.so.1",
        std::filesystem::copy_options::overwrite_existing);
    std::ofstream(folder_ + "/nvml_double.conf") << GetParam().driver << "\n";
  }

  std::vector<std::string> AddDevice(std::vector<std::string> words) const {
    words.insert(words.end(), {"--platform", "cuda", "--plugin",
                               device_.MakeRequest({}).device().plugin_path()});
    return words;
  }
  std::vector<std::string> Environment() const {
    return {absl::StrCat("LD_LIBRARY_PATH=", folder_)};
  }

  std::string folder_;
  const DoubleDevice device_{GetParam().plugin};
};

TEST_P(GpuTroublesTest, DoctorNamesItAndTheWayOut) {
  Process doctor(AddDevice({"meshwright", "doctor", "--json", "--store",
                            folder_ + "/store.db", "--coordinator",
                            absl::StrCat("unix:", folder_, "/none")}),
                 Environment());
  std::string report;
  for (std::string line = doctor.ReadLine(); !line.empty();
       line = doctor.ReadLine()) {
    report += line;
  }
  EXPECT_THAT(doctor.Wait(), Ne(0));
  const nlohmann::json answer = nlohmann::json::parse(report);
  for (const auto& check : answer["checks"]) {
    if (check["name"] != "plugin") continue;
    EXPECT_EQ(check["state"], "fail");
    EXPECT_THAT(check["detail"].get<std::string>(),
                HasSubstr(GetParam().detail));
    EXPECT_EQ(check["advice"], GetParam().advice);
    return;
  }
  FAIL() << report;
}

TEST_P(GpuTroublesTest, AWorkerDoesNotStart) {
  Process worker(AddDevice({"meshwright-worker", "--coordinator",
                            absl::StrCat("unix:", folder_, "/none")}),
                 Environment());
  EXPECT_THAT(worker.Wait(), Ne(0));
  const std::string errors = worker.Errors();
  EXPECT_THAT(errors, HasSubstr(absl::StrCat("meshwright-worker: ")));
  EXPECT_THAT(errors, HasSubstr(GetParam().detail));
  EXPECT_THAT(errors, HasSubstr(absl::StrCat("; ", GetParam().advice)));
}

INSTANTIATE_TEST_SUITE_P(
    All, GpuTroublesTest,
    testing::Values(
        Trouble{"old_driver", "driver 535.54.03\ncuda 12020",
                "initialize refuse",
                "the NVIDIA driver 535.54.03, which is for CUDA 12.2, is too "
                "old for the plugin",
                "update the driver, or give a plugin of its CUDA with "
                "--plugin"},
        Trouble{"no_gpu", "gpus 0", "client refuse",
                "the NVIDIA driver finds no GPU",
                "see that nvidia-smi -L lists one"},
        // The plugin opens it all the same; programs would not fit.
        Trouble{"busy", "free_gib 2", "",
                "is busy: 2.0 of its 80.0 GiB are free, and ",
                "end it, or name another GPU with --devices"},
        Trouble{"mig", "mig empty", "client refuse",
                "has MIG on, but no instance",
                "make one with nvidia-smi mig -cgi 0 -C, or switch MIG off "
                "with nvidia-smi -mig 0"},
        Trouble{"exclusive", "mode 3", "client refuse",
                "is in exclusive compute mode, and ",
                "end that process, or run nvidia-smi -c DEFAULT as root"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace meshwright::integration
