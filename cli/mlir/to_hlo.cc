#include "cli/mlir/to_hlo.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "coordinator/ir/text/mlir.h"
#include "worker/sandbox/child_process.h"

namespace meshwright::cli {
namespace {

using worker::sandbox::ChildProcess;

// The Python package has the same (python/meshwright/_mlir.py).
constexpr char kConverter[] = R"python(
import sys

# With -c the working folder comes first, whatever lies there.
sys.path = [folder for folder in sys.path if folder]

import signal

signal.alarm(600)  # nobody ends it where its parent is gone

from jaxlib import xla_client

with open(sys.argv[1], "wb") as output:
    output.write(b"J")  # jaxlib is here
    output.flush()
    try:
        computation = xla_client._xla.mlir.mlir_module_to_xla_computation(
            sys.stdin.buffer.read(), use_tuple_args=False, return_tuple=False
        )
        module = computation.as_serialized_hlo_module_proto()
    except Exception as error:
        sys.exit(str(error).split("\n", 1)[0])
    output.write(module)
)python";

// No message of protobuf is larger.
constexpr size_t kMaxResult = size_t{1} << 31;

// A file of no folder, at its beginning. Whoever calls closes it.
absl::StatusOr<int> MakeInput(std::string_view content) {
  const int file = memfd_create("model", MFD_CLOEXEC);
  if (file < 0) return absl::ErrnoToStatus(errno, "cannot hold the model");
  while (!content.empty()) {
    const ssize_t size = write(file, content.data(), content.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      const absl::Status status =
          absl::ErrnoToStatus(errno, "cannot hold the model");
      close(file);
      return status;
    }
    content.remove_prefix(size);
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

// All but the token, which is for a coordinator.
std::vector<std::string> MakeEnvironment() {
  std::vector<std::string> kept;
  for (char** it = environ; *it != nullptr; ++it) {
    const std::string_view entry = *it;
    if (!entry.starts_with("MESHWRIGHT_TOKEN")) kept.emplace_back(entry);
  }
  return kept;
}

std::string FindPython() {
  const char* const named = std::getenv("MESHWRIGHT_PYTHON");
  return named == nullptr || *named == '\0' ? "python3" : named;
}

}  // namespace

absl::StatusOr<std::string> ToHlo(std::string model, absl::Duration limit) {
  if (!ir::LooksLikeMlir(model)) return model;
  const std::string python = FindPython();
  ASSIGN_OR_RETURN(const int input, MakeInput(model));
  const absl::Cleanup close_input = [input] { close(input); };
  // The shell looks the program up in PATH.
  ASSIGN_OR_RETURN(
      const std::unique_ptr<ChildProcess> child,
      ChildProcess::Spawn({"/bin/sh", "-c", "exec \"$0\" \"$@\"", python, "-c",
                           kConverter, ChildProcess::kResultPath},
                          MakeEnvironment(), -1, input));
  const absl::Time deadline = base::SteadyClock().Now() + limit;
  std::string results;
  while (true) {
    ASSIGN_OR_RETURN(const ChildProcess::Heard heard,
                     child->Listen(deadline, -1));
    results += heard.results;
    if (heard.ended) break;
    if (heard.late) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the file is StableHLO that jaxlib has not converted in ",
          absl::FormatDuration(limit)));
    }
    if (results.size() > kMaxResult) {
      return absl::InvalidArgumentError(
          "the file is StableHLO of an HLO module that is larger than 2 GiB");
    }
  }
  ASSIGN_OR_RETURN(const std::string reason, child->Reap());
  if (results.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the file is StableHLO, and no Python with jaxlib is here to convert "
        "it (",
        python, " ", reason,
        "); set MESHWRIGHT_PYTHON to a Python that has jaxlib, or pass a "
        "serialized HloModuleProto or HLO text"));
  }
  if (!reason.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file is no StableHLO that jaxlib can convert: ",
                     absl::StripPrefix(reason, "ended with status 1: ")));
  }
  return results.substr(1);
}

}  // namespace meshwright::cli
