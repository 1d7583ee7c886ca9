// TCP sockets, timers and the loop that runs them; Asio is behind this header.
//
// Concept: an operation is begun with a function that is called once, in Run,
// when it is over. The objects that the function holds live until then, and so
// must the socket and the bytes.
// Threads: all in that of Run. Run ends once no operation is left.
// Errors: kCancelled for an operation whose socket was closed here,
// kUnavailable in the network's words for what the other end or the way did.
// Listen gives kInvalidArgument for an address that is not HOST:PORT.
#ifndef MESHWRIGHT_WORKER_COMM_TRANSPORT_TCP_SOCKET_H_
#define MESHWRIGHT_WORKER_COMM_TRANSPORT_TCP_SOCKET_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::worker::comm {

using Done = std::function<void(const absl::Status&)>;

// Where a host listens whose name resolves to the address `resolved` there.
// Debian's /etc/hosts gives a host's own name 127.0.1.1, which no other host
// reaches: every address of the host stands for it.
std::string ChooseListenAddress(const std::string& name,
                                const std::string& resolved);

class TcpSocket;

// A port that is ours before its number is published, and its loop.
class TcpListener {
 public:
  // HOST:PORT; port 0 takes a free one.
  static absl::StatusOr<TcpListener> Listen(const std::string& address);
  ~TcpListener();
  TcpListener(TcpListener&&) noexcept;
  TcpListener& operator=(TcpListener&&) noexcept;

  // The one that was taken.
  int port() const;
  // Calls what is due until nothing is left to wait for.
  void Run();
  // Has Run make this call. From any thread.
  void Post(std::function<void()> call);
  // kAborted for a caller that hung up before it was heard.
  void Accept(TcpSocket& socket, Done done);
  // Takes no more callers.
  void Close();

 private:
  friend class TcpSocket;
  friend class TcpTimer;
  struct Port;
  explicit TcpListener(std::unique_ptr<Port> port);
  std::unique_ptr<Port> port_;
};

class TcpSocket {
 public:
  explicit TcpSocket(TcpListener& loop);
  ~TcpSocket();

  // To HOST:PORT; of several addresses of HOST, the first that answers within
  // two seconds. One address alone has as long as the kernel tries it.
  void Connect(const std::string& address, Done done);
  // The same of several IP:PORT, with a time for each of them.
  void ConnectToFirst(const std::vector<std::string>& addresses,
                      std::chrono::steady_clock::duration patience, Done done);
  // Sends small messages at once, and buffers this much in the kernel.
  void Configure(int send_buffer_bytes);
  // All of the bytes; `heard` is called when some of them came.
  void Read(std::span<std::byte> bytes, Done done,
            std::function<void()> heard = nullptr);
  // At least one.
  void ReadSome(std::span<std::byte> bytes, Done done);
  // All of both. One at a time; the bytes must live until `done`.
  void Write(std::span<const std::byte> header,
             std::span<const std::byte> payload, Done done);
  // The other end reads its end after what was written; reading goes on.
  void EndSending();
  // Operations under way end with kCancelled.
  void Close();
  // The descriptor of a connection, which never blocks. For one who moves bytes
  // without the loop: no operation may be under way meanwhile.
  int descriptor() const;

 private:
  friend class TcpListener;
  struct State;
  std::unique_ptr<State> state_;
};

class TcpTimer {
 public:
  explicit TcpTimer(TcpListener& loop);
  ~TcpTimer();

  // In place of what was set before. One that is due already may still be
  // called after Cancel.
  void After(std::chrono::steady_clock::duration time,
             std::function<void()> call);
  // The function that was set is not called, unless it is due already.
  void Cancel();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_TRANSPORT_TCP_SOCKET_H_
