// What `doctor` and a worker say of a GPU that cannot be used, and `doctor` of
// GPUs that do not work together: one sentence each, with the doubles of the
// plugin and of NVML.
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

std::string ReadReport(Process& doctor) {
  std::string report;
  for (std::string line = doctor.ReadLine(); !line.empty();
       line = doctor.ReadLine()) {
    report += line;
  }
  return report;
}

// Null: there is none of that name.
nlohmann::json FindCheck(const std::string& report, const std::string& name) {
  const nlohmann::json answer = nlohmann::json::parse(report);
  for (const auto& check : answer["checks"]) {
    if (check["name"].get<std::string>() == name) return check;
  }
  return nullptr;
}

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
  const std::string report = ReadReport(doctor);
  EXPECT_THAT(doctor.Wait(), Ne(0));
  nlohmann::json check = FindCheck(report, "plugin");
  ASSERT_TRUE(check.is_object()) << report;
  EXPECT_EQ(check["state"], "fail");
  EXPECT_THAT(check["detail"].get<std::string>(), HasSubstr(GetParam().detail));
  EXPECT_EQ(check["advice"], GetParam().advice);
  EXPECT_EQ(FindCheck(report, "program")["state"], "warn");
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

// A doctor that looks at the double, with a store and a coordinator that are
// not there.
std::vector<std::string> WordsOfDoctor(const DoubleDevice& device) {
  const std::string none = absl::StrCat(testing::TempDir(), "/no_gpu_trouble");
  return {"meshwright",
          "doctor",
          "--json",
          "--platform",
          "cuda",
          "--plugin",
          device.MakeRequest({}).device().plugin_path(),
          "--store",
          absl::StrCat(none, ".db"),
          "--coordinator",
          absl::StrCat("unix:", none)};
}

TEST(DoctorOfProgramsTest, GpusThatWorkTogetherAreGreen) {
  const DoubleDevice device("");
  Process doctor(WordsOfDoctor(device));
  const std::string report = ReadReport(doctor);
  EXPECT_EQ(doctor.Wait(), 0) << report << doctor.Errors();
  for (const char* const name : {"program", "all-reduce"}) {
    EXPECT_EQ(FindCheck(report, name)["state"], "ok") << report;
  }
}

// Programs on one device run; one over both ends its runner.
TEST(DoctorOfProgramsTest, ItIsRedWhereNothingShardedWorks) {
  const DoubleDevice device("crash sum_over_2");
  Process doctor(WordsOfDoctor(device));
  const std::string report = ReadReport(doctor);
  EXPECT_THAT(doctor.Wait(), Ne(0));
  EXPECT_EQ(FindCheck(report, "program")["state"], "ok") << report;
  nlohmann::json check = FindCheck(report, "all-reduce");
  ASSERT_TRUE(check.is_object()) << report;
  EXPECT_EQ(check["state"], "fail");
  EXPECT_THAT(check["detail"].get<std::string>(), HasSubstr("SIGABRT"));
  EXPECT_THAT(check["advice"].get<std::string>(), HasSubstr("nccl-tests"));
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
