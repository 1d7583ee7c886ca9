#include "cli/text/validation_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/text/format.h"
#include "cli/text/json.h"
#include "cli/text/table.h"

namespace meshwright::cli {
namespace {

std::string FormatJson(const google::protobuf::Message& report) {
  // Left out where they do not apply.
  return ToJson(report,
                {"failure", "difference_on_first_inputs", "worst_output"})
             .dump(2) +
         "\n";
}

// The usual reference of a validation.
constexpr absl::string_view kOneDevice = "one device";

std::string FormatShare(bool known, double share) {
  return known ? absl::StrFormat("%.1f %%", share * 100) : "-";
}

// Defines both errors, and by how much the second is corrected: true for each
// row. `whose`: the segments of a row.
std::string DescribeErrors(std::vector<double> drifts,
                           absl::string_view whose) {
  std::string text = "error as planned: predicted / measured - 1; error now: ";
  if (drifts.empty()) {
    return absl::StrCat(text,
                        "not known, because no segment was measured again\n");
  }
  const auto [min_drift, max_drift] =
      std::minmax_element(drifts.begin(), drifts.end());
  absl::StrAppendFormat(&text,
                        "the same after predicted is multiplied by the drift "
                        "of %s segments, which take %.3f to %.3f times their "
                        "stored time while validating\n",
                        whose, *min_drift, *max_drift);
  return text;
}

// For outputs that differ on the first inputs and not on others.
std::string DescribeKink(const std::string& name, double difference) {
  return absl::StrFormat(
      "%s: outputs differ by %.1e on the first inputs and agree on others, so "
      "a value lies where the step is not smooth and rounding decides\n",
      name, difference);
}

std::string FormatPasses(const v1::StagedValidationReport& report) {
  std::vector<TableRow> rows;
  for (int i = 0; i < report.stages_size(); ++i) {
    for (const v1::ValidatedPass& it : report.stages(i).passes()) {
      TableRow& row =
          rows.emplace_back(TableRow{absl::StrCat(i + 1), it.pass(),
                                     FormatSeconds(it.predicted_seconds())});
      if (it.has_failure()) {
        row.push_back(it.failure());
      } else {
        row.insert(
            row.end(),
            {FormatSeconds(it.measured_seconds()),
             FormatShare(it.has_error_as_planned(), it.error_as_planned()),
             FormatShare(it.has_error_now(), it.error_now())});
      }
    }
  }
  return FormatTable({{"stage", Align::kLeft},
                      {"pass", Align::kLeft},
                      {"predicted"},
                      {"measured"},
                      {"error as planned"},
                      {"error now"}},
                     rows);
}

std::string DescribeStep(const v1::StagedValidationReport& report) {
  const v1::ValidatedStep& step = report.step();
  std::string text = absl::StrCat(
      "step of ", report.micro_batches(), " micro-batches, ", report.schedule(),
      ": ", FormatSeconds(step.predicted_seconds()), " predicted");
  if (step.has_simulated_seconds()) {
    absl::StrAppend(
        &text, ", ", FormatSeconds(step.simulated_seconds()),
        " simulated from the measured passes, error as planned ",
        FormatShare(step.has_error_as_planned(), step.error_as_planned()),
        ", error now ", FormatShare(step.has_error_now(), step.error_now()));
  }
  return absl::StrCat(text,
                      "\nthe stages ran one after the other on the same "
                      "devices, so the pipeline itself is not measured\n");
}

std::string DescribeRowErrors(const v1::ValidationReport& report) {
  std::vector<double> drifts;
  bool is_gap = false;  // a prediction that is no older than the validation
  for (const v1::ValidatedPlan& it : report.plans()) {
    if (it.has_drift()) drifts.push_back(it.drift());
    is_gap |= it.has_predicted_seconds() && it.has_measured_seconds() &&
              !it.has_error_as_planned();
  }
  return absl::StrCat(
      DescribeErrors(std::move(drifts), "the plan's"),
      is_gap ? "plans without an error as planned are predicted from rows of "
               "the store, because the plan's file has no times of some of "
               "their segments\n"
             : "");
}

std::string DescribeStageErrors(const v1::StagedValidationReport& report) {
  std::vector<double> drifts;
  for (const v1::ValidatedStage& it : report.stages()) {
    if (it.has_drift()) drifts.push_back(it.drift());
  }
  return DescribeErrors(std::move(drifts), "the stage's");
}

}  // namespace

std::string DescribeValidation(const v1::ValidationReport& report) {
  std::vector<TableRow> rows;
  for (const v1::ValidatedPlan& it : report.plans()) {
    TableRow& row = rows.emplace_back(TableRow{it.name()});
    if (it.has_failure()) {
      row.push_back(it.failure());
      continue;
    }
    const bool predicted = it.has_predicted_seconds();
    row.insert(row.end(),
               {predicted ? FormatSeconds(it.predicted_seconds()) : "-",
                FormatSeconds(it.measured_seconds()),
                FormatShare(it.has_error_as_planned(), it.error_as_planned()),
                FormatShare(it.has_error_now(), it.error_now()),
                predicted ? FormatBytes(it.predicted_peak_bytes()) : "-",
                FormatBytes(it.measured_peak_bytes()),
                absl::StrFormat("%.1e", it.max_relative_difference())});
  }
  std::string text = FormatTable({{"plan", Align::kLeft},
                                  {"predicted"},
                                  {"measured"},
                                  {"error as planned"},
                                  {"error now"},
                                  {"predicted peak"},
                                  {"measured peak"},
                                  {"difference"}},
                                 rows);
  if (report.has_best_measured()) {
    absl::StrAppend(&text, "fastest measured plan: ", report.best_measured(),
                    "\n");
  }
  for (const v1::ValidatedPlan& it : report.plans()) {
    if (!it.has_max_relative_difference()) continue;
    if (it.has_difference_on_first_inputs()) {
      absl::StrAppend(&text,
                      DescribeKink(it.name(), it.difference_on_first_inputs()));
    } else if (!(it.max_relative_difference() <= report.tolerance())) {
      absl::StrAppendFormat(&text,
                            "%s: outputs differ from those of %s by more than "
                            "%.0e, on two sets of inputs\n",
                            it.name(), report.reference(), report.tolerance());
    }
  }
  if (report.reference() != kOneDevice) {
    absl::StrAppend(&text, "the outputs are compared with those of ",
                    report.reference(),
                    ", because no single device holds the whole step\n");
  }
  return absl::StrCat(text, DescribeRowErrors(report));
}

std::string DescribeStagedValidation(const v1::StagedValidationReport& report) {
  std::string text = absl::StrCat(FormatPasses(report), DescribeStep(report),
                                  DescribeStageErrors(report));
  absl::StrAppendFormat(
      &text, "%d outputs differ by at most %.1e from %s on one device\n",
      report.outputs(), report.max_relative_difference(),
      report.reference() == "model"
          ? "the step"
          : "the step as one stage, which adds up the gradients of its "
            "micro-batches");
  if (report.has_difference_on_first_inputs()) {
    absl::StrAppend(
        &text, DescribeKink("the plan", report.difference_on_first_inputs()));
  } else if (!(report.max_relative_difference() <= report.tolerance())) {
    absl::StrAppendFormat(
        &text,
        "this is more than %.0e, on two sets of inputs; output %d differs "
        "most\n",
        report.tolerance(), report.worst_output());
  }
  return text;
}

std::string FormatValidation(const v1::ValidationReport& report, bool as_json) {
  return as_json ? FormatJson(report) : DescribeValidation(report);
}

std::string FormatValidation(const v1::StagedValidationReport& report,
                             bool as_json) {
  return as_json ? FormatJson(report) : DescribeStagedValidation(report);
}

}  // namespace meshwright::cli
