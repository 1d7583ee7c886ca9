#include "worker/detect/tcp_group.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "worker/comm/protocol/address.h"

namespace meshwright::worker::detect {
namespace {

constexpr auto kFirstPause = std::chrono::milliseconds(5);
constexpr TcpGroup::Clock::duration kLongestPause =
    std::chrono::milliseconds(200);
constexpr int kSocketBuffer = 4 << 20;

absl::StatusOr<int> FindSelf(const std::vector<TcpHost>& hosts,
                             const std::string& self) {
  std::set<std::string> names;
  int found = -1;
  for (size_t i = 0; i < hosts.size(); ++i) {
    if (!names.insert(hosts[i].name).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "host \"", hosts[i].name, "\" stands twice; name each host once"));
    }
    const std::string& address = hosts[i].address;
    if (!comm::FindPort(address).has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "host \"", hosts[i].name, "\" has the address \"", address,
          "\", which is not HOST:PORT with a port of 1 to 65535"));
    }
    if (hosts[i].name == self) found = static_cast<int>(i);
  }
  if (found >= 0 && hosts.size() >= 2) return found;
  if (hosts.size() < 2) {
    return absl::InvalidArgumentError(
        "one host has no link; name two hosts or more");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("host \"", self,
                   "\" is none of the hosts; name this one "
                   "as the list does"));
}

}  // namespace

struct TcpGroup::Caller {
  explicit Caller(comm::TcpListener& loop)
      : socket(std::make_unique<comm::TcpSocket>(loop)) {}
  std::unique_ptr<comm::TcpSocket> socket;
  Greeting greeting = {};
};

absl::StatusOr<std::unique_ptr<TcpGroup>> TcpGroup::Join(
    std::vector<TcpHost> hosts, const std::string& self,
    Clock::duration patience) {
  ASSIGN_OR_RETURN(const int index, FindSelf(hosts, self));
  ASSIGN_OR_RETURN(comm::TcpListener listener,
                   comm::TcpListener::Listen(hosts[index].address));
  std::unique_ptr<TcpGroup> group(
      new TcpGroup(std::move(hosts), index, std::move(listener)));
  RETURN_IF_ERROR(group->Connect(patience));
  return group;
}

TcpGroup::TcpGroup(std::vector<TcpHost> hosts, int self,
                   comm::TcpListener listener)
    : hosts_(std::move(hosts)), self_(self), listener_(std::move(listener)) {}

TcpGroup::Greeting TcpGroup::MakeGreeting() const {
  base::Fingerprinter digest;
  for (const TcpHost& host : hosts_) digest.Add(host.name);
  const std::string text = digest.Hex();
  Greeting greeting = {};
  greeting[0] = static_cast<std::byte>(self_ & 0xff);
  greeting[1] = static_cast<std::byte>(self_ >> 8 & 0xff);
  std::memcpy(greeting.data() + 2, text.data(),
              std::min(text.size(), kGreetingBytes - 2));
  return greeting;
}

absl::Status TcpGroup::Connect(Clock::duration patience) {
  own_greeting_ = MakeGreeting();
  sockets_.resize(hosts_.size());
  retries_.resize(hosts_.size());
  greetings_.resize(hosts_.size());
  joined_.assign(hosts_.size(), false);
  joined_[self_] = true;
  joining_ = true;
  deadline_ = std::make_unique<comm::TcpTimer>(listener_);
  deadline_->After(patience, [this] { StopJoining(); });
  if (self_ + 1 < size()) Accept();
  for (int peer = 0; peer < self_; ++peer) {
    sockets_[peer] = std::make_unique<comm::TcpSocket>(listener_);
    retries_[peer] = std::make_unique<comm::TcpTimer>(listener_);
    Call(peer, kFirstPause);
  }
  listener_.Run();
  callers_.clear();
  descriptors_.assign(hosts_.size(), -1);
  for (int peer = 0; peer < size(); ++peer) {
    if (joined_[peer] && peer != self_) {
      descriptors_[peer] = sockets_[peer]->descriptor();
    }
  }
  RETURN_IF_ERROR(refusal_);
  for (int peer = 0; peer < size(); ++peer) {
    if (joined_[peer]) continue;
    return absl::UnavailableError(absl::StrCat(
        "host ", hosts_[peer].name, " at ", hosts_[peer].address,
        peer < self_ ? " cannot be reached" : " has not called", " in time",
        last_failure_.ok() ? "" : ": ", last_failure_.message(),
        "; start the same command on every host"));
  }
  return absl::OkStatus();
}

void TcpGroup::Accept() {
  auto caller = std::make_shared<Caller>(listener_);
  callers_.push_back(caller);
  listener_.Accept(*caller->socket, [this, caller](const absl::Status& status) {
    if (!joining_ || (!status.ok() && !absl::IsAborted(status))) return;
    if (status.ok()) Welcome(caller);
    Accept();
  });
}

void TcpGroup::Welcome(const std::shared_ptr<Caller>& caller) {
  caller->socket->Read(
      caller->greeting, [this, caller](const absl::Status& status) {
        if (!joining_ || !status.ok()) return;
        const int peer = static_cast<int>(caller->greeting[0]) |
                         static_cast<int>(caller->greeting[1]) << 8;
        if (peer <= self_ || peer >= size() || joined_[peer] ||
            std::memcmp(caller->greeting.data() + 2, own_greeting_.data() + 2,
                        kGreetingBytes - 2) != 0) {
          caller->greeting = {};  // the refusal
          return caller->socket->Write(
              caller->greeting, {},
              [caller](const absl::Status&) { caller->socket->Close(); });
        }
        sockets_[peer] = std::move(caller->socket);
        sockets_[peer]->Configure(kSocketBuffer);
        sockets_[peer]->Write(own_greeting_, {},
                              [this, peer](const absl::Status& written) {
                                if (written.ok()) Joined(peer);
                              });
      });
}

