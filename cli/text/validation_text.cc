#include "cli/text/validation_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/text/format.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

std::string ErrorText(const ordered_json& error) {
  return error.is_null() ? "-"
                         : absl::StrFormat("%.1f%%", error.get<double>() * 100);
}

std::string PassesText(const ordered_json& report) {
  std::string text =
      absl::StrFormat("%-8s %-16s %11s %11s %8s %12s\n", "stage", "pass",
                      "predicted", "measured", "error", "as profiled");
  int number = 0;
  for (const ordered_json& stage : report["stages"]) {
    ++number;
    for (const ordered_json& row : stage["passes"]) {
      absl::StrAppendFormat(&text, "%-8d %-16s %11s ", number,
                            row["pass"].get<std::string>(),
                            FormatSeconds(row["predicted_seconds"]));
      if (row.contains("failure")) {
        absl::StrAppend(&text, row["failure"].get<std::string>(), "\n");
        continue;
      }
      absl::StrAppendFormat(
          &text, "%11s %8s %12s\n", FormatSeconds(row["measured_seconds"]),
          ErrorText(row["error"]), ErrorText(row["error_as_profiled"]));
    }
  }
  return text;
}

std::string StepText(const ordered_json& report) {
  const ordered_json& step = report["step"];
  std::string text = absl::StrCat(
      "step of ", report["micro_batches"].get<int>(), " micro-batches, ",
      report["schedule"].get<std::string>(), ": ",
      FormatSeconds(step["predicted_seconds"]), " predicted");
  if (!step["simulated_seconds"].is_null()) {
    absl::StrAppend(&text, ", ", FormatSeconds(step["simulated_seconds"]),
                    " simulated from what the modules take");
  }
  absl::StrAppend(&text,
                  "; they ran one after the other on the same devices, so the "
                  "pipeline itself was not timed\n");
  if (!report["machine_drift"].is_null()) {
    absl::StrAppendFormat(
        &text,
        "segments timed again take %.3f times what they took when profiled; "
        "errors are less that: %s of the step\n",
        report["machine_drift"].get<double>(), ErrorText(step["error"]));
  }
  return text;
}

}  // namespace

std::string ValidationText(const ordered_json& report) {
  std::string text = absl::StrFormat("%-12s %11s %11s %8s %11s %11s %11s\n",
                                     "plan", "predicted", "measured", "error",
                                     "predicted", "measured", "difference");
  for (const ordered_json& row : report["plans"]) {
    const std::string name = row["name"];
    if (row.contains("failure")) {
      absl::StrAppend(&text,
                      absl::StrFormat("%-12s %s\n", name,
                                      row["failure"].get<std::string>()));
      continue;
    }
    const bool predicted = row["predicted_seconds"].is_number();
    absl::StrAppend(
        &text, absl::StrFormat(
                   "%-12s %11s %11s %8s %11s %11s %11.1e\n", name,
                   predicted ? FormatSeconds(row["predicted_seconds"]) : "-",
                   FormatSeconds(row["measured_seconds"]),
                   predicted ? absl::StrFormat("%.1f%%",
                                               row["error"].get<double>() * 100)
                             : "-",
                   predicted ? FormatBytes(row["predicted_peak_bytes"]) : "-",
                   FormatBytes(row["measured_peak_bytes"]),
                   row["max_relative_difference"].get<double>()));
  }
  absl::StrAppend(&text, "chosen ", report["chosen"].get<std::string>());
  if (!report["best_measured"].is_null()) {
    absl::StrAppend(&text, ", best measured ",
                    report["best_measured"].get<std::string>());
  }
  absl::StrAppend(&text, "\n");
  const double tolerance = report["tolerance"];
  for (const ordered_json& row : report["plans"]) {
    if (!row["max_relative_difference"].is_number()) continue;
    const std::string name = row["name"];
    if (row.contains("difference_on_first_inputs")) {
      absl::StrAppend(
          &text, absl::StrFormat(
                     "%s differed by %.1e on the first inputs and does "
                     "not on others: a value met a kink of the step, "
                     "where rounding decides\n",
                     name, row["difference_on_first_inputs"].get<double>()));
    } else if (!(row["max_relative_difference"].get<double>() <= tolerance)) {
      absl::StrAppend(&text,
                      absl::StrFormat("%s differs from the step on one device "
                                      "by more than %.0e, on two inputs\n",
                                      name, tolerance));
    }
  }
  if (report["machine_drift"].is_number()) {
    absl::StrAppend(
        &text, absl::StrFormat("segments timed again take %.3f times what they "
                               "took when profiled; errors are less that\n",
                               report["machine_drift"].get<double>()));
  }
  return text;
}

std::string StagedValidationText(const ordered_json& report) {
  std::string text = absl::StrCat(PassesText(report), StepText(report));
  const double difference = report["max_relative_difference"];
  absl::StrAppendFormat(
      &text, "%d outputs differ by %.1e at most from %s on one device\n",
      report["outputs"].get<int>(), difference,
      report["reference"] == "model" ? "the step"
                                     : "the step as one stage, gradients of "
                                       "its micro-batches added up");
  if (report.contains("difference_on_first_inputs")) {
    absl::StrAppendFormat(
        &text,
        "they differed by %.1e on the first inputs and do not on others: a "
        "value met a kink of the step, where rounding decides\n",
        report["difference_on_first_inputs"].get<double>());
  } else if (!(difference <= report["tolerance"].get<double>())) {
    absl::StrAppendFormat(
        &text, "that is more than %.0e, on two inputs: output %d\n",
        report["tolerance"].get<double>(), report["worst_output"].get<int>());
  }
  return text;
}

}  // namespace meshwright::cli
