// LogContext: what the lines of a thread are about.
//
// Concept: a scope says it once for all lines below it, in rooms that know
// nothing of plans or traces, too. A scope within another hides it: what a
// queue does for one plan, it may do on the thread of another.
//
//   const base::LogScope scope({.plan = "plan-7", .traceparent = traceparent});
//   base::LogInfo("12 programs");   // JSON: ...,
//   "plan":"plan-7","trace_id":...
//
// Threads and ownership: a scope is of the thread that made it, and scopes of a
// thread end in reverse order. Errors: none.
#ifndef MESHWRIGHT_BASE_LOG_LOG_CONTEXT_H_
#define MESHWRIGHT_BASE_LOG_LOG_CONTEXT_H_

#include <string>

namespace meshwright::base {

// Empty: not known.
struct LogContext {
  std::string plan;         // "plan-7"
  std::string job;          // "job-3"
  std::string lease;        // "7.12"
  std::string worker;       // what it calls itself
  std::string traceparent;  // base/trace_context.h
};

class LogScope {
 public:
  explicit LogScope(LogContext context);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

  // Of this thread's innermost scope; empty where there is none.
  static const LogContext& Current();

 private:
  LogContext context_;
  const LogScope* const outer_;
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_LOG_LOG_CONTEXT_H_
