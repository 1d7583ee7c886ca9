// A libnvidia-ml of our own: two GPUs with figures that a test can know.
//
// In: the file nvml_double.conf beside the library, if there is one, changes
// them, a "key value" a line (Settings). Source: nvml.h; results are int (0:
// success), handles pointers.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr const char* kUuids[] = {"GPU-00000000-1111-2222-3333-444444444444",
                                  "GPU-00000000-1111-2222-3333-555555555555"};
int gpus[2] = {};
int initialized = 0;

struct Settings {
  int initialize = 0;  // what nvmlInit_v2 returns
  unsigned gpus = 2;
  std::string driver = "575.57.08";
  int cuda = 13000;
  int mode = 0;               // compute mode
  std::string mig = "older";  // "off", "empty", "instance"; an older driver
                              // does not know
  unsigned long long free_gib = 78;  // of 80

  static Settings Read();
};

Settings Settings::Read() {
  Settings settings;
  static int here = 0;
  Dl_info library;
  if (dladdr(&here, &library) == 0) return settings;
  const std::string path = library.dli_fname;
  std::ifstream file(path.substr(0, path.rfind('/')) + "/nvml_double.conf");
  std::string key, value;
  while (file >> key >> value) {
    const int number = std::atoi(value.c_str());
    if (key == "initialize") settings.initialize = number;
    if (key == "gpus") settings.gpus = static_cast<unsigned>(number);
    if (key == "driver") settings.driver = value;
    if (key == "cuda") settings.cuda = number;
    if (key == "mode") settings.mode = number;
    if (key == "mig") settings.mig = value;
    if (key == "free_gib") {
      settings.free_gib = static_cast<unsigned long long>(number);
    }
  }
  return settings;
}

int Number(void* device) { return static_cast<int*>(device) == gpus ? 0 : 1; }

