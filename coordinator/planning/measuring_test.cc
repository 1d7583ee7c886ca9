#include "coordinator/planning/measuring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/store/anchor_time.h"
#include "profiledb/store/away.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::planning {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// Answers a program by how often it was asked for, from 1.
class ScriptedMeasurer : public jobs::Measurer {
 public:
  using Script =
      std::function<v1::ProfileResult(const v1::Program& program, int time)>;
  explicit ScriptedMeasurer(Script script) : script_(std::move(script)) {}

  absl::StatusOr<jobs::DeviceDescription> Describe(
      const v1::DeviceSpec& device) override {
    return jobs::DeviceDescription{.platform = "cpu", .device_count = 2};
  }
  absl::Status Measure(const v1::RunnerRequest& request,
                       const OnResult& on_result,
                       const OnStarted& on_started) override {
    batches.push_back(request.programs_size());
    for (const v1::Program& program : request.programs()) {
      v1::ProfileResult result = script_(program, ++asked_[program.key()]);
      result.set_key(program.key());
      result.set_host("node7");
      result.set_worker("node7/0");
      RETURN_IF_ERROR(on_result(result));
    }
    return absl::OkStatus();
  }

  void NoteRows(absl::Span<const std::string> keys) override {
    noted.insert(keys.begin(), keys.end());
  }

  std::optional<absl::Time> PlanBegan() const override { return began; }

  std::vector<int> batches;
  std::set<std::string> noted;
  std::optional<absl::Time> began;

 private:
  const Script script_;
  std::map<std::string, int> asked_;
};

v1::ProfileResult Measured(int64_t nanoseconds, v1::Quality quality) {
  v1::ProfileResult row;
  row.set_outcome(v1::MEASURED);
  v1::Measurement& it = *row.mutable_measurement();
  it.set_minimum_ns(nanoseconds);
  it.set_median_ns(nanoseconds);
  it.set_compute_ns(nanoseconds);
  for (int i = 0; i < 12; ++i) it.add_samples_ns(nanoseconds);
  it.set_quality(quality);
  return row;
}

v1::ProfileResult Failed(v1::Outcome outcome) {
  v1::ProfileResult row;
  row.set_outcome(outcome);
  row.set_reason("because");
  return row;
}

class MeasuringTest : public testing::Test {
 protected:
  MeasuringTest() {
    for (const char* name : {"a", "b"}) {
      v1::Program& program = programs_.emplace_back();
      program.set_key(store::MakeKey(name));
      program.set_label(name);
      program.set_hlo_module(name);
    }
    context_.device_digest = "machine";
  }
  std::vector<const v1::Program*> All() const {
    return {&programs_[0], &programs_[1]};
  }
  Measuring Make(ScriptedMeasurer& measurer) {
    return Measuring({&store_, &measurer}, {}, context_, quiet_);
  }

  std::vector<v1::Program> programs_;
  space::KeyContext context_;
  store::FakeProfileStore store_;
  const jobs::ProgressFunction quiet_ = [](const v1::PlanProgress&) {};
};

// Takes no row the first time.
class AwayOnce : public store::FakeProfileStore {
 public:
  using FakeProfileStore::Record;
  absl::Status Record(absl::Span<const store::Entry> entries) override {
    if (std::exchange(is_away_, false)) {
      return store::MarkAway(absl::UnavailableError("the database is away"));
    }
    return FakeProfileStore::Record(entries);
  }

 private:
  bool is_away_ = true;
};

// Hands a result in again until it is taken.
class PatientMeasurer : public ScriptedMeasurer {
 public:
  using ScriptedMeasurer::ScriptedMeasurer;
  absl::Status Measure(const v1::RunnerRequest& request,
                       const OnResult& on_result,
                       const OnStarted& on_started) override {
    return ScriptedMeasurer::Measure(
        request,
        [&](const v1::ProfileResult& result) {
          while (true) {
            absl::Status taken = on_result(result);
            if (!store::IsAway(taken)) return taken;
          }
        },
        on_started);
  }
};

