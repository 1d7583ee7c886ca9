#include "worker/devices/heat_counter.h"

#include <fstream>

#include "absl/strings/str_cat.h"

namespace meshwright::worker::devices {

HeatCounter::HeatCounter(std::filesystem::path root,
                         const std::vector<int>& processors) {
  root /= "sys/devices/system/cpu";
  for (const int processor : processors) {
    for (const char* const unit : {"core", "package"}) {
      std::filesystem::path file =
          root / absl::StrCat("cpu", processor, "/thermal_throttle/", unit,
                              "_throttle_count");
      if (std::ifstream(file).good()) files_.push_back(std::move(file));
    }
  }
}

int64_t HeatCounter::Count() const {
  int64_t sum = 0;
  for (const std::filesystem::path& file : files_) {
    int64_t count = 0;
    std::ifstream(file) >> count;
    sum += count;
  }
  return sum;
}

}  // namespace meshwright::worker::devices
