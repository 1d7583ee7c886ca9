#include "tests/integration/relay.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace meshwright::integration {
namespace {

int ReadPort(const std::string& address) {
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port))
      << address;
  return port;
}

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Until either end is closed, which closes both.
void Pump(int from, int to) {
  char bytes[1 << 14];
  ssize_t size = 0;
  while ((size = recv(from, bytes, sizeof(bytes), 0)) > 0) {
    ssize_t sent = 0;
    while (sent < size) {
      const ssize_t more = send(to, bytes + sent, size - sent, MSG_NOSIGNAL);
      if (more <= 0) break;
      sent += more;
    }
    if (sent < size) break;
  }
  shutdown(from, SHUT_RDWR);
  shutdown(to, SHUT_RDWR);
}

}  // namespace

Relay::Relay(const std::string& target)
    : target_(ReadPort(target)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address = Loopback(0);
  socklen_t length = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(listener_, any, length), 0);
  EXPECT_EQ(listen(listener_, 8), 0);
  EXPECT_EQ(getsockname(listener_, any, &length), 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this] { Accept(); });
}

Relay::~Relay() {
  Cut();
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  pumps_.clear();
  close(listener_);
  base::MutexLock lock(&mutex_);
  for (const int socket : sockets_) close(socket);
}

std::string Relay::address() const { return absl::StrCat("127.0.0.1:", port_); }

void Relay::Accept() {
  int caller = -1;
  while ((caller = accept(listener_, nullptr, nullptr)) >= 0) {
    base::MutexLock lock(&mutex_);
    sockets_.push_back(caller);
    const int target = socket(AF_INET, SOCK_STREAM, 0);
    sockets_.push_back(target);
    const sockaddr_in address = Loopback(target_);
    const auto* const there = reinterpret_cast<const sockaddr*>(&address);
    if (is_cut_ || connect(target, there, sizeof(address)) != 0) {
      shutdown(caller, SHUT_RDWR);
      continue;
    }
    pumps_.emplace_back(Pump, caller, target);
    pumps_.emplace_back(Pump, target, caller);
  }
}

void Relay::Cut() {
  base::MutexLock lock(&mutex_);
  is_cut_ = true;
  for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
}

void Relay::Mend() {
  base::MutexLock lock(&mutex_);
  is_cut_ = false;
}

}  // namespace meshwright::integration
