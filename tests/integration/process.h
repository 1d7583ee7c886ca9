// Process: a program of this build as a child of a test.
//
// Ownership: a process still running is killed by the destructor.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_PROCESS_H_
#define MESHWRIGHT_TESTS_INTEGRATION_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace meshwright::integration {

class Process {
 public:
  // `arguments[0]` is the name of a program in the build's bin folder;
  // `variables` ("NAME=VALUE") are added to the environment.
  explicit Process(const std::vector<std::string>& arguments,
                   const std::vector<std::string>& variables = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The next line of its stdout; empty at the end.
  std::string ReadLine();
  void Signal(int signal);
  pid_t pid() const { return pid_; }  // -1: it has ended
  // Until a signal has stopped it. False: it has ended.
  bool AwaitStopped();
  // Its exit status, or minus the signal that ended it.
  int Wait();
  // Its text on stderr; call after Wait.
  std::string Errors();

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  std::string error_path_;
};

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_PROCESS_H_
