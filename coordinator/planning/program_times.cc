#include "coordinator/planning/program_times.h"

#include <cstdint>

#include "coordinator/estimation/time_base.h"
#include "coordinator/planning/plan_metadata.h"
#include "profiledb/store/check_row.h"
#include "profiledb/store/row_time.h"

namespace meshwright::planning {
namespace {

// A file may come from anyone.
bool IsTime(const v1::PlanProgramTime& it) {
  return it.time_ns() >= store::kMinimumExecutionNs &&
         it.time_ns() <= store::kMaximumExecutionNs;
}

}  // namespace

void AddProgramTimes(const std::vector<const v1::Program*>& programs,
                     const MeasuredStep& step, v1::Plan& plan) {
  std::set<std::string> known = ListTimedKeys(plan);
  for (const v1::Program* program : programs) {
    const auto row = step.results.find(program->key());
    if (row == step.results.end() || row->second.outcome() != v1::MEASURED ||
        !known.insert(program->key()).second) {
      continue;
    }
    v1::PlanProgramTime& time = *plan.add_program_times();
    time.set_key(program->key());
    time.set_time_ns(store::GetTimeNs(row->second.measurement()));
  }
}

void AddProgramTimes(const MeasuredStep& step, v1::Plan& plan) {
  std::vector<const v1::Program*> all;
  for (const v1::Program& program : step.space.programs) {
    all.push_back(&program);
  }
  AddProgramTimes(all, step, plan);
}

std::set<std::string> ListTimedKeys(const v1::Plan& plan) {
  std::set<std::string> keys;
  for (const v1::PlanProgramTime& it : plan.program_times()) {
    if (IsTime(it)) keys.insert(it.key());
  }
  return keys;
}

void UseTimeBase(const v1::Plan& plan, MeasuredStep& step) {
  const estimation::TimeBase base = ReadAnchors(plan.anchors());
  if (!base.has_value()) return;
  step.time_base = base;
  step.results = step.rows;
  for (auto& [key, row] : step.results) {
    estimation::BringToTimeBase(base, row);
  }
}

void UseProgramTimes(const v1::Plan& plan, store::Results& rows) {
  for (const v1::PlanProgramTime& it : plan.program_times()) {
    const auto row = rows.find(it.key());
    if (row == rows.end() || row->second.outcome() != v1::MEASURED) continue;
    v1::Measurement& measurement = *row->second.mutable_measurement();
    const int64_t now = store::GetTimeNs(measurement);
    if (now <= 0 || !IsTime(it)) continue;
    estimation::ScaleTimes(
        static_cast<double>(it.time_ns()) / static_cast<double>(now),
        measurement);
  }
}

}  // namespace meshwright::planning
