// Rows of a profile store, for people: their figures, measurements and origins.
//
// Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_CLI_TEXT_ROWS_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_ROWS_TEXT_H_

#include <string>

#include "proto/v1/profile.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::cli {

// "good", "noisy", "suspect"; "unknown" for rows older than the rule.
std::string FormatQuality(v1::Quality quality);

// A paragraph for each key.
std::string FormatRows(const v1::RowsReport& report);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_ROWS_TEXT_H_
