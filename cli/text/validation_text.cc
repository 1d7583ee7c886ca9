#include "cli/text/validation_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/text/format.h"
#include "cli/text/table.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

std::string FormatShare(const ordered_json& share) {
  return share.is_null()
             ? "-"
             : absl::StrFormat("%.1f %%", share.get<double>() * 100);
}

std::string SecondsCell(const ordered_json& seconds) {
  return seconds.is_null() ? "-" : FormatSeconds(seconds);
}

std::string BytesCell(const ordered_json& bytes) {
  return bytes.is_null() ? "-" : FormatBytes(bytes);
}

std::string DriftText(const ordered_json& report) {
  if (report["machine_drift"].is_null()) return "";
  return absl::StrFormat(
      "segments measured again take %.3f times their profiled time; the errors "
      "are corrected for it\n",
      report["machine_drift"].get<double>());
}

// For outputs that differ on the first inputs and not on others.
std::string KinkText(const std::string& name, const ordered_json& row) {
  return absl::StrFormat(
      "%s: outputs differ by %.1e on the first inputs and agree on others, so "
      "a value lies where the step is not smooth and rounding decides\n",
      name, row["difference_on_first_inputs"].get<double>());
}

std::string FormatPasses(const ordered_json& report) {
  std::vector<TableRow> rows;
  int number = 0;
  for (const ordered_json& stage : report["stages"]) {
    ++number;
    for (const ordered_json& pass : stage["passes"]) {
      TableRow& row = rows.emplace_back(
          TableRow{absl::StrCat(number), pass["pass"].get<std::string>(),
                   FormatSeconds(pass["predicted_seconds"])});
      if (pass.contains("failure")) {
        row.push_back(pass["failure"].get<std::string>());
      } else {
        row.insert(row.end(), {FormatSeconds(pass["measured_seconds"]),
                               FormatShare(pass["error"]),
                               FormatShare(pass["error_as_profiled"])});
      }
    }
  }
  return FormatTable({{"stage", Align::kLeft},
                      {"pass", Align::kLeft},
                      {"predicted"},
                      {"measured"},
                      {"error"},
                      {"error as profiled"}},
                     rows);
}

std::string DescribeStep(const ordered_json& report) {
  const ordered_json& step = report["step"];
  std::string text = absl::StrCat(
      "step of ", report["micro_batches"].get<int>(), " micro-batches, ",
      report["schedule"].get<std::string>(), ": ",
      FormatSeconds(step["predicted_seconds"]), " predicted");
  if (!step["simulated_seconds"].is_null()) {
    absl::StrAppend(&text, ", ", FormatSeconds(step["simulated_seconds"]),
                    " simulated from the measured passes, error ",
                    FormatShare(step["error"]));
  }
  return absl::StrCat(text,
                      "\nthe stages ran one after the other on the same "
                      "devices, so the pipeline itself is not measured\n");
}

}  // namespace

std::string ValidationText(const ordered_json& report) {
  std::vector<TableRow> rows;
  for (const ordered_json& it : report["plans"]) {
    TableRow& row = rows.emplace_back(TableRow{it["name"].get<std::string>()});
    if (it.contains("failure")) {
      row.push_back(it["failure"].get<std::string>());
      continue;
    }
    row.insert(
        row.end(),
        {SecondsCell(it["predicted_seconds"]),
         SecondsCell(it["measured_seconds"]), FormatShare(it["error"]),
         BytesCell(it["predicted_peak_bytes"]),
         BytesCell(it["measured_peak_bytes"]),
         absl::StrFormat("%.1e", it["max_relative_difference"].get<double>())});
  }
  std::string text = FormatTable({{"plan", Align::kLeft},
                                  {"predicted"},
                                  {"measured"},
                                  {"error"},
                                  {"predicted peak"},
                                  {"measured peak"},
                                  {"difference"}},
                                 rows);
  if (!report["best_measured"].is_null()) {
    absl::StrAppend(&text, "fastest measured plan: ",
                    report["best_measured"].get<std::string>(), "\n");
  }
  const double tolerance = report["tolerance"];
  for (const ordered_json& row : report["plans"]) {
    if (!row["max_relative_difference"].is_number()) continue;
    const std::string name = row["name"];
    if (row.contains("difference_on_first_inputs")) {
      absl::StrAppend(&text, KinkText(name, row));
    } else if (!(row["max_relative_difference"].get<double>() <= tolerance)) {
      absl::StrAppendFormat(&text,
                            "%s: outputs differ from the step on one device by "
                            "more than %.0e, on two sets of inputs\n",
                            name, tolerance);
    }
  }
  return absl::StrCat(text, DriftText(report));
}

std::string StagedValidationText(const ordered_json& report) {
  std::string text = absl::StrCat(FormatPasses(report), DescribeStep(report),
                                  DriftText(report));
  const double difference = report["max_relative_difference"];
  const double tolerance = report["tolerance"];
  absl::StrAppendFormat(
      &text, "%d outputs differ by at most %.1e from %s on one device\n",
      report["outputs"].get<int>(), difference,
      report["reference"] == "model"
          ? "the step"
          : "the step as one stage, which adds up the gradients of its "
            "micro-batches");
  if (report.contains("difference_on_first_inputs")) {
    absl::StrAppend(&text, KinkText("the plan", report));
  } else if (!(difference <= tolerance)) {
    absl::StrAppendFormat(
        &text,
        "this is more than %.0e, on two sets of inputs; output %d differs "
        "most\n",
        tolerance, report["worst_output"].get<int>());
  }
  return text;
}

}  // namespace meshwright::cli
