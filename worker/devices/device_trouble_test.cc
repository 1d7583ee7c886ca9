#include "worker/devices/device_trouble.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace meshwright::worker::devices {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kDouble[] =
    MESHWRIGHT_DOUBLES "/nvidia/cu13/lib/libnvidia-ml.so.1";
constexpr char kFirst[] = "GPU-00000000-1111-2222-3333-444444444444";
// Of a plugin that finds no device.
constexpr char kNone[] = "no supported devices found for platform CUDA";

class DeviceTroubleTest : public ::testing::Test {
 protected:
  void TearDown() override {
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("NVML_DOUBLE_PROCESSES");
  }

  // Of a driver with these settings (tests/doubles/nvml.cc).
  static absl::Status Find(const std::string& settings,
                           const std::string& failure, int count = 0) {
    static int number = 0;
    const std::string folder =
        absl::StrCat(::testing::TempDir(), "/trouble", getpid(), "-", ++number);
    std::filesystem::create_directories(folder);
    const std::string library = folder + "/libnvidia-ml.so.1";
    std::filesystem::copy_file(
        kDouble, library, std::filesystem::copy_options::overwrite_existing);
    std::ofstream(folder + "/nvml_double.conf") << settings << "\n";
    return FindDeviceTrouble(failure, count, library);
  }
  static std::string Tell(const std::string& settings,
                          const std::string& failure = kNone) {
    const absl::Status status = Find(settings, failure);
    EXPECT_FALSE(status.ok()) << settings;
    return std::string(status.message());
  }
  static void SetProcesses(const std::string& numbers) {
    const std::string path = ::testing::TempDir() + "/trouble_processes";
    std::ofstream(path, std::ios::trunc) << numbers;
    setenv("NVML_DOUBLE_PROCESSES", path.c_str(), 1);
  }
};

TEST_F(DeviceTroubleTest, ADriverWithoutTroubleHasNone) {
  EXPECT_TRUE(Find("", "").ok());
  EXPECT_TRUE(Find("", kNone).ok());
  EXPECT_TRUE(Find("mig off", kNone).ok());
  EXPECT_TRUE(Find("mig instance", kNone).ok());
}

TEST_F(DeviceTroubleTest, WithoutADriverThePluginsWordsStay) {
  const absl::Status status =
      FindDeviceTrouble(kNone, 0, "/nonexistent/libnvidia-ml.so.1");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(status.message(),
            "no supported devices found for platform CUDA, and no NVIDIA "
            "driver is here; install the driver, or start the container with "
            "its GPUs");
  EXPECT_TRUE(FindDeviceTrouble("", 0, "/nonexistent/libnvidia-ml.so.1").ok());
}

TEST_F(DeviceTroubleTest, ADriverThatDoesNotRun) {
  EXPECT_THAT(Tell("initialize 9"), StartsWith("the NVIDIA driver is not "
                                               "loaded; "));
  EXPECT_THAT(Tell("initialize 18"),
              HasSubstr("another version than its library; restart"));
  EXPECT_THAT(Tell("initialize 999"),
              HasSubstr("does not start: Unknown Error; see what nvidia-smi"));
}

TEST_F(DeviceTroubleTest, ADriverTooOldForThePlugin) {
  EXPECT_EQ(
      Tell("driver 535.54.03\ncuda 12020",
           "CUDA driver version is insufficient for CUDA runtime version"),
      "the NVIDIA driver 535.54.03, which is for CUDA 12.2, is too old "
      "for the plugin; update the driver, or give a plugin of its CUDA "
      "with --plugin");
}

// The plugin's own libraries say which CUDA it wants, whatever its words.
TEST_F(DeviceTroubleTest, APluginOfANewerCuda) {
  void* const cupti =
      dlopen(MESHWRIGHT_DOUBLES "/nvidia/cu13/lib/libcupti.so.13", RTLD_NOW);
  ASSERT_NE(cupti, nullptr) << dlerror();
  EXPECT_THAT(Tell("cuda 12080"),
              AllOf(HasSubstr("for CUDA 12.8"), HasSubstr("with CUDA 13; ")));
  EXPECT_TRUE(Find("cuda 13000", kNone).ok());
  dlclose(cupti);
}

TEST_F(DeviceTroubleTest, NoGpu) {
  EXPECT_EQ(Tell("gpus 0"),
            "the NVIDIA driver finds no GPU; see that nvidia-smi -L lists one");
}

TEST_F(DeviceTroubleTest, GpusThatAreHidden) {
  for (const char* const names : {"", "-1", "7", "GPU-7"}) {
    setenv("CUDA_VISIBLE_DEVICES", names, 1);
    EXPECT_EQ(Tell(""),
              absl::StrCat("CUDA_VISIBLE_DEVICES is \"", names,
                           "\" and lets none of the 2 GPUs through; name "
                           "devices as nvidia-smi -L does, or unset it"));
  }
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  EXPECT_TRUE(Find("", kNone).ok());
}

TEST_F(DeviceTroubleTest, AnotherProcessHoldsTheMemory) {
  SetProcesses("4194303");
  for (const char* const failure : {"", kNone}) {
    const absl::Status status = Find("free_gib 2", failure);
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(StartsWith(absl::StrCat(
                          kFirst, " is busy: 2.0 of its 80.0 GiB are free, ")),
                      EndsWith(" holds the rest; end it, or name another GPU "
                               "with --devices")));
  }
  setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
  EXPECT_TRUE(Find("free_gib 2", "", 1).ok()) << "the other one is not opened";
}

TEST_F(DeviceTroubleTest, MigWithoutAnInstance) {
  const absl::Status status = Find("mig empty", kNone);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(status.message(),
            absl::StrCat(kFirst,
                         " has MIG on, but no instance; make one with "
                         "nvidia-smi mig -cgi 0 -C, or switch MIG off with "
                         "nvidia-smi -mig 0"));
  EXPECT_TRUE(Find("mig empty", "").ok()) << "the plugin opened other devices";
}

TEST_F(DeviceTroubleTest, ModesThatLeaveNoPlace) {
  SetProcesses("4194303");
  EXPECT_THAT(Tell("mode 2"),
              HasSubstr("is in compute mode PROHIBITED; run nvidia-smi -c"));
  const absl::Status status = Find("mode 3", kNone);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(" is in exclusive compute mode, and "),
                    HasSubstr(" has it; end that process, or run")));
  SetProcesses("");
  EXPECT_TRUE(Find("mode 3", kNone).ok()) << "nobody has it";
}

}  // namespace
}  // namespace meshwright::worker::devices
