#include "profiledb/store/check_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "profiledb/store/samples.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

using testing::HasSubstr;

TEST(CheckRowTest, TakesRowsOfWorkers) {
  v1::ProfileResult row = MakeMeasured("k", 1000);
  v1::Measurement& it = *row.mutable_measurement();
  it.set_communication_ns(400);  // not split
  EXPECT_TRUE(CheckRow(row).ok()) << CheckRow(row);
  it.set_compute_ns(600);
  it.set_mad_ns(10);
  for (int i = 0; i < 12; ++i) it.add_samples_ns(1000 + i);
  it.set_other_load(1);  // another process timed on the same devices
  it.mutable_memory()->set_peak_bytes(int64_t{80} << 30);
  EXPECT_TRUE(CheckRow(row).ok()) << CheckRow(row);
  EXPECT_TRUE(CheckRow(MakeRow("k", v1::COMPILE_FAILED, "no")).ok());
}

TEST(CheckRowTest, RefusesAbsurdFiguresInOneSentenceThatNamesTheKey) {
  struct Case {
    std::string fault;
    std::function<void(v1::ProfileResult&)> forge;
  };
  const auto figure = [](const std::function<void(v1::Measurement&)>& forge) {
    return
        [forge](v1::ProfileResult& row) { forge(*row.mutable_measurement()); };
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const Case cases[] = {
      {"outcome is 0", [](auto& it) { it.clear_outcome(); }},
      {"outcome is 99",
       [](auto& it) { it.set_outcome(static_cast<v1::Outcome>(99)); }},
      {"transient", [](auto& it) { it.set_outcome(v1::TRANSIENT); }},
      {"pruning", [](auto& it) { it.set_outcome(v1::PRUNED); }},
      {"no measurement", [](auto& it) { it.clear_measurement(); }},
      {"difference", [&](auto& it) { it.set_max_relative_difference(nan); }},
      {"difference",
       [&](auto& it) { it.add_output_relative_differences(infinity); }},
      {"difference", [&](auto& it) { it.add_output_relative_differences(-1); }},
      {"bytes",
       [](auto& it) { it.set_reason(std::string(kMaximumResultBytes, 'x')); }},
      {"minimum is 0", figure([](auto& it) { it.set_minimum_ns(0); })},
      {"minimum is -5", figure([](auto& it) { it.set_minimum_ns(-5); })},
      {"minimum of 99 ns is below", figure([](auto& it) {
         it.set_minimum_ns(99);
         it.set_median_ns(99);
       })},
      {"1000000 ns is too short to write 110000000000 bytes",
       figure([](auto& it) {
         it.mutable_memory()->set_output_bytes(130'000'000'000);
         it.mutable_memory()->set_alias_bytes(20'000'000'000);
       })},
      {"more than an hour",
       figure([](auto& it) { it.set_median_ns(kMaximumExecutionNs + 1); })},
      {"median of 999", figure([](auto& it) { it.set_median_ns(999); })},
      {"time of 999", figure([](auto& it) { it.set_time_ns(999); })},
      {"time of", figure([](auto& it) { it.set_time_ns(it.median_ns() + 1); })},
      {"median of 0", figure([](auto& it) {
         it.clear_median_ns();
         it.add_samples_ns(1000);
       })},
      {"deviation is -1", figure([](auto& it) { it.set_mad_ns(-1); })},
      {"do not make", figure([](auto& it) { it.set_compute_ns(10); })},
      {"do not make",
       figure([](auto& it) { it.set_communication_ns(1'000'001); })},
      {"sample of -1", figure([](auto& it) { it.add_samples_ns(-1); })},
      {"sample of 0", figure([](auto& it) { it.add_samples_ns(0); })},
      {"quantiles",
       figure([](auto& it) { it.add_quantiles_ns(it.minimum_ns() + 5); })},
      {"anchor", figure([](auto& it) { it.add_anchors(); })},
      {"anchor took 99 ns",
       figure([](auto& it) { it.add_anchors()->set_minimum_ns(99); })},
      {"launch is -1", figure([](auto& it) { it.set_launch_ns(-1); })},
      {"a collector saw -2 ns",
       figure([](auto& it) { it.add_kernel_times()->set_idle_ns(-2); })},
      {"fewer than no kernels",
       figure([](auto& it) { it.add_kernel_times()->set_kernels(-1); })},
      {"fewer than no kernels", figure([](auto& it) {
         it.add_kernel_times()->add_hottest()->set_total_ns(-1);
       })},
      {"a sensor of it reads -2000", figure([](auto& it) {
         it.mutable_sensors()->set_temperature_celsius(-2000);
       })},
      {"16 texts of 300", figure([](auto& it) {
         it.add_kernel_times()->add_hottest()->set_name(std::string(301, 'k'));
       })},
      {"of 5 collectors", figure([](auto& it) {
         for (int i = 0; i < 5; ++i) it.add_kernel_times();
       })},
      {"16 reasons of 300", figure([](auto& it) {
         it.mutable_sensors()->add_throttle_reasons(std::string(301, 'h'));
       })},
      {"-8 bytes",
       figure([](auto& it) { it.mutable_memory()->set_alias_bytes(-8); })},
      {"bytes of memory", figure([](auto& it) {
         it.mutable_memory()->set_peak_bytes(int64_t{1} << 60);
       })},
      {"collective",
       figure([](auto& it) { it.add_collectives()->set_count(-1); })},
      {"passes is -1", figure([](auto& it) { it.set_passes(-1); })},
      {"compile is -1", figure([](auto& it) { it.set_compile_ns(-1); })},
      {"load", figure([&](auto& it) { it.set_other_load(nan); })},
      {"load", figure([](auto& it) { it.set_other_load(-0.5); })},
      {"load", figure([](auto& it) { it.set_other_load(1.5); })},
      {"compile is 86400000000001",
       figure([](auto& it) { it.set_compile_ns(86'400'000'000'001); })},
      {"executions per sample is 2000000000",
       figure([](auto& it) { it.set_executions_per_sample(2'000'000'000); })},
      {"dropped samples is 1000001",
       figure([](auto& it) { it.set_dropped_samples(1'000'001); })},
      {"below its minimum", figure([](auto& it) { it.add_samples_ns(3); })},
      {"2 samples of 1", figure([](auto& it) {
         it.add_samples_ns(it.minimum_ns());
         it.add_samples_ns(it.minimum_ns());
         it.set_sample_count(1);
       })},
      {"anchors is 17", figure([](auto& it) {
         for (int i = 0; i < 17; ++i) it.add_anchors()->set_minimum_ns(1000);
       })},
      {"groups of", figure([](auto& it) {
         it.add_collectives()->set_group_size(2'000'000);
       })},
      {"quality is 9",
       figure([](auto& it) { it.set_quality(static_cast<v1::Quality>(9)); })},
      {"noise is 99",
       figure([](auto& it) { it.add_noise(static_cast<v1::Noise>(99)); })},
      {"noise is 0",
       figure([](auto& it) { it.add_noise(v1::NOISE_UNSPECIFIED); })},
      {"noise is 6, which only a plan has",
       figure([](auto& it) { it.add_noise(v1::SLOW_PERIOD); })},
      {"noise has 8 reasons", figure([](auto& it) {
         for (int i = 0; i < 8; ++i) it.add_noise(v1::BUSY_MACHINE);
       })},
      {"good and has reasons", figure([](auto& it) {
         it.set_quality(v1::GOOD);
         it.add_noise(v1::BUSY_MACHINE);
       })},
      {"failed and has times",
       [](auto& it) { it.set_outcome(v1::COMPILE_FAILED); }},
      {"failed and has times",
       [](auto& it) {
         it.set_outcome(v1::CRASHED);
         it.clear_measurement();
         it.mutable_measurement()->add_anchors()->set_minimum_ns(1);
       }},
      {"failed and has times",
       [](auto& it) {
         it.set_outcome(v1::COMPILE_FAILED);
         it.clear_measurement();
         it.mutable_measurement()->set_median_ns(-5);
       }},
      {"compile is -1",
       [](auto& it) {
         it.set_outcome(v1::COMPILE_FAILED);
         it.clear_measurement();
         it.mutable_measurement()->set_compile_ns(-1);
       }},
      {"-8 bytes",
       [](auto& it) {
         it.set_outcome(v1::OUT_OF_MEMORY);
         it.clear_measurement();
         it.mutable_measurement()->mutable_memory()->set_peak_bytes(-8);
       }},
      {"estimate", figure([](auto& it) { it.set_estimate_error_ns(1); })},
  };
  for (const Case& it : cases) {
    v1::ProfileResult row = MakeMeasured("k");
    it.forge(row);
    const absl::Status status = CheckRow(row);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << it.fault;
    EXPECT_THAT(std::string(status.message()), HasSubstr(it.fault));
    EXPECT_THAT(std::string(status.message()), HasSubstr(MakeKey("k")));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
  }
}

TEST(CheckRowTest, RowsThatAreHandedInHaveMemoryAndSamples) {
  using It = v1::Measurement;
  EXPECT_TRUE(CheckHandedIn(MakeFounded("k")).ok());
  EXPECT_TRUE(CheckHandedIn(MakeRow("k", v1::CRASHED)).ok());
  v1::ProfileResult workers = MakeWorkersRow("k", 1);
  EXPECT_TRUE(CheckHandedIn(workers).ok()) << CheckHandedIn(workers);
  CompactSamples(*workers.mutable_measurement());
  EXPECT_TRUE(CheckHandedIn(workers).ok()) << CheckHandedIn(workers);
  struct Case {
    std::string fault;
    std::function<void(It&)> forge;
  };
  const Case cases[] = {
      {"does not say what memory", [](It& it) { it.clear_memory(); }},
      {"good and has no samples", [](It& it) { it.clear_samples_ns(); }},
      {"counts 1000000 samples and has 0",
       [](It& it) {
         it.clear_samples_ns();
         it.set_sample_count(1'000'000);
       }},
      {"counts 1000000 samples and has 12",
       [](It& it) {
         it.mutable_quantiles_ns()->Resize(kQuantiles, it.minimum_ns());
         it.set_sample_count(1'000'000);
       }},
      {"median of 3600000000000 ns is above all its samples",
       [](It& it) { it.set_median_ns(kMaximumExecutionNs); }},
  };
  for (const Case& it : cases) {
    v1::ProfileResult row = MakeFounded("k");
    it.forge(*row.mutable_measurement());
    EXPECT_TRUE(CheckRow(row).ok()) << "a store of old may hold it";
    EXPECT_THAT(std::string(CheckHandedIn(row).message()),
                HasSubstr(MakeKey("k") + " is refused: "));
    EXPECT_THAT(std::string(CheckHandedIn(row).message()), HasSubstr(it.fault));
  }
  // Noisy ones of old protocols may have none.
  v1::ProfileResult noisy = MakeFounded("k");
  noisy.mutable_measurement()->clear_samples_ns();
  noisy.mutable_measurement()->set_quality(v1::NOISY);
  EXPECT_TRUE(CheckHandedIn(noisy).ok());
}

TEST(CheckRowTest, TakesALookUpInALargeTableAndAnUpdateInPlace) {
  v1::ProfileResult row = MakeMeasured("k", kMinimumExecutionNs);
  v1::DeviceMemory& memory = *row.mutable_measurement()->mutable_memory();
  memory.set_argument_bytes(20'000'000'000);
  EXPECT_TRUE(CheckRow(row).ok()) << CheckRow(row);
  memory.set_output_bytes(20'000'000'000);
  memory.set_alias_bytes(20'000'000'000);
  EXPECT_TRUE(CheckRow(row).ok()) << CheckRow(row);
}

TEST(CheckRowTest, KeysAreHexDigitsOfSha256) {
  const std::string good = MakeKey("k");
  EXPECT_TRUE(CheckKey(good).ok());
  std::string upper = good;
  upper[0] = 'A';
  for (const std::string& bad :
       {std::string(), std::string("k"), good + "0", good.substr(1), upper,
        good.substr(1) + "\n"}) {
    EXPECT_EQ(CheckKey(bad).code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(CheckRowTest, PrunedRowsOfOlderStoresAreRead) {
  EXPECT_EQ(FindFault(MakeRow("k", v1::PRUNED)), "");
  EXPECT_FALSE(CheckRow(MakeRow("k", v1::PRUNED)).ok());
}

TEST(CheckRowTest, OriginsAreTexts) {
  const std::string key = MakeKey("k");
  for (const char* const host :
       {"", "a", "g\xc3\xbcnther", "\xe6\x97\xa5", "\xf0\x9f\x98\x80"}) {
    EXPECT_TRUE(CheckOrigin(key, {.host = host}).ok()) << host;
  }
  for (const char* const host :
       {"\x80", "\xc3", "\xc3(", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x80\x80\x80"}) {
    EXPECT_EQ(CheckOrigin(key, {.host = host}).message(),
              "the profile of " + key +
                  " is refused: its host is no text of at most 1024 bytes");
  }
  EXPECT_FALSE(CheckOrigin(key, {.team = ""}).ok());
}

}  // namespace
}  // namespace meshwright::store
