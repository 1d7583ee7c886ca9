// A libnvidia-ml of our own: one GPU with figures that a test can know.
//
// Source: nvml.h; results are int (0: success), handles pointers.
#include <cstdint>
#include <cstring>

namespace {

constexpr int kNotFound = 6;
constexpr char kUuid[] = "GPU-00000000-1111-2222-3333-444444444444";
int gpu = 0;

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int result) {
  return result == kNotFound ? "Not Found" : "Unknown Error";
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &gpu;
  return index == 0 ? 0 : kNotFound;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = &gpu;
  return std::strcmp(uuid, kUuid) == 0 ? 0 : kNotFound;
}
int nvmlDeviceGetUUID(void*, char* text, unsigned size) {
  std::strncpy(text, kUuid, size);
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int kind, unsigned* mhz) {
  *mhz = kind == 1 ? 1980 : 3201;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 612'345;
  return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  *milliwatts = 700'000;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  *celsius = 61;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
  *bits = 0x1 | 0x4 | 0x40;  // idle, power cap, heat
  return 0;
}
int nvmlDeviceGetTotalEccErrors(void*, int, int, unsigned long long* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, unsigned* gpu_and_memory) {
  gpu_and_memory[0] = 97;
  gpu_and_memory[1] = 40;
  return 0;
}
// No nvmlDeviceGetMigMode, as in older drivers.

}  // extern "C"
