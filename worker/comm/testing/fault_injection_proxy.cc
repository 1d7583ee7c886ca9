#include "worker/comm/testing/fault_injection_proxy.h"

// clang-format off: Boost.Asio uses std::exchange and does not include it.
#include <utility>
// clang-format on

#include <array>
#include <boost/asio.hpp>
#include <thread>
#include <vector>

namespace meshwright::worker::comm {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

tcp::endpoint Loopback(int port) {
  return {asio::ip::address_v4::loopback(), static_cast<uint16_t>(port)};
}

}  // namespace

class FaultInjectionProxy::Channel {
 public:
  Channel(int target_port, Trouble trouble, int64_t after)
      : target_(target_port),
        trouble_(trouble),
        after_(after),
        acceptor_(context_, Loopback(0)) {
    Accept();
    thread_ = std::jthread([this] { context_.run(); });
  }

  ~Channel() { context_.stop(); }

  int port() const { return port_; }

 private:
  struct Pair {
    explicit Pair(asio::io_context& context)
        : caller(context), target(context) {}
    tcp::socket caller;
    tcp::socket target;
    int64_t passed = 0;  // from the target to the caller
    std::array<char, 16384> forth = {};
    std::array<char, 16384> back = {};
  };
  using PairPtr = std::shared_ptr<Pair>;

  void Accept() {
    auto pair = std::make_shared<Pair>(context_);
    pairs_.push_back(pair);  // a silent one stays open
    acceptor_.async_accept(pair->caller, [this, pair](error_code error) {
      if (error) return;
      pair->target.connect(Loopback(target_), error);
      if (!error) {
        Forth(pair);
        Back(pair);
      }
      Accept();
    });
  }

  static void Hang(const PairPtr& pair) {
    error_code ignored;
    pair->caller.close(ignored);
    pair->target.close(ignored);
  }

  void Forth(const PairPtr& pair) {
    pair->caller.async_read_some(
        asio::buffer(pair->forth), [this, pair](error_code error, size_t n) {
          if (error) return Hang(pair);
          if (silent_) return;
          asio::async_write(pair->target, asio::buffer(pair->forth, n),
                            [this, pair](error_code failed, size_t) {
                              return failed ? Hang(pair) : Forth(pair);
                            });
        });
  }

  void Back(const PairPtr& pair) {
    pair->target.async_read_some(
        asio::buffer(pair->back), [this, pair](error_code error, size_t n) {
          if (error) return Hang(pair);
          const int64_t place = after_ - pair->passed;
          pair->passed += static_cast<int64_t>(n);
          const bool here = place >= 0 && place < static_cast<int64_t>(n);
          if (here && trouble_ == Trouble::kClose) return Hang(pair);
          if (here && trouble_ == Trouble::kSilence) silent_ = true;
          if (silent_) return;
          if (here) pair->back[static_cast<size_t>(place)] ^= 1;
          asio::async_write(pair->caller, asio::buffer(pair->back, n),
                            [this, pair](error_code failed, size_t) {
                              return failed ? Hang(pair) : Back(pair);
                            });
        });
  }

  const int target_;
  const Trouble trouble_;
  const int64_t after_;
  bool silent_ = false;
  asio::io_context context_{1};
  std::vector<PairPtr> pairs_;
  tcp::acceptor acceptor_;
  const int port_ = acceptor_.local_endpoint().port();
  std::jthread thread_;
};

FaultInjectionProxy::FaultInjectionProxy(int target_port, Trouble trouble,
                                         int64_t after)
    : channel_(std::make_unique<Channel>(target_port, trouble, after)) {}
FaultInjectionProxy::~FaultInjectionProxy() = default;

int FaultInjectionProxy::port() const { return channel_->port(); }

void SayTo(int port, const std::string& text) {
  asio::io_context context{1};
  tcp::socket socket(context);
  error_code error;
  socket.connect(Loopback(port), error);
  asio::write(socket, asio::buffer(text), error);
}

}  // namespace meshwright::worker::comm
