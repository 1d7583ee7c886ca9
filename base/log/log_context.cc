#include "base/log/log_context.h"

#include <utility>

namespace meshwright::base {
namespace {

thread_local const LogScope* innermost = nullptr;

}  // namespace

LogScope::LogScope(LogContext context)
    : context_(std::move(context)), outer_(innermost) {
  innermost = this;
}

LogScope::~LogScope() { innermost = outer_; }

const LogContext& LogScope::Current() {
  static const auto& none = *new LogContext;
  return innermost == nullptr ? none : innermost->context_;
}

}  // namespace meshwright::base
