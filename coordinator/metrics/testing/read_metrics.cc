#include "coordinator/metrics/testing/read_metrics.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "coordinator/http/testing/ask_http.h"

namespace meshwright::metrics {

std::string ReadMetrics(const std::string& address) {
  const std::string answer =
      http::AskHttp(address, "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
  const std::string head = answer.substr(0, answer.find("\r\n"));
  EXPECT_TRUE(absl::EndsWith(head, " 200 OK")) << address << ": " << head;
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

}  // namespace meshwright::metrics
