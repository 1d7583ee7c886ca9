// RenderReport: the report of a plan as one page, with all that it needs.
//
// Concept: web/report/page.html is a template. Its {{names}} are replaced by
// the stylesheets, the scripts and the data, so that the page is one file. A
// content security policy in it lets nothing be loaded from anywhere.
// In → Out: the data of a plan → HTML. Equal plans give equal pages.
// Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_REPORT_REPORT_PAGE_H_
#define MESHWRIGHT_COORDINATOR_REPORT_REPORT_PAGE_H_

#include <string>

#include "coordinator/report/report_data.h"

namespace meshwright::report {

std::string RenderReport(const ReportData& data);

}  // namespace meshwright::report

#endif  // MESHWRIGHT_COORDINATOR_REPORT_REPORT_PAGE_H_
