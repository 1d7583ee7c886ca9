// The trace that a call belongs to, as W3C Trace Context writes it.
//
// Concept: a launcher may send `traceparent` with a call
//   00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//      trace id                         parent id        flags
// and finds the trace id again in every log line of what the call began, here
// and on workers. We time no spans, so the text is passed on as it came.
// Threads: pure functions. Errors: none; text that is no traceparent is absent.
// Source: W3C Recommendation "Trace Context", section 3.2.
#ifndef MESHWRIGHT_BASE_TRACE_CONTEXT_H_
#define MESHWRIGHT_BASE_TRACE_CONTEXT_H_

#include <optional>
#include <string>
#include <string_view>

namespace meshwright::base {

// The parts that version 00 has. A later version may say more, which is left
// out.
std::optional<std::string> ParseTraceparent(std::string_view text);

// 32 hex digits of a traceparent; empty for an empty one.
std::string_view ExtractTraceId(std::string_view traceparent);

// Of a trace that begins here. Its ids are random.
std::string NewTraceparent();

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_TRACE_CONTEXT_H_