// Of the first, and of the second.
template <typename Value>
int Answer(void* device, Value* value, Value first, Value second) {
  *value = Number(device) == 0 ? first : second;
  return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const int result = Settings::Read().initialize;
  if (result == 0) ++initialized;
  return result;
}
int nvmlShutdown() {
  --initialized;
  return 0;
}
// How often it is initialized and not shut down yet.
int nvmlDouble_CountInitialized() { return initialized; }
const char* nvmlErrorString(int result) {
  return result == kNotFound ? "Not Found" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* version, unsigned size) {
  std::strncpy(version, Settings::Read().driver.c_str(), size);
  return 0;
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = Settings::Read().cuda;
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = Settings::Read().gpus;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= Settings::Read().gpus) return kNotFound;
  *device = &gpus[index];
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  for (int i = 0; i < 2; ++i) {
    if (std::strcmp(uuid, kUuids[i]) != 0) continue;
    *device = &gpus[i];
    return 0;
  }
  return kNotFound;
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  std::strncpy(text, kUuids[Number(device)], size);
  return 0;
}
int nvmlDeviceGetClockInfo(void* device, int kind, unsigned* mhz) {
  return kind == 1 ? Answer(device, mhz, 1980u, 1410u)
                   : Answer(device, mhz, 3201u, 3201u);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  return Answer(device, milliwatts, 612'345u, 500'000u);
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatts) {
  return Answer(device, milliwatts, 700'000u, 600'000u);
}
int nvmlDeviceGetTemperature(void* device, int, unsigned* celsius) {
  return Answer(device, celsius, 61u, 75u);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device,
                                              unsigned long long* bits) {
  // Idle, power cap, heat; power brake.
  return Answer(device, bits, 0x1ull | 0x4 | 0x40, 0x80ull);
}
int nvmlDeviceGetTotalEccErrors(void* device, int, int,
                                unsigned long long* count) {
  return Answer(device, count, 2ull, 1ull);
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* gpu_and_memory) {
  gpu_and_memory[1] = 40;
  return Answer(device, gpu_and_memory, 97u, 3u);
}
// The first has three links, of which one is down; the second has none.
int nvmlDeviceGetNvLinkState(void* device, unsigned link, unsigned* is_active) {
  *is_active = link != 1;
  return Number(device) == 0 && link < 3 ? 0 : kNotFound;
}
int nvmlDeviceGetNvLinkVersion(void*, unsigned, unsigned* version) {
  *version = 6;  // 4.0
  return 0;
}
// At the end of the first's link 0 is a switch, of link 2 the second device.
struct PciInfo {
  char old_name[16];
  unsigned domain, bus, device;
  unsigned ids[2];
  char name[32];
};
int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* info) {
  return Answer(device, &info->bus, 0x1bu, 0x2au);
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned link, PciInfo* info) {
  info->bus = link == 0 ? 0xc1 : 0x2a;
  return 0;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned link, int* kind) {
  *kind = link == 0 ? 2 : 0;
  return 0;
}
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* generation) {
  *generation = 5;
  return 0;
}
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* lanes) {
  *lanes = 16;
  return 0;
}
int nvmlDeviceGetApplicationsClock(void* device, int kind, unsigned* mhz) {
  return kind == 1 ? Answer(device, mhz, 1980u, 1410u)
                   : Answer(device, mhz, 3201u, 3201u);
}
int nvmlDeviceGetDefaultApplicationsClock(void*, int kind, unsigned* mhz) {
  *mhz = kind == 1 ? 1980 : 3201;
  return 0;
}
// This process and number 1, which uses NVML_DOUBLE_OTHERS percent of the
// second device; with NVML_DOUBLE_HIDES it counts processes as another
// container does. Where NVML_DOUBLE_PROCESSES names a file, those are on both
// devices whose numbers it holds, each time.
struct Process {
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned instances[2];
};
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count,
                                            Process* processes) {
  if (const char* const path = std::getenv("NVML_DOUBLE_PROCESSES")) {
    std::ifstream file(path);
    unsigned listed = 0;
    for (unsigned pid = 0; listed < *count && file >> pid;) {
      processes[listed++] = {pid, 1 << 20, {}};
    }
    *count = listed;
    return 0;
  }
  const bool hides = std::getenv("NVML_DOUBLE_HIDES") != nullptr;
  *count = 2;
  processes[0] = {hides ? 2 : static_cast<unsigned>(getpid()), 1 << 20, {}};
  processes[1] = {1, 1 << 20, {}};
  return 0;
}
struct Use {
  unsigned pid;
  unsigned long long unix_us;
  unsigned percent[4];
};
int nvmlDeviceGetProcessUtilization(void* device, Use* uses, unsigned* count,
                                    unsigned long long) {
  const char* const others = std::getenv("NVML_DOUBLE_OTHERS");
  *count = others == nullptr || Number(device) == 0 ? 1 : 2;
  uses[0] = {static_cast<unsigned>(getpid()), 0, {97, 40, 0, 0}};
  if (*count == 2) {
    uses[1] = {1, 0, {static_cast<unsigned>(std::atoi(others)), 0, 0, 0}};
  }
  return 0;
}
int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  const std::string mig = Settings::Read().mig;
  if (mig == "older") return kNotSupported;
  *current = *pending = mig == "off" ? 0 : 1;
  return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* count) {
  *count = 7;
  return 0;
}
// The third place has the instance.
int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index,
                                        void** instance) {
  if (index != 2 || Settings::Read().mig != "instance") return kNotFound;
  *instance = device;
  return 0;
}
int nvmlDeviceGetComputeMode(void*, int* mode) {
  *mode = Settings::Read().mode;
  return 0;
}
// Of the first device; the second is free.
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
  constexpr unsigned long long kGib = 1ull << 30;
  memory[0] = 80 * kGib;
  memory[1] =
      Number(device) == 0 ? Settings::Read().free_gib * kGib : 80 * kGib;
  memory[2] = memory[0] - memory[1];
  return 0;
}

}  // extern "C"