void TcpGroup::Call(int peer, Clock::duration pause) {
  sockets_[peer]->Connect(
      hosts_[peer].address, [this, peer, pause](const absl::Status& status) {
        if (!joining_) return;
        if (!status.ok()) return CallAgain(peer, pause, status);
        sockets_[peer]->Configure(kSocketBuffer);
        sockets_[peer]->Write(own_greeting_, {}, [](const absl::Status&) {});
        sockets_[peer]->Read(greetings_[peer],
                             [this, peer, pause](const absl::Status& read) {
                               if (!joining_) return;
                               if (!read.ok()) {
                                 return CallAgain(peer, pause, read);
                               }
                               Greeted(peer);
                             });
      });
}

void TcpGroup::CallAgain(int peer, Clock::duration pause,
                         const absl::Status& failure) {
  last_failure_ = failure;
  sockets_[peer]->Close();
  const auto longer = std::min<Clock::duration>(2 * pause, kLongestPause);
  retries_[peer]->After(pause, [this, peer, longer] {
    if (joining_) Call(peer, longer);
  });
}

void TcpGroup::Greeted(int peer) {
  const Greeting& greeting = greetings_[peer];
  const int named =
      static_cast<int>(greeting[0]) | static_cast<int>(greeting[1]) << 8;
  if (named == peer &&
      std::memcmp(greeting.data() + 2, own_greeting_.data() + 2,
                  kGreetingBytes - 2) == 0) {
    return Joined(peer);
  }
  refusal_ = absl::FailedPreconditionError(absl::StrCat(
      "host ", hosts_[peer].name, " at ", hosts_[peer].address,
      " refused this one; give every host the same list of hosts"));
  StopJoining();
}

void TcpGroup::Joined(int peer) {
  joined_[peer] = true;
  if (std::ranges::all_of(joined_, [](bool it) { return it; })) StopJoining();
}

// Leaves nothing to wait for, so that Run ends.
void TcpGroup::StopJoining() {
  joining_ = false;
  deadline_->Cancel();
  listener_.Close();
  for (const auto& caller : callers_) {
    if (caller->socket != nullptr) caller->socket->Close();
  }
  for (int peer = 0; peer < size(); ++peer) {
    if (retries_[peer] != nullptr) retries_[peer]->Cancel();
    if (!joined_[peer] && sockets_[peer] != nullptr) sockets_[peer]->Close();
  }
}

absl::Status TcpGroup::Lose(int peer, absl::StatusCode code,
                            const std::string& why) const {
  return absl::Status(code, absl::StrCat("host ", hosts_[peer].name, " at ",
                                         hosts_[peer].address, ": ", why));
}

absl::Status TcpGroup::Move(int peer, bool sends, size_t size,
                            const std::function<ssize_t()>& call,
                            size_t& moved) const {
  if (moved == size) return absl::OkStatus();
  const ssize_t now = call();
  if (now > 0) moved += static_cast<size_t>(now);
  if (now > 0 || (now < 0 && (errno == EAGAIN || errno == EINTR))) {
    return absl::OkStatus();
  }
  return Lose(
      peer, absl::StatusCode::kUnavailable,
      now == 0 && !sends ? "it closed its connection" : std::strerror(errno));
}

absl::Status TcpGroup::Exchange(std::optional<int> to,
                                std::span<const std::byte> out,
                                std::optional<int> from,
                                std::span<std::byte> in,
                                Clock::duration patience) {
  size_t sent = to.has_value() ? 0 : out.size();
  size_t received = from.has_value() ? 0 : in.size();
  const int target = to.has_value() ? descriptors_[*to] : -1;
  const int source = from.has_value() ? descriptors_[*from] : -1;
  const auto wait =
      std::chrono::duration_cast<std::chrono::milliseconds>(patience);
  while (true) {
    const size_t before = sent + received;
    RETURN_IF_ERROR(Move(
        to.value_or(0), true, out.size(),
        [&] {
          return ::send(target, out.data() + sent, out.size() - sent,
                        MSG_NOSIGNAL);
        },
        sent));
    RETURN_IF_ERROR(Move(
        from.value_or(0), false, in.size(),
        [&] {
          return ::recv(source, in.data() + received, in.size() - received, 0);
        },
        received));
    if (sent == out.size() && received == in.size()) return absl::OkStatus();
    if (sent + received != before) continue;
    // A half that is through waits for nothing.
    std::array<pollfd, 2> halves = {
        pollfd{sent < out.size() ? target : -1, POLLOUT, 0},
        pollfd{received < in.size() ? source : -1, POLLIN, 0}};
    const int ready =
        ::poll(halves.data(), halves.size(),
               static_cast<int>(std::min<int64_t>(
                   wait.count(), std::numeric_limits<int>::max())));
    if (ready == 0) {
      return Lose(received < in.size() ? *from : *to,
                  absl::StatusCode::kDeadlineExceeded,
                  "it stands still; see to its network");
    }
  }
}

}  // namespace meshwright::worker::detect
