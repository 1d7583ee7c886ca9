// Writes a store as a team has it after a year: plans that have ended, and
// measured rows of many days.
//
//   dashboard_store FILE PLANS ROWS
//
// Plans that are at work, workers and tasks are those of the coordinator that
// is started on the file.
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "profiledb/open.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright {
namespace {

constexpr const char* kModels[] = {"llama_70b_96l", "gpt2_xl", "mixtral_8x7b",
                                   "t5_3b",         "vit_g14", "qwen3_32b"};
constexpr const char* kOwners[] = {"token:ada", "token:grace", "token:nightly"};
constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kStepNs = 5000 * kSecondNs;  // between two submissions
constexpr int kDays = 40;

v1::PlanRecord MakeRecord(int number, int64_t submitted_ns) {
  v1::PlanRecord record;
  record.set_namespace_(store::kSharedPool);
  record.set_owner(kOwners[number % 3]);
  record.mutable_request()->set_model_name(kModels[number % 6]);
  for (const int axis : {number % 2 + 1, 8}) {
    record.mutable_request()->mutable_mesh()->add_shape(axis);
  }
  record.mutable_request()->set_platform("cuda");
  record.set_module_sha256(base::Sha256Hex(absl::StrCat(number)));
  record.set_submitted_unix_ns(submitted_ns);
  return record;
}

v1::PlanUpdate MakeEnd(int number, int64_t submitted_ns) {
  v1::PlanUpdate update;
  update.set_unix_ns(submitted_ns + (40 + number % 400) * kSecondNs);
  v1::PlanProgress& progress = *update.mutable_progress();
  progress.set_phase("search");
  progress.set_done(60 + number % 90);
  progress.set_total(progress.done());
  progress.set_cached(number % 60);
  if (number % 29 == 0) {
    update.set_state(v1::FAILED);
    update.set_reason(
        "no plan fits into 80.0 GiB per device; the smallest needs 91.4 GiB");
    return update;
  }
  if (number % 31 == 0) {
    update.set_state(v1::CANCELLED);
    update.set_reason("cancelled by token:ada");
    return update;
  }
  const double step = 0.18 + 0.01 * (number % 37);
  progress.set_best_seconds(step);
  update.set_state(v1::DONE);
  update.mutable_device()->set_device_kind("NVIDIA H100 80GB HBM3");
  v1::Plan& plan = *update.mutable_plan();
  plan.set_feasible(true);
  plan.set_quality(v1::GOOD);
  plan.mutable_predicted()->set_step_seconds(step);
  plan.mutable_predicted()->set_communication_seconds(0.21 * step);
  plan.mutable_predicted()->set_resharding_seconds(0.02 * step);
  plan.mutable_predicted()->set_peak_bytes(int64_t{61} << 30);
  plan.set_limit_bytes(int64_t{80} << 30);
  return update;
}

absl::Status AddPlans(store::PlanStore& plans, int count, int64_t now_ns) {
  ASSIGN_OR_RETURN(const store::Epoch epoch, plans.BeginEpoch("the bench"));
  for (int i = 0; i < count; ++i) {
    const int64_t submitted = now_ns - (count - i) * kStepNs;
    ASSIGN_OR_RETURN(const v1::PlanRecord record,
                     plans.Add(MakeRecord(i, submitted)));
    ASSIGN_OR_RETURN(const store::PlanId id, store::ParsePlanId(record.id()));
    RETURN_IF_ERROR(plans.Append(epoch, id, MakeEnd(i, submitted)).status());
  }
  return absl::OkStatus();
}

absl::Status AddRows(store::ProfileStore& profiles, int count, int64_t now_ns) {
  std::vector<store::Entry> entries;
  for (int i = 0; i < count; ++i) {
    const v1::Quality quality = i % 50 == 0   ? v1::SUSPECT
                                : i % 12 == 0 ? v1::NOISY
                                              : v1::GOOD;
    store::Entry entry;
    entry.result = store::MakeMeasured(absl::StrCat("row ", i),
                                       1'000'000 + 1000 * i, quality);
    entry.origin = store::MakeWorkersOrigin(i);
    const int64_t day = (i * i / 7) % kDays;
    entry.origin.recorded = store::Nanoseconds(
        std::chrono::nanoseconds(now_ns - day * 86400 * kSecondNs));
    entries.push_back(std::move(entry));
  }
  return profiles.Record(entries);
}

absl::Status Write(const std::string& path, int plan_count, int row_count) {
  const int64_t now_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::system_clock::now().time_since_epoch())
          .count();
  ASSIGN_OR_RETURN(const auto profiles, store::OpenProfileStore(path));
  RETURN_IF_ERROR(AddRows(*profiles, row_count, now_ns));
  ASSIGN_OR_RETURN(const auto plans, store::OpenPlanStore(path));
  return AddPlans(*plans, plan_count, now_ns);
}

}  // namespace
}  // namespace meshwright

int main(int argc, char** argv) {
  int plans = 0;
  int rows = 0;
  if (argc != 4 || !absl::SimpleAtoi(argv[2], &plans) ||
      !absl::SimpleAtoi(argv[3], &rows)) {
    std::fprintf(stderr, "usage: dashboard_store FILE PLANS ROWS\n");
    return 2;
  }
  const absl::Status status = meshwright::Write(argv[1], plans, rows);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
