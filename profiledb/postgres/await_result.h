// AwaitResult: what the server answers to what was sent, within a time.
//
// Concept: libpq's own calls wait for ever for a server that is there and says
// nothing: a process that was stopped, a disk that hangs. Its kernel answers
// for it, so no connection is lost. Here a wait ends when nothing was heard for
// `patience`; a long answer that comes in pieces is waited for.
// Threads: one at a time per connection. Ownership: the caller clears `result`.
// Errors: those of the result; a silent server is `is_silent`.
#ifndef MESHWRIGHT_PROFILEDB_POSTGRES_AWAIT_RESULT_H_
#define MESHWRIGHT_PROFILEDB_POSTGRES_AWAIT_RESULT_H_

#include <chrono>

struct pg_conn;
struct pg_result;

namespace meshwright::postgres {

struct Awaited {
  // Of the last statement that was sent; null: there is none, and the
  // connection says why.
  pg_result* result = nullptr;
  bool is_silent = false;  // then the connection is of no more use
};

// `is_sent`: what a PQsend... of the connection returned.
Awaited AwaitResult(pg_conn* connection, bool is_sent,
                    std::chrono::milliseconds patience);

}  // namespace meshwright::postgres

#endif  // MESHWRIGHT_PROFILEDB_POSTGRES_AWAIT_RESULT_H_
