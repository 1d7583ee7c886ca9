// The text of an Exporter over HTTP.
//
// Errors: none; where nobody answers the text is empty, and the test fails.
#ifndef MESHWRIGHT_COORDINATOR_METRICS_TESTING_READ_METRICS_H_
#define MESHWRIGHT_COORDINATOR_METRICS_TESTING_READ_METRICS_H_

#include <string>

namespace meshwright::metrics {

// The body of /metrics at 127.0.0.1:PORT.
std::string ReadMetrics(const std::string& address);

}  // namespace meshwright::metrics

#endif  // MESHWRIGHT_COORDINATOR_METRICS_TESTING_READ_METRICS_H_