TEST_F(MeasuringTest, AResultThatIsHandedInTwiceIsCountedOnce) {
  AwayOnce away;
  PatientMeasurer measurer(
      [](const v1::Program&, int) { return Measured(100, v1::GOOD); });
  Measuring measuring({&away, &measurer}, {}, context_, quiet_);
  ASSERT_TRUE(measuring.Measure(All()).ok());
  EXPECT_EQ(measuring.profiled(), 2);
  EXPECT_EQ(measuring.remeasured(), 0);
  EXPECT_THAT(measuring.measured_now(), SizeIs(2));
  EXPECT_THAT(away.Lookup({programs_[0].key(), programs_[1].key()}).value(),
              SizeIs(2));
}

// Hands all results in together.
class GatheringMeasurer : public ScriptedMeasurer {
 public:
  using ScriptedMeasurer::ScriptedMeasurer;
  absl::Status MeasureTogether(const v1::RunnerRequest& request,
                               const OnResults& on_results,
                               const OnStarted& on_started) override {
    std::vector<v1::ProfileResult> results;
    RETURN_IF_ERROR(Measure(
        request,
        [&](const v1::ProfileResult& result) {
          results.push_back(result);
          return absl::OkStatus();
        },
        on_started));
    return on_results(results);
  }
};

class CommitCounter : public store::FakeProfileStore {
 public:
  using FakeProfileStore::Record;
  absl::Status Record(absl::Span<const store::Entry> entries) override {
    commits.push_back(static_cast<int>(entries.size()));
    return FakeProfileStore::Record(entries);
  }

  std::vector<int> commits;
};

TEST_F(MeasuringTest, ResultsThatComeTogetherAreOneCommit) {
  CommitCounter counter;
  GatheringMeasurer measurer([](const v1::Program& program, int) {
    return program.label() == "a" ? Measured(100, v1::GOOD)
                                  : Failed(v1::CRASHED);
  });
  Measuring measuring({&counter, &measurer}, {}, context_, quiet_);
  ASSERT_TRUE(measuring.Measure(All()).ok());
  EXPECT_THAT(counter.commits, ElementsAre(2));
  EXPECT_EQ(measuring.profiled(), 1);
  EXPECT_EQ(measuring.failed(), 1);
  const auto quarantine = *counter.ListQuarantine();
  ASSERT_THAT(quarantine, SizeIs(1));
  EXPECT_EQ(quarantine[0].key, programs_[1].key());
  EXPECT_EQ(quarantine[0].reason, "b: because");
  EXPECT_EQ(*counter.LookupProgram(programs_[0].key()), "a");
}

TEST_F(MeasuringTest, ThePlansRowsAreNotedWhereverTheyComeFrom) {
  ASSERT_TRUE(store_.Record(store::MakeMeasured("a"), {}).ok());
  ScriptedMeasurer measurer(
      [](const v1::Program&, int) { return Failed(v1::COMPILE_FAILED); });
  Measuring measuring = Make(measurer);
  ASSERT_TRUE(measuring.Lookup(programs_).ok());
  EXPECT_THAT(measurer.noted, ElementsAre(store::MakeKey("a")));
  ASSERT_TRUE(measuring.Measure(All()).ok());
  EXPECT_THAT(measurer.noted,
              UnorderedElementsAre(store::MakeKey("a"), store::MakeKey("b")));
  ScriptedMeasurer lost(
      [](const v1::Program&, int) { return Failed(v1::TRANSIENT); });
  programs_[0].set_key(store::MakeKey("c"));
  ASSERT_TRUE(Make(lost).Measure({&programs_[0]}).ok());
  EXPECT_THAT(lost.noted, ElementsAre());
}

