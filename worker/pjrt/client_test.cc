#include "worker/pjrt/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "worker/pjrt/collectives.h"
#include "worker/pjrt/element_type.h"
#include "worker/pjrt/testing/modules.h"

namespace meshwright::worker::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The suite runs against any plugin: MESHWRIGHT_TEST_PLATFORM names another
// platform, MESHWRIGHT_TEST_DEVICES how many devices of it to use. Against our
// own it is the test worker_pjrt_double_test.
std::string ReadPlatform() {
  const char* const named = std::getenv("MESHWRIGHT_TEST_PLATFORM");
  return named == nullptr ? "cpu" : named;
}

int ReadDevices() {
  const char* const named = std::getenv("MESHWRIGHT_TEST_DEVICES");
  return named == nullptr ? 2 : std::atoi(named);
}

const int kDevices = ReadDevices();

// The devices of a double (tests/doubles/pjrt.cc) sleep, and give zeros.
bool DevicesCompute() {
  return std::getenv("MESHWRIGHT_TEST_SLEEPING") == nullptr;
}

std::unique_ptr<Client> NewClient(int devices) {
  auto plugin = Plugin::Load(*FindPlugin(ReadPlatform(), ""));
  EXPECT_TRUE(plugin.ok()) << plugin.status();
  ClientOptions options;
  options.platform = ReadPlatform();
  options.device_count = devices;
  auto client = Client::Create(*plugin, options);
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

HostArray Floats(std::vector<int64_t> dimensions,
                 const std::vector<float>& values) {
  HostArray array;
  array.type = hlo::F32;
  array.dimensions = std::move(dimensions);
  array.bytes.assign(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(float));
  return array;
}

std::vector<float> Values(const HostArray& array) {
  std::vector<float> values(array.ElementCount());
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

class ClientTest : public ::testing::Test {
 protected:
  // One client for all: devices are made once per process.
  static void SetUpTestSuite() { client_ = NewClient(kDevices).release(); }
  static void TearDownTestSuite() { delete client_; }
  static Client* client_;
};

Client* ClientTest::client_ = nullptr;

TEST_F(ClientTest, DescribesItsDevices) {
  EXPECT_EQ(client_->platform_name(), ReadPlatform());
  EXPECT_FALSE(client_->platform_version().empty());
  EXPECT_FALSE(client_->device_kind().empty());
  EXPECT_EQ(client_->device_count(), kDevices);
}

TEST_F(ClientTest, NoDevicesAreRefused) {
  auto plugin = Plugin::Load(*FindPlugin(ReadPlatform(), ""));
  ClientOptions options;
  options.platform = "cpu";  // of another, 0 means all
  options.device_count = 0;
  EXPECT_EQ(Client::Create(*plugin, options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// Before any of them is made.
TEST_F(ClientTest, MoreDevicesThanAProcessHasAreRefused) {
  if (ReadPlatform() != "cpu") GTEST_SKIP() << "a CPU makes its devices";
  auto plugin = Plugin::Load(*FindPlugin("cpu", ""));
  ClientOptions options;
  options.device_count = 64 * 64;
  const absl::Status status = Client::Create(*plugin, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "the mesh has 4096 devices, but a worker makes at most 2048 of a "
            "CPU; give a smaller mesh");
}

TEST_F(ClientTest, TooManyPartitionsAreRefused) {
  const std::string module = LogModule(2).SerializeAsString();
  EXPECT_EQ(client_->Compile(module, kDevices + 1).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ClientTest, ArraysComeBackAsTheyWent) {
  const HostArray array = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto buffer = client_->Upload(array, kDevices - 1);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  const auto back = buffer->Download();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->type, hlo::F32);
  EXPECT_THAT(back->dimensions, ElementsAre(2, 3));
  EXPECT_THAT(Values(*back), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(ClientTest, ArraysOfEveryTypeComeBackAsTheyWent) {
  for (const auto type :
       {hlo::PRED, hlo::S4,     hlo::U4,       hlo::S8,     hlo::U8,
        hlo::S16,  hlo::U16,    hlo::S32,      hlo::U32,    hlo::S64,
        hlo::U64,  hlo::F8E5M2, hlo::F8E4M3FN, hlo::F8E4M3, hlo::F8E3M4,
        hlo::F16,  hlo::BF16,   hlo::F32,      hlo::F64,    hlo::C64,
        hlo::C128}) {
    HostArray array;
    array.type = type;
    array.dimensions = {3};
    array.bytes.assign(3 * CountElementBytes(type), '\1');
    const auto buffer = client_->Upload(array, 0);
    ASSERT_TRUE(buffer.ok()) << type << buffer.status();
    const auto back = buffer->Download();
    ASSERT_TRUE(back.ok()) << type << back.status();
    EXPECT_EQ(back->type, type);
    EXPECT_EQ(back->bytes, array.bytes) << type;
  }
}

TEST_F(ClientTest, RefusedModuleIsOneLine) {
  const auto executable =
      client_->Compile(RefusedModule().SerializeAsString(), 1);
  ASSERT_FALSE(executable.ok());
  const std::string message(executable.status().message());
  EXPECT_FALSE(message.empty());
  EXPECT_THAT(message, ::testing::Not(HasSubstr("\n")));
}

TEST_F(ClientTest, PartitionedContractionSumsOverTheDevices) {
  // Rows of ones times columns of twos, split where they are contracted.
  const int inner = 4 / kDevices;
  const auto module = MatmulModule(2, 4, 2, Tiled({1, kDevices}),
                                   Tiled({kDevices, 1}), Replicated());
  auto executable = client_->Compile(module.SerializeAsString(), kDevices);
  ASSERT_TRUE(executable.ok()) << executable.status();
  std::vector<Buffer> buffers;
  std::vector<std::vector<const Buffer*>> arguments(kDevices);
  for (int device = 0; device < kDevices; ++device) {
    buffers.push_back(*client_->Upload(
        Floats({2, inner}, std::vector<float>(2 * inner, 1)), device));
    buffers.push_back(*client_->Upload(
        Floats({inner, 2}, std::vector<float>(2 * inner, 2)), device));
  }
  for (int device = 0; device < kDevices; ++device) {
    arguments[device] = {&buffers[2 * device], &buffers[2 * device + 1]};
  }
  const auto run = (*executable)->Execute(arguments, {0, 1});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_GT(run->wall_time, absl::ZeroDuration());
  const float sum = DevicesCompute() ? 8 : 0;
  for (int device = 0; device < kDevices; ++device) {
    EXPECT_THAT(Values(*run->outputs[device][0].Download()),
                ElementsAre(sum, sum, sum, sum));
  }

  const auto memory = (*executable)->Memory();
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_GE(memory->argument_bytes(), 64 / kDevices);
  const auto costs = (*executable)->Costs();
  ASSERT_TRUE(costs.ok()) << costs.status();
  // Half of 2 * 2 * 4 * 2, and the sum over devices of four elements.
  if (ReadPlatform() == "cpu") {
    EXPECT_EQ(costs->flops, 32.0 / kDevices + 4);
  }
  EXPECT_GT(costs->flops, 0);
  const auto optimized = (*executable)->OptimizedModule();
  ASSERT_TRUE(optimized.ok()) << optimized.status();
  if (!DevicesCompute()) return;  // and nothing is optimized
  const auto collectives = FindCollectives(*optimized, kDevices);
  EXPECT_EQ(NameCollectives(*optimized).empty(), kDevices == 1);
  if (kDevices == 1) return;
  ASSERT_EQ(collectives.size(), 1u);
  EXPECT_EQ(collectives[0].kind(), "all-reduce");
  EXPECT_EQ(collectives[0].bytes(), 16);
  EXPECT_EQ(collectives[0].group_size(), kDevices);
  EXPECT_EQ(collectives[0].count(), 1);
}

TEST_F(ClientTest, KeptArgumentsSurviveAndOthersAreConsumed) {
  const auto executable =
      client_->Compile(IncrementModule(4).SerializeAsString(), 1);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Buffer state = *client_->Upload(Floats({4}, {0, 1, 2, 3}), 0);
  const Buffer step = *client_->Upload(Floats({4}, {1, 1, 1, 1}), 0);
  for (int i = 0; i < 2; ++i) {
    const auto run = (*executable)->Execute({{&state, &step}}, {0, 1});
    ASSERT_TRUE(run.ok()) << run.status();
    const auto sum = run->outputs[0][0].Download();
    ASSERT_TRUE(sum.ok()) << sum.status();
    if (DevicesCompute()) {
      EXPECT_THAT(Values(*sum), ElementsAre(1, 2, 3, 4));
    }
  }
  ASSERT_TRUE((*executable)->Execute({{&state, &step}}, {1}).ok());
  EXPECT_FALSE((*executable)->Execute({{&state, &step}}, {1}).ok());
}

}  // namespace
}  // namespace meshwright::worker::pjrt
