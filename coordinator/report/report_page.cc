#include "coordinator/report/report_page.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "coordinator/report/report_json.h"
#include "web/page_files.h"

namespace meshwright::report {
namespace {

std::string EscapeHtml(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace

std::string RenderReport(const ReportData& data) {
  const auto file = [](std::string_view name) {
    return std::string(web::GetPageFile(name));
  };
  // One pass: what is put in is not looked through again.
  return absl::StrReplaceAll(
      file("report/page.html"),
      {{"{{title}}", EscapeHtml(data.inputs.plan.model().name())},
       {"{{style}}",
        absl::StrCat(file("style.css"), file("report/report.css"))},
       {"{{charts}}", file("d3.min.js")},
       {"{{script}}",
        absl::StrCat(file("report/format.js"), file("report/parts.js"),
                     file("report/charts.js"), file("report/timeline.js"),
                     file("report/plan_sections.js"),
                     file("report/evidence_sections.js"),
                     file("report/sections.js"))},
       {"{{data}}", FormatReportJson(data)}});
}

}  // namespace meshwright::report
