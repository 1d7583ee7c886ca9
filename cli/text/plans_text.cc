#include "cli/text/plans_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/text/format.h"
#include "cli/text/plan_text.h"
#include "cli/text/table.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

// From its submission to its end, or to now. The coordinator's clock may be
// ahead of this machine's: a plan that it has just taken is no time old.
double FindElapsedSeconds(const v1::PlanRecord& record, absl::Time now) {
  const bool has_ended = record.state() == v1::DONE ||
                         record.state() == v1::FAILED ||
                         record.state() == v1::CANCELLED;
  const absl::Time end =
      has_ended ? absl::FromUnixNanos(record.updated_unix_ns()) : now;
  return std::max(0.0,
                  absl::ToDoubleSeconds(
                      end - absl::FromUnixNanos(record.submitted_unix_ns())));
}

}  // namespace

std::string FormatPlanState(v1::PlanState state) {
  return absl::AsciiStrToLower(v1::PlanState_Name(state));
}

absl::StatusOr<v1::PlanState> ParsePlanState(const std::string& name) {
  v1::PlanState state = v1::PLAN_STATE_UNSPECIFIED;
  if (v1::PlanState_Parse(absl::AsciiStrToUpper(name), &state) &&
      state != v1::PLAN_STATE_UNSPECIFIED) {
    return state;
  }
  std::vector<std::string> names;
  for (int i = 1; i <= v1::PlanState_MAX; ++i) {
    names.push_back(FormatPlanState(static_cast<v1::PlanState>(i)));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no plan is ever ", name, "; plans are ", absl::StrJoin(names, ", ")));
}

ordered_json PlanRecordToJson(const v1::PlanRecord& record, absl::Time now,
                              bool with_plan) {
  const v1::PlanProgress& progress = record.progress();
  ordered_json json;
  json["id"] = record.id();
  json["owner"] = record.owner();
  json["namespace"] = record.namespace_();
  json["model"] = record.request().model_name();
  json["state"] = FormatPlanState(record.state());
  json["reason"] = record.reason();
  json["elapsed_seconds"] = FindElapsedSeconds(record, now);
  json["deadline"] = nullptr;
  if (record.deadline_unix_ns() != 0) {
    json["deadline"] = absl::FormatTime(
        absl::RFC3339_sec, absl::FromUnixNanos(record.deadline_unix_ns()),
        absl::UTCTimeZone());
  }
  json["done"] = progress.done();
  json["total"] = progress.total();
  json["hits"] = progress.cached();
  json["seconds_left"] = nullptr;
  if (record.state() == v1::MEASURING && progress.seconds_left() > 0) {
    json["seconds_left"] = progress.seconds_left();
  }
  if (with_plan && record.has_plan()) {
    json["plan"] = PlanToJson(record.plan());
  }
  return json;
}

std::string FormatPlans(const std::vector<v1::PlanRecord>& records,
                        absl::Time now) {
  std::vector<TableRow> rows;
  for (const v1::PlanRecord& record : records) {
    const v1::PlanProgress& progress = record.progress();
    const bool measures = record.state() == v1::MEASURING;
    rows.push_back({record.id(), record.owner(), record.namespace_(),
                    record.request().model_name(),
                    FormatPlanState(record.state()),
                    FormatSeconds(FindElapsedSeconds(record, now)),
                    absl::StrCat(progress.done(), "/", progress.total()),
                    absl::StrCat(progress.cached()),
                    measures && progress.seconds_left() > 0
                        ? FormatSeconds(progress.seconds_left())
                        : "",
                    record.reason()});
  }
  return FormatTable({{"plan", Align::kLeft},
                      {"owner", Align::kLeft},
                      {"namespace", Align::kLeft},
                      {"model", Align::kLeft},
                      {"state", Align::kLeft},
                      {"elapsed"},
                      {"done"},
                      {"hits"},
                      {"left"},
                      {"reason", Align::kLeft}},
                     rows);
}

}  // namespace meshwright::cli
