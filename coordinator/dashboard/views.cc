#include "coordinator/dashboard/views.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "base/enum_words.h"

namespace meshwright::dashboard {
namespace {

// A worker that was heard of a moment ago says nothing new each second.
constexpr double kSeenStep = 5;

template <typename Enum>
std::string NameOf(const std::string& (*name)(Enum), Enum value) {
  return absl::AsciiStrToLower(name(value));
}

Json ViewTime(int64_t unix_ns) {
  if (unix_ns == 0) return nullptr;
  return std::round(static_cast<double>(unix_ns) * 1e-6) * 1e-3;
}

Json ViewTime(absl::Time when) { return ViewTime(absl::ToUnixNanos(when)); }

Json ViewPositive(double value) {
  return value > 0 ? Json(value) : Json(nullptr);
}

Json ViewProgress(const v1::PlanProgress& progress) {
  return {{"phase", progress.phase()},
          {"done", progress.done()},
          {"total", progress.total()},
          {"cached", progress.cached()},
          {"best_seconds", ViewPositive(progress.best_seconds())},
          {"seconds_left", ViewPositive(progress.seconds_left())},
          {"message", progress.message()}};
}

Json ViewRecord(const v1::PlanRecord& record) {
  const v1::PlanRequest& request = record.request();
  const std::string& platform = request.platform();
  Json view = {
      {"id", record.id()},
      {"model", request.model_name()},
      {"state", NameOf(v1::PlanState_Name<v1::PlanState>, record.state())},
      {"reason", record.reason()},
      {"owner", record.owner()},
      {"namespace", record.namespace_()},
      {"priority", record.priority()},
      {"mesh", absl::StrJoin(request.mesh().shape(), "x")},
      {"platform", platform.empty() ? "cpu" : platform},
      {"device", record.device().device_kind()},
      {"submitted", ViewTime(record.submitted_unix_ns())},
      {"updated", ViewTime(record.updated_unix_ns())},
      {"deadline", ViewTime(record.deadline_unix_ns())}};
  view["progress"] =
      record.has_progress() ? ViewProgress(record.progress()) : Json(nullptr);
  return view;
}

Json ViewPrograms(const v1::PlanPrograms& programs) {
  return {{"distinct", programs.distinct()},
          {"profiled", programs.profiled()},
          {"cached", programs.cached()},
          {"excluded", programs.excluded()},
          {"not_reached", programs.not_reached()},
          {"failed", programs.failed()}};
}

int RankJob(const v1::JobSummary& job) {
  switch (job.state()) {
    case v1::JobSummary::RUNNING:
      return 0;
    case v1::JobSummary::QUEUED:
      return 1;
    default:
      return 2;
  }
}

bool IsBusy(const v1::WorkerSummary& worker) {
  return worker.state() == v1::WorkerSummary::BUSY;
}

bool NeedsSomeone(const v1::WorkerSummary& worker) {
  return worker.state() != v1::WorkerSummary::IDLE &&
         worker.state() != v1::WorkerSummary::BUSY;
}

}  // namespace

Json ViewPlans(const v1::ListPlansResponse& page,
               const std::optional<std::map<v1::PlanState, int64_t>>& counts) {
  Json view;
  view["plans"] = Json::array();
  for (const v1::PlanRecord& record : page.plans()) {
    view["plans"].push_back(ViewRecord(record));
  }
  view["next"] = nullptr;
  if (!page.next_page_token().empty()) view["next"] = page.next_page_token();
  view["counts"] = nullptr;
  if (counts.has_value()) {
    view["counts"] = Json::object();
    for (const auto& [state, count] : *counts) {
      view["counts"][NameOf(v1::PlanState_Name<v1::PlanState>, state)] = count;
    }
  }
  return view;
}

Json ViewPlan(const v1::PlanRecord& record) {
  Json view = ViewRecord(record);
  view["plan"] = nullptr;
  if (!record.has_plan()) return view;
  const v1::Plan& plan = record.plan();
  const v1::PlanPrediction& predicted = plan.predicted();
  view["plan"] = {
      {"feasible", plan.feasible()},
      {"quality", base::LowerName(v1::Quality_Name(plan.quality()))},
      {"step_seconds", ViewPositive(predicted.step_seconds())},
      {"compute_seconds", predicted.compute_seconds()},
      {"communication_seconds", predicted.communication_seconds()},
      {"resharding_seconds", predicted.resharding_seconds()},
      {"peak_bytes", predicted.peak_bytes()},
      {"limit_bytes", ViewPositive(static_cast<double>(plan.limit_bytes()))},
      {"gap", plan.gap()},
      {"total_seconds", plan.seconds().total()},
      {"programs", ViewPrograms(plan.programs())}};
  view["plan"]["notes"] = Json::array();
  for (const std::string& note : plan.notes()) {
    view["plan"]["notes"].push_back(note);
  }
  return view;
}

Json ViewTasks(std::vector<v1::JobSummary> jobs, absl::Time now) {
  Json view;
  view["total"] = jobs.size();
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const v1::JobSummary& a, const v1::JobSummary& b) {
                     return RankJob(a) < RankJob(b);
                   });
  if (jobs.size() > kMaxTasks) jobs.resize(kMaxTasks);
  view["tasks"] = Json::array();
  for (const v1::JobSummary& job : jobs) {
    const bool is_done = job.state() == v1::JobSummary::DONE;
    Json task = {
        {"id", job.id()},
        {"state", NameOf(v1::JobSummary::State_Name<v1::JobSummary::State>,
                         job.state())},
        {"reason", job.reason()},
        {"plan", job.plan()},
        {"model", job.model()},
        {"owner", job.owner()},
        {"namespace", job.namespace_()},
        {"priority", job.priority()},
        {"worker", job.worker_id()},
        {"programs", job.programs()},
        {"finished", job.finished()},
        {"failed", job.failed()}};
    // A point in time stays as it is while the answer is asked for again.
    task["submitted"] = nullptr;
    task["took_seconds"] = nullptr;
    if (is_done) {
      task["took_seconds"] = job.age_seconds();
    } else {
      task["submitted"] =
          absl::ToUnixSeconds(now - absl::Seconds(job.age_seconds()));
    }
    view["tasks"].push_back(std::move(task));
  }
  return view;
}

