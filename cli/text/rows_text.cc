#include "cli/text/rows_text.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/enum_words.h"
#include "cli/text/format.h"
#include "cli/text/table.h"
#include "cli/text/tame.h"
#include "profiledb/store/row_time.h"

namespace meshwright::cli {
namespace {

std::string FormatTime(int64_t ns) {
  return FormatSeconds(static_cast<double>(ns) * 1e-9);
}

std::string DescribeTimes(const v1::Measurement& it) {
  std::string text = absl::StrCat(
      "  ", FormatTime(store::GetTimeNs(it)), " within ",
      FormatTime(it.spread_ns()), ": compute ", FormatTime(it.compute_ns()),
      ", communication ", FormatTime(it.communication_ns()));
  if (it.launch_ns() > 0) {
    absl::StrAppend(&text, "; launch, left out, ", FormatTime(it.launch_ns()));
  }
  return text + "\n";
}

std::string DescribeMemory(const v1::DeviceMemory& it) {
  return absl::StrCat("  memory of a device: ", FormatBytes(it.peak_bytes()),
                      " (arguments ", FormatBytes(it.argument_bytes()),
                      ", outputs ", FormatBytes(it.output_bytes()),
                      ", shared by both ", FormatBytes(it.alias_bytes()),
                      ", temporaries ", FormatBytes(it.temporary_bytes()),
                      ")\n");
}

std::string DescribeCollectives(const v1::Measurement& measurement) {
  std::vector<std::string> words;
  for (const v1::Collective& it : measurement.collectives()) {
    words.push_back(absl::StrCat(it.count(), " ", Tame(it.kind()), " of ",
                                 FormatBytes(it.bytes()), " in groups of ",
                                 it.group_size()));
  }
  if (words.empty()) return "";
  return absl::StrCat("  collectives: ", absl::StrJoin(words, ", "), "\n");
}

std::string DescribeKernels(const v1::KernelTimes& it) {
  std::string text = absl::StrCat(
      "  ", it.kernels(), " kernels, by ", Tame(it.collector()), ": span ",
      FormatTime(it.span_ns()), ", compute ", FormatTime(it.compute_ns()),
      ", communication ", FormatTime(it.communication_ns()), ", both at once ",
      FormatTime(it.overlap_ns()), ", copies ", FormatTime(it.copy_ns()),
      ", idle ", FormatTime(it.idle_ns()), "\n");
  for (const std::string& fault : it.faults()) {
    absl::StrAppend(&text, "    not to be trusted: ", Tame(fault), "\n");
  }
  std::vector<TableRow> rows;
  for (const v1::HotKernel& kernel : it.hottest()) {
    rows.push_back({FormatTime(kernel.total_ns()),
                    absl::StrCat(kernel.count(), " x"), kernel.operation(),
                    kernel.name()});
  }
  if (rows.empty()) return text;
  return text +
         FormatTable({{""}, {""}, {"", Align::kLeft}, {"", Align::kLeft}}, rows,
                     4);
}

std::string DescribeSensors(const v1::DeviceSensors& it) {
  std::string text = absl::StrCat(
      "  clocks ", it.sm_clock_mhz(), " and ", it.memory_clock_mhz(), " MHz, ",
      it.power_watts(), " of ", it.power_limit_watts(), " W, ",
      it.temperature_celsius(), " °C");
  if (!it.throttle_reasons().empty()) {
    absl::StrAppend(&text, ", throttled: ",
                    Tame(absl::StrJoin(it.throttle_reasons(), ", ")));
  }
  if (it.uncorrected_ecc_errors() > 0) {
    absl::StrAppend(&text, ", ", it.uncorrected_ecc_errors(),
                    " uncorrected memory errors");
  }
  return text + "\n";
}

std::string DescribeKept(const v1::RowReport& row) {
  std::vector<TableRow> rows;
  for (const v1::KeptMeasurement& it : row.kept()) {
    const v1::Measurement& measurement = it.result().measurement();
    rows.push_back(
        {absl::FormatTime("%Y-%m-%d %H:%M",
                          absl::FromUnixNanos(it.recorded_unix_ns()),
                          absl::UTCTimeZone()),
         it.result().has_measurement()
             ? FormatTime(store::GetTimeNs(measurement))
             : "-",
         FormatQuality(measurement.quality()),
         absl::StrFormat("%.0f %%", measurement.other_load() * 100),
         it.machine().empty() ? "unknown" : it.machine().substr(0, 12),
         it.host(), it.worker()});
  }
  if (rows.empty()) return "";
  return FormatTable({{"measured (UTC)", Align::kLeft},
                      {"time"},
                      {"quality", Align::kLeft},
                      {"load of others"},
                      {"machine", Align::kLeft},
                      {"host", Align::kLeft},
                      {"worker", Align::kLeft}},
                     rows, 2);
}

std::string DescribeRow(const v1::RowReport& report) {
  if (!report.has_row()) return absl::StrCat(report.key(), ": no row\n");
  const v1::ProfileResult& row = report.row();
  const v1::Measurement& it = row.measurement();
  std::string text = absl::StrCat(
      row.key(), ": ", absl::AsciiStrToLower(v1::Outcome_Name(row.outcome())));
  if (row.outcome() != v1::MEASURED) {
    absl::StrAppend(&text, ", ", Tame(row.reason()), "\n");
    return text + DescribeKept(report);
  }
  absl::StrAppend(&text, ", ", FormatQuality(it.quality()), "\n",
                  DescribeTimes(it), DescribeMemory(it.memory()),
                  DescribeCollectives(it));
  for (const v1::KernelTimes& kernels : it.kernel_times()) {
    text += DescribeKernels(kernels);
  }
  if (it.has_sensors()) text += DescribeSensors(it.sensors());
  return text + DescribeKept(report);
}

}  // namespace

std::string FormatQuality(v1::Quality quality) {
  return base::LowerName(v1::Quality_Name(quality));
}

std::string FormatRows(const v1::RowsReport& report) {
  return absl::StrJoin(report.rows(), "\n",
                       [](std::string* out, const v1::RowReport& row) {
                         *out += DescribeRow(row);
                       });
}

}  // namespace meshwright::cli
