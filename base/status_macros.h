// Early returns for absl::Status and absl::StatusOr.
#ifndef MESHWRIGHT_BASE_STATUS_MACROS_H_
#define MESHWRIGHT_BASE_STATUS_MACROS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define MESHWRIGHT_CONCAT_INNER(a, b) a##b
#define MESHWRIGHT_CONCAT(a, b) MESHWRIGHT_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expression)                                           \
  do {                                                                        \
    if (::absl::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

#define ASSIGN_OR_RETURN(target, expression)                              \
  ASSIGN_OR_RETURN_INNER(MESHWRIGHT_CONCAT(status_or_, __LINE__), target, \
                         expression)

#define ASSIGN_OR_RETURN_INNER(status_or, target, expression) \
  auto status_or = (expression);                              \
  if (!status_or.ok()) return status_or.status();             \
  target = *std::move(status_or)

#endif  // MESHWRIGHT_BASE_STATUS_MACROS_H_