TEST_F(MeasuringTest, ANoisyRowIsMeasuredOnceMoreAndHeals) {
  ScriptedMeasurer measurer([](const v1::Program& program, int time) {
    if (program.label() == "b") return Measured(500, v1::GOOD);
    return time == 1 ? Measured(1700, v1::NOISY) : Measured(1000, v1::GOOD);
  });
  Measuring measuring = Make(measurer);
  ASSERT_TRUE(measuring.Measure(All()).ok());
  EXPECT_THAT(measurer.batches, ElementsAre(2, 1));
  const v1::ProfileResult& healed = measuring.results().at(programs_[0].key());
  EXPECT_EQ(healed.measurement().minimum_ns(), 1000);
  EXPECT_FALSE(IsNoisy(healed));
  EXPECT_EQ(measuring.profiled(), 2);
}

// The worker says what the row's noise comes from; its load is not judged
// again.
TEST_F(MeasuringTest, ABusyMachineIsNotAskedAgainAtOnce) {
  for (const v1::Noise noise : {v1::BUSY_MACHINE, v1::THROTTLED}) {
    store::FakeProfileStore store;
    ScriptedMeasurer measurer([&](const v1::Program&, int) {
      v1::ProfileResult row = Measured(1700, v1::NOISY);
      row.mutable_measurement()->add_noise(v1::MINIMUM_MET_ONCE);
      row.mutable_measurement()->add_noise(noise);
      return row;
    });
    Measuring measuring({&store, &measurer}, {}, context_, quiet_);
    ASSERT_TRUE(measuring.Measure(All()).ok());
    EXPECT_THAT(measurer.batches, ElementsAre(2)) << v1::Noise_Name(noise);
  }
}

TEST_F(MeasuringTest, AnUnsteadyProgramIsAskedAgainAtOnce) {
  ScriptedMeasurer measurer([](const v1::Program&, int) {
    v1::ProfileResult row = Measured(1700, v1::NOISY);
    row.mutable_measurement()->set_other_load(0.3);
    row.mutable_measurement()->add_noise(v1::MINIMUM_MET_ONCE);
    return row;
  });
  Measuring measuring = Make(measurer);
  ASSERT_TRUE(measuring.Measure(All()).ok());
  EXPECT_THAT(measurer.batches, ElementsAre(2, 2));
}

TEST_F(MeasuringTest, ARowThatStaysNoisySaysSo) {
  ScriptedMeasurer measurer(
      [](const v1::Program&, int) { return Measured(1700, v1::NOISY); });
  Measuring measuring = Make(measurer);
  ASSERT_TRUE(measuring.Measure(All()).ok());
  EXPECT_THAT(measurer.batches, ElementsAre(2, 2));
  EXPECT_TRUE(IsNoisy(measuring.results().at(programs_[0].key())));
}

// The second batch shows that the first was of a slow period, which the times
// of one batch do not tell.
TEST_F(MeasuringTest, ASlowPeriodIsMeasuredOnceMore) {
  ScriptedMeasurer measurer([](const v1::Program& program, int time) {
    const bool slow = program.label() != "b" && time == 1;
    v1::ProfileResult row = Measured(slow ? 1150 : 1000, v1::GOOD);
    v1::AnchorTime& anchor = *row.mutable_measurement()->add_anchors();
    anchor.set_name(store::kSpeedAnchor);
    anchor.set_minimum_ns(slow ? 15'900 : 15'200);
    return row;
  });
  Measuring measuring = Make(measurer);
  ASSERT_TRUE(measuring.Measure({All()[0]}).ok());
  ASSERT_TRUE(measuring.Measure({All()[1]}).ok());
  EXPECT_THAT(measurer.batches, ElementsAre(1, 1, 1));
  const v1::ProfileResult& healed = measuring.results().at(programs_[0].key());
  EXPECT_EQ(healed.measurement().minimum_ns(), 1000);
  ASSERT_TRUE(measuring.Measure(All()).ok());
  EXPECT_THAT(measurer.batches, ElementsAre(1, 1, 1));
  EXPECT_EQ(measuring.profiled(), 2);
}

