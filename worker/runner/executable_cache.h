// ExecutableCache: what earlier children of a batch compiled.
//
// Concept: a folder of the batch, made and removed by its parent
// (worker/sandbox/runner_process.h). A child keeps every program there that it
// compiled; where it dies, the next child loads them, and compiles nothing
// twice. Plugins that cannot serialize have an empty cache.
// Threads: any. Errors: none; what is not there or cannot be read is compiled.
#ifndef MESHWRIGHT_WORKER_RUNNER_EXECUTABLE_CACHE_H_
#define MESHWRIGHT_WORKER_RUNNER_EXECUTABLE_CACHE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "worker/pjrt/client.h"

namespace meshwright::worker::runner {

class ExecutableCache {
 public:
  // `folder` empty: there is none.
  explicit ExecutableCache(std::string folder) : folder_(std::move(folder)) {}

  struct Compiled {
    std::unique_ptr<pjrt::Executable> executable;
    absl::Duration compile_time;  // of the child that compiled it
  };
  // None: not there, or not loadable here.
  std::optional<Compiled> Find(const pjrt::Client& client,
                               const std::string& key, int devices) const;
  // Does nothing where there is no folder or the program cannot be kept.
  void Keep(const std::string& key, const pjrt::Executable& executable,
            absl::Duration compile_time) const;

 private:
  std::string FilePath(const std::string& key) const;

  const std::string folder_;
};

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_EXECUTABLE_CACHE_H_
