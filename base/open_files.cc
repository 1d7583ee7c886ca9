#include "base/open_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace meshwright::base {

int64_t RaiseOpenFiles(int64_t wanted) {
  constexpr rlim_t kMaximum = std::numeric_limits<int64_t>::max();
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
  const rlim_t old = files.rlim_cur;
  files.rlim_cur =
      std::max(old, std::min(static_cast<rlim_t>(wanted), files.rlim_max));
  if (setrlimit(RLIMIT_NOFILE, &files) != 0) files.rlim_cur = old;
  return static_cast<int64_t>(std::min(files.rlim_cur, kMaximum));
}

}  // namespace meshwright::base
