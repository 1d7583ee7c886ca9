#include "profiledb/store/check_row.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "profiledb/store/row_time.h"
#include "profiledb/store/samples.h"
#include "profiledb/store/text.h"

namespace meshwright::store {
namespace {

constexpr size_t kKeyDigits = 64;
constexpr int64_t kMaximumCompileNs = 24 * kMaximumExecutionNs;
constexpr int64_t kMaximumCount = 1'000'000;
constexpr int64_t kMaximumAnchors = 16;
constexpr int kMaximumCollectors = 4;
constexpr int kMaximumTexts = 16;
constexpr size_t kMaximumText = 300;
// In a loop each trip counts.
constexpr int64_t kMaximumCollectives = 1'000'000'000'000;

struct Figure {
  const char* name;
  int64_t value;
};

std::string FindBadTime(const v1::Measurement& it) {
  if (it.minimum_ns() <= 0) {
    return absl::StrCat("its minimum is ", it.minimum_ns(), " ns");
  }
  const Figure times[] = {
      {"minimum", it.minimum_ns()},
      {"median", it.median_ns()},
      {"time", it.time_ns()},
      {"deviation", it.mad_ns()},
      {"compute time", it.compute_ns()},
      {"communication time", it.communication_ns()},
      {"spread", it.spread_ns()},
      {"launch", it.launch_ns()},
  };
  for (const Figure& time : times) {
    if (time.value < 0) {
      return absl::StrCat("its ", time.name, " is ", time.value, " ns");
    }
    if (time.value > kMaximumExecutionNs) {
      return absl::StrCat("its ", time.name, " is more than an hour");
    }
  }
  // A row without samples may be without a median.
  const bool has_median = it.median_ns() > 0 || it.samples_ns_size() > 0;
  if (has_median && it.median_ns() < it.minimum_ns()) {
    return absl::StrCat("its median of ", it.median_ns(),
                        " ns is below its minimum of ", it.minimum_ns(), " ns");
  }
  if (it.time_ns() > 0 &&
      (it.time_ns() < it.minimum_ns() || it.time_ns() > it.median_ns())) {
    return absl::StrCat("its time of ", it.time_ns(),
                        " ns is not between its minimum of ", it.minimum_ns(),
                        " and its median of ", it.median_ns());
  }
  // Older protocols split the minimum.
  const int64_t split = it.compute_ns() + it.communication_ns();
  const bool is_split = it.compute_ns() > 0;
  if (it.communication_ns() > GetTimeNs(it) ||
      (is_split && split != GetTimeNs(it) && split != it.minimum_ns())) {
    return absl::StrCat("its compute and communication times, ",
                        it.compute_ns(), " and ", it.communication_ns(),
                        " ns, do not make its time of ", GetTimeNs(it));
  }
  return "";
}

std::string FindBadSample(const v1::Measurement& it) {
  for (const auto* const samples : {&it.samples_ns(), &it.quantiles_ns()}) {
    for (const int64_t sample : *samples) {
      if (sample <= 0 || sample > kMaximumExecutionNs) {
        return absl::StrCat("it has a sample of ", sample, " ns");
      }
      if (sample < it.minimum_ns()) {
        return absl::StrCat("it has a sample of ", sample,
                            " ns, below its minimum of ", it.minimum_ns());
      }
    }
  }
  if (!it.quantiles_ns().empty() &&
      (it.quantiles_ns_size() != kQuantiles ||
       !std::is_sorted(it.quantiles_ns().begin(), it.quantiles_ns().end()))) {
    return absl::StrCat("its ", it.quantiles_ns_size(), " quantiles are not ",
                        kQuantiles, " that rise");
  }
  for (const v1::AnchorTime& anchor : it.anchors()) {
    // Beside an anchor that is too fast all other rows of a plan would be of a
    // slow period (coordinator/estimation/time_base.h).
    if (anchor.minimum_ns() < kMinimumExecutionNs ||
        GetTimeNs(anchor) < anchor.minimum_ns() ||
        GetTimeNs(anchor) > kMaximumExecutionNs) {
      return absl::StrCat("its anchor took ", GetTimeNs(anchor), " ns");
    }
  }
  return "";
}

// The readings of collectors and sensors beside the times.
std::string FindBadKernels(const v1::Measurement& it) {
  if (it.kernel_times_size() > kMaximumCollectors) {
    return absl::StrCat("it has kernel times of ", it.kernel_times_size(),
                        " collectors");
  }
  const auto is_text = [](const std::string& text) {
    return text.size() <= kMaximumText;
  };
  for (const v1::KernelTimes& times : it.kernel_times()) {
    for (const int64_t time :
         {times.wall_ns(), times.span_ns(), times.compute_ns(),
          times.communication_ns(), times.overlap_ns(), times.copy_ns(),
          times.idle_ns(), times.lead_ns()}) {
      if (time < 0 || time > kMaximumExecutionNs) {
        return absl::StrCat("a collector saw ", time, " ns");
      }
    }
    const bool are_counts =
        times.kernels() >= 0 && times.executions() >= 0 &&
        std::all_of(times.hottest().begin(), times.hottest().end(),
                    [](const v1::HotKernel& kernel) {
                      return kernel.total_ns() >= 0 && kernel.count() >= 0;
                    });
    if (!are_counts) return "a collector counts fewer than no kernels";
    const bool are_texts =
        is_text(times.collector()) &&
        std::all_of(times.faults().begin(), times.faults().end(), is_text) &&
        std::all_of(times.hottest().begin(), times.hottest().end(),
                    [&](const v1::HotKernel& kernel) {
                      return is_text(kernel.name()) &&
                             is_text(kernel.operation());
                    });
    if (!are_texts || times.faults_size() > kMaximumTexts ||
        times.hottest_size() > kMaximumTexts) {
      return absl::StrCat("a collector says more than ", kMaximumTexts,
                          " texts of ", kMaximumText, " characters");
    }
  }
  if (it.sensors().throttle_reasons_size() > kMaximumTexts ||
      !std::all_of(it.sensors().throttle_reasons().begin(),
                   it.sensors().throttle_reasons().end(), is_text)) {
    return absl::StrCat("its sensors say more than ", kMaximumTexts,
                        " reasons of ", kMaximumText, " characters");
  }
  const v1::DeviceSensors& sensors = it.sensors();
  for (const int64_t reading :
       {int64_t{sensors.sm_clock_mhz()}, int64_t{sensors.memory_clock_mhz()},
        int64_t{sensors.power_watts()}, int64_t{sensors.power_limit_watts()},
        int64_t{sensors.temperature_celsius()},
        int64_t{sensors.utilization_percent()},
        sensors.uncorrected_ecc_errors()}) {
    if (reading < 0) return absl::StrCat("a sensor of it reads ", reading);
  }
  return "";
}

std::string FindBadSize(const v1::Measurement& it) {
  const v1::DeviceMemory& memory = it.memory();
  for (const int64_t bytes :
       {memory.argument_bytes(), memory.output_bytes(), memory.alias_bytes(),
        memory.temporary_bytes(), memory.peak_bytes(),
        memory.argument_copy_bytes()}) {
    if (bytes < 0 || bytes > kMaximumBytes) {
      return absl::StrCat("it needs ", bytes, " bytes of memory");
    }
  }
  for (const v1::Collective& collective : it.collectives()) {
    if (collective.bytes() < 0 || collective.bytes() > kMaximumBytes ||
        collective.group_size() < 0 ||
        collective.group_size() > kMaximumCount || collective.count() < 0 ||
        collective.count() > kMaximumCollectives) {
      return absl::StrCat("a collective moves ", collective.bytes(), " bytes, ",
                          collective.count(), " times, in groups of ",
                          collective.group_size());
    }
  }
  return "";
}

// Arguments do not count: a look-up reads few rows of a large table. Nor do
// outputs that alias an argument, as all but little of them may stay.
std::string FindImpossibleSpeed(const v1::Measurement& it) {
  if (it.minimum_ns() < kMinimumExecutionNs) {
    return absl::StrCat("its minimum of ", it.minimum_ns(), " ns is below the ",
                        kMinimumExecutionNs, " ns that any execution takes");
  }
  const int64_t bytes = it.memory().output_bytes() - it.memory().alias_bytes();
  if (it.minimum_ns() < bytes / kMaximumBytesPerNs) {
    return absl::StrCat("its minimum of ", it.minimum_ns(),
                        " ns is too short to write ", bytes, " bytes");
  }
  return "";
}

std::string FindBadCount(const v1::Measurement& it) {
  struct Count {
    const char* name;
    int64_t value;
    int64_t maximum;
  };
  const Count counts[] = {
      {"nanoseconds to compile", it.compile_ns(), kMaximumCompileNs},
      {"passes", it.passes(), kMaximumCount},
      {"dropped samples", it.dropped_samples(), kMaximumCount},
      {"samples", it.sample_count(), kMaximumCount},
      {"executions per sample", it.executions_per_sample(), kMaximumCount},
      {"protocol version", it.protocol_version(), kMaximumCount},
      {"anchors", it.anchors_size(), kMaximumAnchors},
  };
  for (const Count& count : counts) {
    if (count.value < 0 || count.value > count.maximum) {
      return absl::StrCat("its number of ", count.name, " is ", count.value);
    }
  }
  if (it.sample_count() > 0 && it.sample_count() < it.samples_ns_size()) {
    return absl::StrCat("it has ", it.samples_ns_size(), " samples of ",
                        it.sample_count());
  }
  return "";
}

std::string FindBadMeasurement(const v1::Measurement& it) {
  if (std::string fault = FindBadTime(it); !fault.empty()) return fault;
  if (std::string fault = FindBadSample(it); !fault.empty()) return fault;
  if (std::string fault = FindBadKernels(it); !fault.empty()) return fault;
  if (std::string fault = FindBadSize(it); !fault.empty()) return fault;
  if (std::string fault = FindImpossibleSpeed(it); !fault.empty()) return fault;
  if (std::string fault = FindBadCount(it); !fault.empty()) return fault;
  if (!(it.other_load() >= 0 && it.other_load() <= 1)) {
    return absl::StrCat("the load beside it is ", it.other_load());
  }
  if (!v1::Quality_IsValid(it.quality())) {
    return absl::StrCat("its quality is ", static_cast<int>(it.quality()),
                        ", which is none");
  }
  for (const int noise : it.noise()) {
    if (!v1::Noise_IsValid(noise) || noise == v1::NOISE_UNSPECIFIED) {
      return absl::StrCat("a reason of its noise is ", noise,
                          ", which is none");
    }
    if (noise == v1::SLOW_PERIOD) {
      return absl::StrCat("a reason of its noise is ", noise,
                          ", which only a plan has");
    }
  }
  if (it.noise_size() > v1::Noise_ARRAYSIZE) {
    return absl::StrCat("its noise has ", it.noise_size(), " reasons");
  }
  if (it.quality() == v1::GOOD && !it.noise().empty()) {
    return "it is good and has reasons of noise";
  }
  if (it.estimate_error_ns() != 0) return "it is an estimate";
  return "";
}

std::string FindTimeOfFailure(const v1::Measurement& it) {
  for (const int64_t time :
       {it.minimum_ns(), it.median_ns(), it.time_ns(), it.mad_ns(),
        it.compute_ns(), it.communication_ns(), it.spread_ns(), it.launch_ns(),
        it.estimate_error_ns()}) {
    if (time != 0) return "it failed and has times";
  }
  if (!it.samples_ns().empty() || !it.quantiles_ns().empty() ||
      !it.anchors().empty()) {
    return "it failed and has times";
  }
  if (std::string fault = FindBadSize(it); !fault.empty()) return fault;
  return FindBadCount(it);
}

// Where there is a fault.
absl::Status Refuse(const std::string& key, const std::string& fault) {
  if (fault.empty()) return {};
  return absl::InvalidArgumentError(
      absl::StrCat("the profile of ", key, " is refused: ", fault));
}

bool IsDifference(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

bool IsKey(std::string_view key) {
  return key.size() == kKeyDigits &&
         std::all_of(key.begin(), key.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

absl::Status CheckKey(std::string_view key) {
  if (IsKey(key)) return {};
  if (key.empty()) return absl::InvalidArgumentError("the key is empty");
  return absl::InvalidArgumentError(absl::StrCat(
      "the key '", absl::CEscape(std::string(key.substr(0, kKeyDigits))),
      "' is not 64 lower-case hex digits"));
}

std::string FindUnfounded(const v1::ProfileResult& result) {
  if (!result.has_measurement()) return "";
  const v1::Measurement& it = result.measurement();
  // Without them a plan would count on memory that is not there.
  if (it.memory().peak_bytes() == 0) {
    return "it does not say what memory the program needs";
  }
  const int64_t count = CountSamples(it);
  const bool has_all = it.quantiles_ns().empty();
  const int64_t held = has_all ? count : kMaximumRawSamples;
  if (it.samples_ns_size() < held) {
    return absl::StrCat("it counts ", count, " samples and has ",
                        it.samples_ns_size());
  }
  if (it.quality() == v1::GOOD && count == 0) {
    return "it is good and has no samples";
  }
  const auto& range = has_all ? it.samples_ns() : it.quantiles_ns();
  if (!range.empty() &&
      it.median_ns() > *std::max_element(range.begin(), range.end())) {
    return absl::StrCat("its median of ", it.median_ns(),
                        " ns is above all its samples");
  }
  return "";
}

absl::Status CheckOrigin(const std::string& key, const Origin& origin) {
  struct Text {
    const char* name;
    const std::string& value;
  };
  const Text texts[] = {{"namespace", origin.team},
                        {"host", origin.host},
                        {"worker", origin.worker},
                        {"device", origin.device_id},
                        {"machine", origin.machine}};
  for (const Text& text : texts) {
    if (text.value.size() > kMaximumOriginBytes || !IsText(text.value)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the profile of ", key, " is refused: its ", text.name,
          " is no text of at most ", kMaximumOriginBytes, " bytes"));
    }
  }
  if (!origin.team.empty()) return {};
  return absl::InvalidArgumentError(absl::StrCat(
      "the profile of ", key, " is refused: its namespace is empty"));
}

std::string FindFault(const v1::ProfileResult& result) {
  const v1::Outcome outcome = result.outcome();
  if (outcome == v1::OUTCOME_UNSPECIFIED || !v1::Outcome_IsValid(outcome)) {
    return absl::StrCat("its outcome is ", static_cast<int>(outcome),
                        ", which is none");
  }
  if (outcome == v1::TRANSIENT) {
    return "a transient failure says nothing of the program";
  }
  if (result.ByteSizeLong() > kMaximumResultBytes) {
    return absl::StrCat("it has ", result.ByteSizeLong(), " bytes");
  }
  if (!IsDifference(result.max_relative_difference()) ||
      !std::all_of(result.output_relative_differences().begin(),
                   result.output_relative_differences().end(), IsDifference)) {
    return "a difference of its outputs is no number of at least 0";
  }
  if (outcome == v1::PRUNED) return "";
  if (outcome != v1::MEASURED) return FindTimeOfFailure(result.measurement());
  if (!result.has_measurement()) return "it has no measurement";
  return FindBadMeasurement(result.measurement());
}

absl::Status CheckRow(const v1::ProfileResult& result) {
  if (absl::Status status = CheckKey(result.key()); !status.ok()) {
    return status;
  }
  std::string fault = FindFault(result);
  if (fault.empty() && result.outcome() == v1::PRUNED) {
    fault = "pruning is a decision of one plan";
  }
  return Refuse(result.key(), fault);
}

absl::Status CheckHandedIn(const v1::ProfileResult& result) {
  if (absl::Status status = CheckRow(result); !status.ok()) return status;
  return Refuse(result.key(), FindUnfounded(result));
}

}  // namespace meshwright::store
