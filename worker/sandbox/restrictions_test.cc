// From inside: a child restricts itself and tries what is forbidden.
#include "worker/sandbox/restrictions.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

namespace meshwright::worker::sandbox {
namespace {

v1::DeviceSpec Device(const std::string& platform, int count) {
  v1::DeviceSpec device;
  device.set_platform(platform);
  device.set_device_count(count);
  return device;
}

// The error of a call, as a word to compare; "" where it succeeds.
std::string ReadErrorName(long result) {
  return result >= 0 ? "" : strerrorname_np(errno);
}

// Runs `body` in a child that has restricted itself; what it returns. As root,
// also in one that has become another user.
std::string Inside(const v1::DeviceSpec& device,
                   const std::function<std::string()>& body,
                   bool as_nobody = false) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    std::string said;
    if (as_nobody && setresuid(65534, 65534, 65534) != 0) said = "no user";
    for (const v1::SandboxMeasure& measure : RestrictThisProcess(device)) {
      if (measure.holds() || measure.name() == "network") continue;
      said += absl::StrCat(measure.name(), ": ", measure.reason(), "; ");
    }
    said += body();
    if (write(ends[1], said.data(), said.size()) < 0) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  std::string heard;
  char buffer[4096];
  for (ssize_t size; (size = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    heard.append(buffer, size);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) heard += absl::StrCat(" (wait status ", status, ")");
  return heard;
}

// Written out again: a call that is lost from the filter is missed here. The
// arguments do no harm where a call is let through.
struct Forbidden {
  const char* name;
  long number;
};
#define CALL(name) \
  { #name, SYS_##name }
constexpr Forbidden kForbidden[] = {CALL(ptrace),
                                    CALL(mount),
                                    CALL(umount2),
                                    CALL(pivot_root),
                                    CALL(fsopen),
                                    CALL(move_mount),
                                    CALL(open_tree),
                                    CALL(setns),
                                    CALL(kexec_load),
                                    CALL(init_module),
                                    CALL(finit_module),
                                    CALL(delete_module),
                                    CALL(bpf),
                                    CALL(perf_event_open),
                                    CALL(userfaultfd),
                                    CALL(keyctl),
                                    CALL(add_key),
                                    CALL(request_key),
                                    CALL(reboot),
                                    CALL(swapon),
                                    CALL(swapoff),
                                    CALL(process_vm_readv),
                                    CALL(process_vm_writev),
                                    CALL(pidfd_getfd),
                                    CALL(open_by_handle_at),
                                    CALL(clock_settime),
                                    CALL(settimeofday),
                                    CALL(sethostname),
                                    CALL(io_uring_setup)};
#undef CALL

std::string TryForbidden() {
  std::string passed;
  for (const Forbidden& call : kForbidden) {
    const std::string error =
        ReadErrorName(syscall(call.number, -1, -1, -1, -1, -1));
    if (error != "EPERM") passed += absl::StrCat(call.name, ":", error, " ");
  }
  return passed;
}

TEST(RestrictionsTest, ForbiddenCallsAreRefused) {
  EXPECT_EQ(Inside(Device("cpu", 2), TryForbidden), "");
  EXPECT_EQ(Inside(Device("cuda", 2), TryForbidden), "");
}

TEST(RestrictionsTest, ForOtherUsersThanRootToo) {
  if (geteuid() != 0) GTEST_SKIP() << "only root becomes another user";
  EXPECT_EQ(Inside(Device("cpu", 2), TryForbidden, /*as_nobody=*/true), "");
}

TEST(RestrictionsTest, NoNamespaceIsMade) {
  const auto body = [] {
    std::string passed;
    for (const int flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET,
                           CLONE_NEWPID, CLONE_NEWTIME}) {
      if (ReadErrorName(unshare(flag)) != "EPERM") passed += "unshare ";
      if (flag == CLONE_NEWTIME) continue;  // clone has no bit for it
      const long child = syscall(SYS_clone, flag | SIGCHLD, 0, 0, 0, 0);
      if (child == 0) _exit(0);
      if (ReadErrorName(child) != "EPERM") passed += "clone ";
    }
    clone_args arguments = {};
    arguments.flags = CLONE_NEWUSER;
    const long child = syscall(SYS_clone3, &arguments, sizeof(arguments));
    if (child == 0) _exit(0);
    if (ReadErrorName(child) != "ENOSYS") passed += "clone3 ";
    return passed;
  };
  EXPECT_EQ(Inside(Device("cpu", 2), body), "");
}

TEST(RestrictionsTest, NoTypingIntoATerminal) {
  EXPECT_EQ(Inside(Device("cpu", 1),
                   [] {
                     char letter = 'x';
                     return ReadErrorName(ioctl(0, TIOCSTI, &letter));
                   }),
            "EPERM");
}

// The families that one may open, of those that matter.
std::string Families() {
  std::string open;
  for (const auto& [name, family] : {std::pair("unix", AF_UNIX),
                                     {"netlink", AF_NETLINK},
                                     {"inet", AF_INET},
                                     {"inet6", AF_INET6},
                                     {"packet", AF_PACKET},
                                     {"vsock", AF_VSOCK}}) {
    const int type = family == AF_NETLINK ? SOCK_RAW : SOCK_STREAM;
    if (ReadErrorName(socket(family, type, 0)) != "EACCES") {
      open += absl::StrCat(name, " ");
    }
  }
  return open;
}

TEST(RestrictionsTest, TheNetworkIsOff) {
  EXPECT_EQ(Inside(Device("cpu", 8), Families), "unix ");
  EXPECT_EQ(Inside(Device("", 8), Families), "unix ");
  EXPECT_EQ(Inside(Device("cuda", 1), Families), "unix netlink ");
}

TEST(RestrictionsTest, SeveralAcceleratorsJoinOverSocketsAndThatIsSaid) {
  const auto body = [] {
    return absl::StrCat(Families(), "; ",
                        RestrictThisProcess(Device("cuda", 2)).back().name(),
                        RestrictThisProcess(Device("cuda", 2)).back().holds());
  };
  EXPECT_EQ(Inside(Device("cuda", 2), body),
            "unix netlink inet inet6 ; network0");
}

TEST(RestrictionsTest, LimitsAreLowerAndAddressSpaceIsNot) {
  const auto body = [] {
    std::string wrong;
    const auto check = [&](const char* name, int resource, rlim_t maximum) {
      rlimit limit = {};
      getrlimit(resource, &limit);
      if (limit.rlim_max > maximum) wrong += absl::StrCat(name, " ");
    };
    check("core", RLIMIT_CORE, 0);
    check("fsize", RLIMIT_FSIZE, rlim_t{16} << 30);
    check("nofile", RLIMIT_NOFILE, 65536);
    check("nproc", RLIMIT_NPROC, 32768);
    // As CUDA reserves it, more than any machine has.
    void* const reserved =
        mmap(nullptr, size_t{1} << 44, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) wrong += "address space ";
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) wrong += "privileges ";
    return wrong;
  };
  EXPECT_EQ(Inside(Device("cpu", 2), body), "");
}

// Calls that compilers, allocators and plugins make.
TEST(RestrictionsTest, TheRestGoesOn) {
  const auto body = [] {
    std::string failed;
    int number = 0;
    std::thread([&] { number = 7; }).join();
    if (number != 7) failed += "thread ";
    void* const code = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0) failed += "jit ";
    if (memfd_create("code", 0) < 0) failed += "memfd ";
    if (system("exit 3") != 3 << 8) failed += "program ";
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) failed += "pair ";
    if (unshare(CLONE_FILES) != 0) failed += "unshare ";
    return failed;
  };
  EXPECT_EQ(Inside(Device("cpu", 2), body), "");
}

TEST(RestrictionsTest, ProgramsThatItStartsAreRestrictedToo) {
  const auto body = [] {
    return std::to_string(
        system("grep -q '^Seccomp:.*2$' /proc/self/status && "
               "grep -q '^NoNewPrivs:.*1$' "
               "/proc/self/status"));
  };
  EXPECT_EQ(Inside(Device("cpu", 2), body), "0");
}

}  // namespace
}  // namespace meshwright::worker::sandbox
