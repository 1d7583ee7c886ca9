#include "cli/text/rows_text.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

TEST(RowsTextTest, ARowOfAGpuHasItsKernelsSensorsAndMeasurements) {
  v1::RowsReport report;
  v1::RowReport& row = *report.add_rows();
  row.set_key("3f");
  row.mutable_row()->set_key("3f");
  row.mutable_row()->set_outcome(v1::MEASURED);
  v1::Measurement& it = *row.mutable_row()->mutable_measurement();
  it.set_minimum_ns(27'300'000);
  it.set_spread_ns(300'000);
  it.set_compute_ns(20'000'000);
  it.set_communication_ns(7'300'000);
  it.set_launch_ns(200'000);
  it.set_quality(v1::NOISY);
  it.mutable_memory()->set_peak_bytes(3 << 20);
  v1::Collective& collective = *it.add_collectives();
  collective.set_kind("all-reduce");
  collective.set_bytes(1 << 20);
  collective.set_group_size(4);
  collective.set_count(3);
  v1::KernelTimes& kernels = *it.add_kernel_times();
  kernels.set_collector("plugin");
  kernels.set_kernels(12);
  kernels.set_span_ns(27'000'000);
  kernels.add_faults("3 records were dropped");
  v1::HotKernel& hot = *kernels.add_hottest();
  hot.set_name("gemm");
  hot.set_operation("dot.4");
  hot.set_total_ns(9'000'000);
  hot.set_count(2);
  it.mutable_sensors()->set_sm_clock_mhz(1980);
  it.mutable_sensors()->add_throttle_reasons("power");
  v1::KeptMeasurement& kept = *row.add_kept();
  kept.set_host("node7");
  kept.set_machine("0123456789abcdef");
  kept.set_recorded_unix_ns(1'700'000'000'000'000'000);
  *kept.mutable_result() = row.row();
  report.add_rows()->set_key("4e");
  EXPECT_EQ(FormatRows(report),
            "3f: measured, noisy\n"
            "  27.3 ms within 300.0 us: compute 20.0 ms, communication 7.3 ms; "
            "launch, left out, 200.0 us\n"
            "  memory of a device: 3.0 MiB (arguments 0 B, outputs 0 B, shared "
            "by both 0 B, temporaries 0 B)\n"
            "  collectives: 3 all-reduce of 1.0 MiB in groups of 4\n"
            "  12 kernels, by plugin: span 27.0 ms, compute 0.0 us, "
            "communication 0.0 us, both at once 0.0 us, copies 0.0 us, idle "
            "0.0 us\n"
            "    not to be trusted: 3 records were dropped\n"
            "    9.0 ms  2 x  dot.4  gemm\n"
            "  clocks 1980 and 0 MHz, 0 of 0 W, 0 °C, throttled: power\n"
            "  measured (UTC)       time  quality  load of others  "
            "machine       host   worker\n"
            "  2023-11-14 22:13  27.3 ms  noisy               0 %  "
            "0123456789ab  node7\n"
            "\n"
            "4e: no row\n");
}

TEST(RowsTextTest, AFailureSaysWhy) {
  v1::RowsReport report;
  v1::RowReport& row = *report.add_rows();
  row.set_key("3f");
  row.mutable_row()->set_key("3f");
  row.mutable_row()->set_outcome(v1::COMPILE_FAILED);
  row.mutable_row()->set_reason("no such instruction");
  EXPECT_EQ(FormatRows(report), "3f: compile_failed, no such instruction\n");
}

TEST(RowsTextTest, ARowGivesNoOrderToTheTerminal) {
  v1::RowsReport report;
  v1::RowReport& failed = *report.add_rows();
  failed.mutable_row()->set_key("3f");
  failed.mutable_row()->set_outcome(v1::CRASHED);
  failed.mutable_row()->set_reason("no\n4e: measured\x1b[2J");
  v1::RowReport& row = *report.add_rows();
  row.mutable_row()->set_outcome(v1::MEASURED);
  v1::Measurement& it = *row.mutable_row()->mutable_measurement();
  it.add_collectives()->set_kind("\x1b");
  it.add_kernel_times()->set_collector("\x1b");
  it.mutable_kernel_times(0)->add_faults("\x1b");
  it.mutable_sensors()->add_throttle_reasons("\x1b");
  row.add_kept()->set_host("\x1b");
  const std::string text = FormatRows(report);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "3f: crashed, no 4e: measured?[2J");
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

}  // namespace
}  // namespace meshwright::cli
