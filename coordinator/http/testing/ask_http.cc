#include "coordinator/http/testing/ask_http.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/numbers.h"

namespace meshwright::http {

int ConnectHttp(const std::string& address) {
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  sockaddr_in there = {};
  there.sin_family = AF_INET;
  there.sin_port = htons(static_cast<uint16_t>(port));
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(connection, reinterpret_cast<const sockaddr*>(&there),
              sizeof(there)) == 0) {
    return connection;
  }
  close(connection);
  return -1;
}

std::string AskHttp(const std::string& address, const std::string& request) {
  const int connection = ConnectHttp(address);
  std::string answer;
  // A connection that is closed at once takes nothing, which is an answer.
  if (send(connection, request.data(), request.size(), MSG_NOSIGNAL) >= 0) {
    char buffer[4096];
    ssize_t got = 0;
    while ((got = read(connection, buffer, sizeof(buffer))) > 0) {
      answer.append(buffer, static_cast<size_t>(got));
    }
  }
  close(connection);
  return answer;
}

}  // namespace meshwright::http
