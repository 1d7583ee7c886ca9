// ExecutableCache: what others have compiled of a batch.
//
// Concept: a folder of the batch, made and removed by its parent
// (worker/sandbox/runner_process.h). A child keeps every program there that it
// compiled; where it dies, the next child loads them, and compiles nothing
// twice. In a gang rank 0 compiles and tells the others through the gang's
// keys. They load what it made, and compile what it could not make or tell.
// Once it has told as much as fits, it says so before it compiles. Plugins that
// cannot serialize have an empty cache. Threads: any. Errors: none; what is not
// there or cannot be read is compiled.
#ifndef MESHWRIGHT_WORKER_RUNNER_EXECUTABLE_CACHE_H_
#define MESHWRIGHT_WORKER_RUNNER_EXECUTABLE_CACHE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "worker/pjrt/client.h"
#include "worker/runner/gang_line.h"

namespace meshwright::worker::runner {

class ExecutableCache {
 public:
  // Half of what all keys of a gang may have
  // (coordinator/jobs/gangs/key_values.h).
  static constexpr int64_t kMaximumToldBytes = int64_t{32} << 20;

  // `folder` empty: there is none. `line` outlives it; null: no gang.
  explicit ExecutableCache(std::string folder, GangLine* line = nullptr,
                           int64_t maximum_told_bytes = kMaximumToldBytes)
      : folder_(std::move(folder)),
        line_(line),
        maximum_told_bytes_(maximum_told_bytes) {}

  struct Compiled {
    std::unique_ptr<pjrt::Executable> executable;
    absl::Duration compile_time;  // of who compiled it
  };
  // None: not there, or not loadable here. Every rank of a gang looks for each
  // program once; all but rank 0 wait until that has it, or gives it up.
  std::optional<Compiled> Find(const pjrt::Client& client,
                               const std::string& key, int devices);
  // Does nothing where nobody can have it.
  void Keep(const std::string& key, const pjrt::Executable& executable,
            absl::Duration compile_time);
  // The program does not compile.
  void GiveUp(const std::string& key);

 private:
  std::string FilePath(const std::string& key) const;
  // As the folder has it; empty: nothing.
  std::string ReadKept(const std::string& key) const;
  void Tell(const std::string& key, const std::string& kept);

  const std::string folder_;
  GangLine* const line_;
  const int64_t maximum_told_bytes_;
  std::atomic<int64_t> told_bytes_ = 0;
};

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_EXECUTABLE_CACHE_H_
