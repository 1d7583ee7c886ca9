#include "worker/sandbox/progress_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/status_macros.h"

namespace meshwright::worker::sandbox {

absl::StatusOr<std::unique_ptr<ProgressPage>> ProgressPage::Make() {
  const int made = memfd_create("meshwright-progress", MFD_CLOEXEC);
  // Clear of the files that a child process is given by number.
  const int file = made < 0 ? -1 : fcntl(made, F_DUPFD_CLOEXEC, 10);
  if (file < 0) {
    return absl::ErrnoToStatus(errno, "cannot make the runner's progress page");
  }
  close(made);
  if (ftruncate(file, sizeof(Numbers)) != 0) {
    const int error = errno;
    close(file);
    return absl::ErrnoToStatus(error, "cannot size the runner's progress page");
  }
  return Open(file);
}

absl::StatusOr<std::unique_ptr<ProgressPage>> ProgressPage::Open(int file) {
  void* const page = mmap(nullptr, sizeof(Numbers), PROT_READ | PROT_WRITE,
                          MAP_SHARED, file, 0);
  if (page == MAP_FAILED) {
    const int error = errno;
    close(file);
    return absl::ErrnoToStatus(error, "cannot map the runner's progress page");
  }
  return std::unique_ptr<ProgressPage>(
      new ProgressPage(file, static_cast<Numbers*>(page)));
}

ProgressPage::~ProgressPage() {
  munmap(numbers_, sizeof(Numbers));
  close(file_);
}

}  // namespace meshwright::worker::sandbox
