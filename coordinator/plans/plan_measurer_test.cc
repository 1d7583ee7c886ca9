#include "coordinator/plans/plan_measurer.h"

#include <gtest/gtest.h>

#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "coordinator/jobs/in_flight.h"
#include "coordinator/jobs/suspension.h"
#include "coordinator/plans/testing/runner_fixture.h"
#include "coordinator/plans/testing/stepped_worker.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::plans {
namespace {

class PlanMeasurerTest : public RunnerFixture {
 protected:
  // Of a run that begins now.
  PlanMeasurer NewMeasurer() {
    return PlanMeasurer(
        &queue_, &in_flight_, &plans_, std::nullopt,
        [](const v1::DeviceRecord&) { return absl::OkStatus(); },
        jobs::JobOrigin(), std::stop_token());
  }
  static absl::Status MeasureProgram(PlanMeasurer& measurer,
                                     const std::string& name) {
    v1::RunnerRequest request;
    request.mutable_device()->set_device_count(2);
    request.add_programs()->set_key(store::MakeKey(name));
    return measurer.MeasureTogether(request, nullptr, nullptr);
  }

  jobs::InFlight in_flight_;
};

TEST_F(PlanMeasurerTest, WhatAnotherRunMeasuredMeanwhileIsNotMeasuredAgain) {
  PlanMeasurer run = NewMeasurer();
  PlanMeasurer other = NewMeasurer();
  {
    SteppedWorker worker(&queue_);
    const std::jthread serving([&] {
      worker.Serve();
      worker.Serve();
    });
    EXPECT_TRUE(MeasureProgram(other, "shared").ok());
    EXPECT_TRUE(MeasureProgram(run, "own").ok());
  }
  // There is no worker: only what others have measured needs none.
  EXPECT_TRUE(MeasureProgram(run, "shared").ok());
  // A row that the run has read it may ask for again, as where it is noisy.
  EXPECT_TRUE(jobs::IsSuspended(MeasureProgram(run, "own")));
}

}  // namespace
}  // namespace meshwright::plans
