// The JSON that the page of a report reads.
//
// Concept: names and order follow the sections of the page, and
// web/report reads them. It is no interface: page and data are
// written together. Plans, choices and validations have formats of their own
// (docs/formats).
// Units: seconds, bytes per device. What is not known is null.
// Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_REPORT_REPORT_JSON_H_
#define MESHWRIGHT_COORDINATOR_REPORT_REPORT_JSON_H_

#include <string>

#include "coordinator/report/report_data.h"

namespace meshwright::report {

// In ASCII, with no "<": it may stand inside an element of HTML.
std::string FormatReportJson(const ReportData& data);

}  // namespace meshwright::report

#endif  // MESHWRIGHT_COORDINATOR_REPORT_REPORT_JSON_H_
