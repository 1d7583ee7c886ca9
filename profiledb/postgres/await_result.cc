#include "profiledb/postgres/await_result.h"

#include <libpq-fe.h>
#include <poll.h>

#include <cerrno>

namespace meshwright::postgres {
namespace {

using Clock = std::chrono::steady_clock;

enum class Heard { kAnswer, kLost, kSilence };

// Until a result can be taken without waiting.
Heard AwaitAnswer(PGconn* connection, std::chrono::milliseconds patience) {
  Clock::time_point end = Clock::now() + patience;
  while (true) {
    const int left = PQflush(connection);
    if (left < 0) return Heard::kLost;
    if (left == 0 && PQisBusy(connection) == 0) return Heard::kAnswer;
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - Clock::now());
    if (rest.count() <= 0) return Heard::kSilence;
    pollfd waited{
        .fd = PQsocket(connection),
        .events = static_cast<int16_t>(left > 0 ? POLLIN | POLLOUT : POLLIN)};
    const int ready = poll(&waited, 1, static_cast<int>(rest.count()));
    if (ready < 0 && errno != EINTR) return Heard::kLost;
    if (ready <= 0) continue;
    if (PQconsumeInput(connection) == 0) return Heard::kLost;
    end = Clock::now() + patience;
  }
}

}  // namespace

Awaited AwaitResult(PGconn* connection, bool is_sent,
                    std::chrono::milliseconds patience) {
  Awaited awaited;
  while (is_sent) {
    const Heard heard = AwaitAnswer(connection, patience);
    if (heard == Heard::kSilence) {
      PQclear(awaited.result);
      return {.is_silent = true};
    }
    // Of a lost connection it is the error.
    PGresult* const next = PQgetResult(connection);
    if (next == nullptr) break;
    PQclear(awaited.result);
    awaited.result = next;
    if (heard == Heard::kLost || PQstatus(connection) == CONNECTION_BAD) break;
  }
  return awaited;
}

}  // namespace meshwright::postgres