// The anchor says whether a repeat met a better moment.
TEST_F(MeasuringTest, WhatRepeatsFindAsSlowIsTheMachinesSpeed) {
  for (const char* name : {"c", "d", "e", "f"}) {
    v1::Program& program = programs_.emplace_back();
    program.set_key(store::MakeKey(name));
    program.set_label(name);
    program.set_hlo_module(name);
  }
  const std::set<std::string> fast = {"a", "b", "c", "d"};
  ScriptedMeasurer measurer([&](const v1::Program& program, int) {
    v1::ProfileResult row = Measured(1000, v1::GOOD);
    v1::AnchorTime& anchor = *row.mutable_measurement()->add_anchors();
    anchor.set_name(store::kSpeedAnchor);
    anchor.set_minimum_ns(fast.contains(program.label()) ? 15'200 : 15'900);
    return row;
  });
  Measuring measuring = Make(measurer);
  for (const v1::Program& program : programs_) {
    ASSERT_TRUE(measuring.Measure({&program}).ok());
  }
  EXPECT_THAT(measurer.batches, ElementsAre(1, 1, 1, 1, 1, 1, 1));
  EXPECT_EQ(measuring.remeasured(), 1) << "the first of the slow ones";
}

// c is repeated as it is noisy, and just then the machine is slow.
TEST_F(MeasuringTest, ASlowRepeatCountsUntilABatchIsFaster) {
  for (const char* name : {"c", "d", "e"}) {
    v1::Program& program = programs_.emplace_back();
    program.set_key(store::MakeKey(name));
    program.set_label(name);
    program.set_hlo_module(name);
  }
  ScriptedMeasurer measurer([&](const v1::Program& program, int time) {
    const bool is_noisy = program.label() == "c" && time == 1;
    v1::ProfileResult row = Measured(1000, is_noisy ? v1::NOISY : v1::GOOD);
    v1::AnchorTime& anchor = *row.mutable_measurement()->add_anchors();
    anchor.set_name(store::kSpeedAnchor);
    anchor.set_minimum_ns(program.label() == "c" && time == 2   ? 20'000
                          : program.label() == "e" && time == 1 ? 15'900
                                                                : 15'200);
    return row;
  });
  Measuring measuring = Make(measurer);
  for (const v1::Program& program : programs_) {
    ASSERT_TRUE(measuring.Measure({&program}).ok());
  }
  EXPECT_EQ(measuring.remeasured(), 2) << "c and e";
}

// What an earlier plan found in a slow period; one of its rows is of a better
// moment.
TEST_F(MeasuringTest, RowsOfTheStoresSlowPeriodsHeal) {
  const auto take = [](bool is_slow) {
    v1::ProfileResult row = Measured(is_slow ? 1080 : 1000, v1::GOOD);
    v1::AnchorTime& anchor = *row.mutable_measurement()->add_anchors();
    anchor.set_name(store::kSpeedAnchor);
    anchor.set_minimum_ns(is_slow ? 15'900 : 15'200);
    return row;
  };
  const auto count = [&](std::optional<absl::Time> began) {
    store::FakeProfileStore store;
    for (const v1::Program& program : programs_) {
      v1::ProfileResult row = take(program.label() == "a");
      row.set_key(program.key());
      EXPECT_TRUE(store.Record(row, store::MakeOrigin(row, "machine")).ok());
    }
    ScriptedMeasurer calm([&](const v1::Program&, int) { return take(false); });
    calm.began = began;
    Measuring later({&store, &calm}, {}, context_, quiet_);
    EXPECT_TRUE(later.Lookup(programs_).ok());
    EXPECT_TRUE(later.Heal(programs_).ok());
    EXPECT_EQ(later.results().at(programs_[0].key()).measurement().minimum_ns(),
              later.remeasured() == 1 ? 1000 : 1080);
    return later.remeasured();
  };
  EXPECT_EQ(count(std::nullopt), 1);
  EXPECT_EQ(count(absl::Now() + 2 * kRest), 1);
  EXPECT_EQ(count(absl::Now() + kRest / 2), 0);
}

TEST_F(MeasuringTest, GoodMeasurementsThatDisagreeAreNotBelieved) {
  ScriptedMeasurer measurer([](const v1::Program&, int time) {
    return Measured(time == 1 ? 1625 : 947, v1::GOOD);
  });
  Measuring measuring = Make(measurer);
  ASSERT_TRUE(measuring.Measure(All()).ok());
  EXPECT_FALSE(IsNoisy(measuring.results().at(programs_[0].key())));
  ASSERT_TRUE(measuring.Remeasure(All()).ok());
  EXPECT_TRUE(IsNoisy(measuring.results().at(programs_[0].key())));
}

// A plan that is asked for again at once would find the same noise.
TEST_F(MeasuringTest, NoisyRowsOfAMomentAgoAreLeft) {
  ScriptedMeasurer noisy(
      [](const v1::Program&, int) { return Measured(1700, v1::NOISY); });
  ASSERT_TRUE(Make(noisy).Measure(All()).ok());
  const absl::Time measured = absl::Now();
  const auto count = [&](std::optional<absl::Time> began) {
    ScriptedMeasurer calm(
        [](const v1::Program&, int) { return Measured(1000, v1::GOOD); });
    calm.began = began;
    store::FakeProfileStore store;
    Measuring first({&store, &noisy}, {}, context_, quiet_);
    EXPECT_TRUE(first.Measure(All()).ok());
    Measuring later({&store, &calm}, {}, context_, quiet_);
    EXPECT_TRUE(later.Lookup(programs_).ok());
    EXPECT_TRUE(later.Heal(programs_).ok());
    EXPECT_TRUE(IsNoisy(later.results().at(programs_[0].key())) ||
                later.remeasured() == 2);
    return later.remeasured();
  };
  EXPECT_EQ(count(measured + kRest / 2), 0);
  // Long ago, or who knows.
  EXPECT_EQ(count(measured + 2 * kRest), 2);
  EXPECT_EQ(count(std::nullopt), 2);
  // By the plan itself, before it was run again: that run heals no more.
  EXPECT_EQ(count(measured - absl::Minutes(1)), 0);
}

// A run that was ended between a batch and its second measurement would else
// be followed by one that decides from the noisy rows.
TEST_F(MeasuringTest, ARunThatFollowsAnEndedOneMeasuresItsNoisyRowsOnceMore) {
  const absl::Time began = absl::Now();
  for (const v1::Program& program : programs_) {
    v1::ProfileResult row =
        Measured(1700, program.label() == "a" ? v1::NOISY : v1::GOOD);
    row.set_key(program.key());
    ASSERT_TRUE(store_.Record(row, store::MakeOrigin(row, "machine")).ok());
  }
  ScriptedMeasurer calm(
      [](const v1::Program&, int) { return Measured(1000, v1::GOOD); });
  const auto run = [&](std::optional<absl::Time> asked) {
    calm.began = asked;
    Measuring measuring = Make(calm);
    EXPECT_TRUE(measuring.Lookup(programs_).ok());
    EXPECT_TRUE(measuring.Measure({}).ok());
    return measuring.remeasured();
  };
  // Rows of another plan.
  EXPECT_EQ(run(std::nullopt), 0);
  EXPECT_EQ(run(absl::Now() + absl::Minutes(1)), 0);
  EXPECT_EQ(run(began), 1);
  EXPECT_EQ(run(began), 0);
  EXPECT_THAT(calm.batches, ElementsAre(1));
}

TEST_F(MeasuringTest, ABusyMachineMayBeCalmByNow) {
  ScriptedMeasurer busy([](const v1::Program&, int) {
    v1::ProfileResult row = Measured(1700, v1::NOISY);
    row.mutable_measurement()->add_noise(v1::BUSY_MACHINE);
    return row;
  });
  ASSERT_TRUE(Make(busy).Measure(All()).ok());
  ScriptedMeasurer calm(
      [](const v1::Program&, int) { return Measured(1000, v1::GOOD); });
  calm.began = absl::Now() + absl::Minutes(1);
  Measuring later = Make(calm);
  ASSERT_TRUE(later.Lookup(programs_).ok());
  ASSERT_TRUE(later.Heal(programs_).ok());
  EXPECT_EQ(later.remeasured(), 2);
}

TEST_F(MeasuringTest, NoisyRowsOfTheStoreHealAndOthersStay) {
  ScriptedMeasurer busy([](const v1::Program& program, int) {
    v1::ProfileResult row = Measured(1700, v1::NOISY);
    row.mutable_measurement()->add_noise(v1::BUSY_MACHINE);
    return program.label() == "a" ? row : Measured(1000, v1::GOOD);
  });
  ASSERT_TRUE(Make(busy).Measure(All()).ok());
  ScriptedMeasurer calm(
      [](const v1::Program&, int) { return Measured(1000, v1::GOOD); });
  Measuring later = Make(calm);
  ASSERT_TRUE(later.Lookup(programs_).ok());
  ASSERT_TRUE(later.Heal(programs_).ok());
  EXPECT_THAT(calm.batches, ElementsAre(1));
  const v1::ProfileResult& healed = later.results().at(programs_[0].key());
  EXPECT_EQ(healed.measurement().minimum_ns(), 1000);
  EXPECT_EQ(later.profiled(), 0) << "it was known";
  ASSERT_TRUE(later.Heal(programs_).ok());
  EXPECT_THAT(calm.batches, ElementsAre(1));
}

// Each plan would else wait for programs that are noisy themselves.
TEST_F(MeasuringTest, WhatStaysNoisyIsLeftAloneUnlessTheMachineWasBusy) {
  for (const bool is_busy : {false, true}) {
    store::FakeProfileStore store;
    ScriptedMeasurer measurer([&](const v1::Program&, int) {
      v1::ProfileResult row = Measured(1000, v1::NOISY);
      row.mutable_measurement()->add_noise(is_busy ? v1::BUSY_MACHINE
                                                   : v1::MINIMUM_MET_ONCE);
      return row;
    });
    const std::vector<v1::Program> one = {programs_[0]};
    for (int plan = 0; plan < 6; ++plan) {
      Measuring measuring({&store, &measurer}, {}, context_, quiet_);
      ASSERT_TRUE(measuring.Lookup(one).ok());
      ASSERT_TRUE(measuring.Measure({&one[0]}).ok());
      ASSERT_TRUE(measuring.Heal(one).ok());
      EXPECT_TRUE(IsNoisy(measuring.results().at(one[0].key())));
    }
    EXPECT_THAT(measurer.batches, SizeIs(is_busy ? 7 : kEnoughMeasurements));
  }
}

TEST_F(MeasuringTest, ARowSaysWhereItWasMeasured) {
  ScriptedMeasurer measurer(
      [](const v1::Program&, int) { return Measured(1000, v1::GOOD); });
  Measuring measuring = Make(measurer);
  ASSERT_TRUE(measuring.Measure(All()).ok());
  const auto kept = store_.LookupKept(programs_[0].key(), store::kSharedPool);
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_THAT(*kept, SizeIs(1));
  EXPECT_EQ(kept->front().origin.host, "node7");
  EXPECT_EQ(kept->front().origin.worker, "node7/0");
  EXPECT_EQ(kept->front().origin.machine, "machine");
}

TEST_F(MeasuringTest, WhatSaysNothingOfTheProgramIsNoRow) {
  ScriptedMeasurer measurer(
      [](const v1::Program&, int) { return Failed(v1::TRANSIENT); });
  Measuring measuring = Make(measurer);
  ASSERT_TRUE(measuring.Measure(All()).ok());
  EXPECT_EQ(measuring.failed(), 2);
  EXPECT_THAT(measuring.notes(), SizeIs(2));
  const auto rows = store_.Lookup({programs_[0].key(), programs_[1].key()});
  ASSERT_TRUE(rows.ok());
  EXPECT_TRUE(rows->empty());
}

TEST_F(MeasuringTest, WhatFailedIsRunAgainWhereThatIsAsked) {
  ScriptedMeasurer measurer([](const v1::Program& program, int time) {
    return program.label() == "a" && time == 1 ? Failed(v1::COMPILE_FAILED)
                                               : Measured(1000, v1::GOOD);
  });
  Measuring first = Make(measurer);
  ASSERT_TRUE(first.Measure(All()).ok());
  Measuring second = Make(measurer);
  ASSERT_TRUE(second.Lookup(programs_).ok());
  ASSERT_TRUE(second.Measure(All()).ok());
  EXPECT_THAT(measurer.batches, ElementsAre(2));
  // A plan that is run again says of it what it said at first.
  EXPECT_THAT(first.notes(), SizeIs(1));
  EXPECT_EQ(second.notes(), first.notes());

  Measuring third = Make(measurer);
  ASSERT_TRUE(third.Lookup(programs_, /*retry_failures=*/true).ok());
  ASSERT_TRUE(third.Measure(All()).ok());
  EXPECT_THAT(measurer.batches, ElementsAre(2, 1));
  EXPECT_EQ(third.results().at(programs_[0].key()).outcome(), v1::MEASURED);
}

TEST_F(MeasuringTest, AProgramThatTimesOutThreeTimesIsInQuarantine) {
  ScriptedMeasurer measurer([](const v1::Program& program, int) {
    return program.label() == "a" ? Failed(v1::TIMED_OUT)
                                  : Measured(1000, v1::GOOD);
  });
  const auto plan = [&] {
    Measuring measuring = Make(measurer);
    ASSERT_TRUE(measuring.Lookup(programs_).ok());
    ASSERT_TRUE(measuring.Measure(All()).ok());
    EXPECT_THAT(measuring.notes(), SizeIs(1));
  };
  for (int i = 0; i < 5; ++i) plan();
  EXPECT_THAT(measurer.batches, ElementsAre(2, 1, 1));
  const auto listed = store_.ListQuarantine();
  ASSERT_TRUE(listed.ok());
  ASSERT_THAT(*listed, SizeIs(1));
  EXPECT_EQ(listed->front().state, store::QuarantineState::kQuarantined);
  EXPECT_EQ(listed->front().reason, "a: timed out, because");
  ASSERT_TRUE(store_.RetryQuarantined(programs_[0].key()).ok());
  plan();
  EXPECT_THAT(measurer.batches, ElementsAre(2, 1, 1, 1));
}

TEST_F(MeasuringTest, AProgramThatCrashedIsInQuarantineUntilARetry) {
  ScriptedMeasurer measurer([](const v1::Program& program, int) {
    if (program.label() != "a") return Measured(1000, v1::GOOD);
    v1::ProfileResult crashed = Failed(v1::CRASHED);
    crashed.set_log("Check failed: x == y");
    return crashed;
  });
  Measuring first = Make(measurer);
  ASSERT_TRUE(first.Measure(All()).ok());
  const auto listed = store_.ListQuarantine();
  ASSERT_TRUE(listed.ok());
  ASSERT_THAT(*listed, SizeIs(1));
  EXPECT_EQ(listed->front().state, store::QuarantineState::kQuarantined);
  EXPECT_TRUE(listed->front().has_program);
  EXPECT_EQ(listed->front().reason, "a: because");
  EXPECT_EQ(listed->front().log, "Check failed: x == y");
  const auto row = store_.Lookup({programs_[0].key()});
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->at(programs_[0].key()).log(), "") << "not in the row";

  for (const bool retry_failures : {false, true}) {
    Measuring second = Make(measurer);
    ASSERT_TRUE(second.Lookup(programs_, retry_failures).ok());
    ASSERT_TRUE(second.Measure(All()).ok());
    EXPECT_THAT(measurer.batches, ElementsAre(2));
  }

  ASSERT_TRUE(store_.RetryQuarantined(programs_[0].key()).ok());
  Measuring third = Make(measurer);
  ASSERT_TRUE(third.Lookup(programs_).ok());
  ASSERT_TRUE(third.Measure(All()).ok());
  EXPECT_THAT(measurer.batches, ElementsAre(2, 1));
}

}  // namespace
}  // namespace meshwright::planning