Json ViewWorkers(std::vector<v1::WorkerSummary> workers) {
  Json view;
  view["total"] = workers.size();
  view["busy"] = std::count_if(workers.begin(), workers.end(), IsBusy);
  const auto others =
      std::stable_partition(workers.begin(), workers.end(), NeedsSomeone);
  view["unwell"] = std::distance(workers.begin(), others);
  if (workers.size() > kMaxWorkers) workers.resize(kMaxWorkers);
  view["workers"] = Json::array();
  for (const v1::WorkerSummary& worker : workers) {
    view["workers"].push_back(
        {{"id", worker.id()},
         {"host", worker.host()},
         {"platform", worker.platform()},
         {"device", worker.device_kind()},
         {"devices", worker.device_count()},
         {"state",
          NameOf(v1::WorkerSummary::State_Name<v1::WorkerSummary::State>,
                 worker.state())},
         {"reason", worker.reason()},
         {"task", worker.job_id()},
         {"programs", worker.programs_measured()},
         {"seen_seconds_ago",
          std::floor(worker.seen_seconds_ago() / kSeenStep) * kSeenStep}});
  }
  return view;
}

Json ViewStore(const std::optional<SurveyCount>& survey) {
  Json view = {{"counted", nullptr}};
  if (!survey.has_value()) return view;
  const store::Statistics& statistics = survey->figures.statistics;
  view["counted"] = ViewTime(survey->when);
  view["outcomes"] = Json::object();
  for (const auto& [outcome, rows] : statistics.profiles) {
    view["outcomes"][NameOf(v1::Outcome_Name<v1::Outcome>, outcome)] = rows;
  }
  view["qualities"] = Json::object();
  int64_t row_bytes = 0;
  for (const auto& [quality, counted] : statistics.measured) {
    view["qualities"][base::LowerName(v1::Quality_Name(quality))] =
        counted.rows;
    row_bytes += counted.bytes;
  }
  view["row_bytes"] = row_bytes;
  view["programs"] = statistics.programs;
  view["program_bytes"] = statistics.program_bytes;
  view["compressed_program_bytes"] = statistics.compressed_program_bytes;
  return view;
}

Json ViewQuality(const std::optional<SurveyCount>& survey,
                 const std::vector<Prediction>& predictions) {
  Json view = {{"counted", nullptr}, {"days", Json::array()}};
  if (survey.has_value()) {
    view["counted"] = ViewTime(survey->when);
    for (const auto& [day, qualities] : survey->figures.days) {
      Json rows = {{"day", day * 86400}};
      for (const auto& [quality, count] : qualities) {
        rows[base::LowerName(v1::Quality_Name(quality))] = count;
      }
      view["days"].push_back(std::move(rows));
    }
  }
  view["predictions"] = Json::array();
  for (const Prediction& it : predictions) {
    view["predictions"].push_back(
        {{"when", ViewTime(it.when)},
         {"device", it.device_kind},
         {"predicted_seconds", it.predicted_seconds},
         {"measured_seconds", it.measured_seconds},
         {"error", it.predicted_seconds / it.measured_seconds - 1}});
  }
  return view;
}

}  // namespace meshwright::dashboard
