#include "worker/sandbox/system_call_filter.h"

#include <asm/ioctls.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace meshwright::worker::sandbox {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "state the architecture of the system calls"
#endif

constexpr long kRefusedCalls[] = {
    // other processes
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
    SYS_pidfd_getfd,
    // mounts and namespaces
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_open_tree,
    SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick,
    SYS_mount_setattr, SYS_setns, SYS_open_by_handle_at, SYS_quotactl,
    SYS_quotactl_fd, SYS_acct, SYS_swapon, SYS_swapoff, SYS_sethostname,
    SYS_setdomainname,
    // the kernel and the machine
    SYS_kexec_load, SYS_init_module, SYS_finit_module, SYS_delete_module,
    SYS_reboot, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
    SYS_fanotify_init, SYS_syslog, SYS_vhangup,
#if defined(SYS_kexec_file_load)
    SYS_kexec_file_load,
#endif
#if defined(__x86_64__)
    SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib,
#endif
    // keys
    SYS_add_key, SYS_request_key, SYS_keyctl,
    // the clock
    SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
    // around the filter
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register};

constexpr uint32_t kNewNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
                                    CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                                    CLONE_NEWCGROUP;

// TIOCLINUX, whose header does not go with the others.
constexpr uint32_t kConsole = 0x541C;

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t Refuse(uint32_t error) {
  return SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA);
}

// The lower half of an argument: both architectures are little-endian, and the
// kernel ignores the upper half of an int.
constexpr uint32_t Argument(int number) {
  return offsetof(seccomp_data, args) + 8 * number;
}

class Assembler {
 public:
  void Load(uint32_t offset) {
    code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
  }
  void Return(uint32_t verdict) {
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, verdict));
  }
  void ReturnIfEqual(uint32_t value, uint32_t verdict) {
    ReturnIf(BPF_JEQ, value, verdict);
  }
  void ReturnUnlessEqual(uint32_t value, uint32_t verdict) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
    Return(verdict);
  }
  void ReturnIfAnyBit(uint32_t bits, uint32_t verdict) {
    ReturnIf(BPF_JSET, bits, verdict);
  }
  void ReturnIfAtLeast(uint32_t value, uint32_t verdict) {
    ReturnIf(BPF_JGE, value, verdict);
  }
  // `body` ends with a Return; it may spoil what was loaded.
  template <typename Body>
  void If(uint32_t value, const Body& body) {
    const size_t jump = code_.size();
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 0));
    body();
    code_[jump].jf = static_cast<uint8_t>(code_.size() - jump - 1);
  }

  const std::vector<sock_filter>& code() const { return code_; }

 private:
  void ReturnIf(uint16_t test, uint32_t value, uint32_t verdict) {
    code_.push_back(
        BPF_JUMP(static_cast<uint16_t>(BPF_JMP | test | BPF_K), value, 0, 1));
    Return(verdict);
  }

  std::vector<sock_filter> code_;
};

std::vector<sock_filter> MakeFilter(const SocketFamilies& allowed) {
  Assembler filter;
  filter.Load(offsetof(seccomp_data, arch));
  filter.ReturnUnlessEqual(kArchitecture, Refuse(ENOSYS));
  filter.Load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  // The same calls under other numbers.
  filter.ReturnIfAtLeast(__X32_SYSCALL_BIT, Refuse(ENOSYS));
#endif
  for (const long call : kRefusedCalls) {
    filter.ReturnIfEqual(static_cast<uint32_t>(call), Refuse(EPERM));
  }
  filter.ReturnIfEqual(SYS_clone3, Refuse(ENOSYS));
  filter.If(SYS_clone, [&] {
    filter.Load(Argument(0));
    filter.ReturnIfAnyBit(kNewNamespaces, Refuse(EPERM));
    filter.Return(kAllow);
  });
  filter.If(SYS_unshare, [&] {
    filter.Load(Argument(0));
    filter.ReturnIfAnyBit(kNewNamespaces | CLONE_NEWTIME, Refuse(EPERM));
    filter.Return(kAllow);
  });
  filter.If(SYS_ioctl, [&] {
    filter.Load(Argument(1));
    filter.ReturnIfEqual(TIOCSTI, Refuse(EPERM));
    filter.ReturnIfEqual(kConsole, Refuse(EPERM));
    filter.Return(kAllow);
  });
  for (const long call : {SYS_socket, SYS_socketpair}) {
    filter.If(static_cast<uint32_t>(call), [&] {
      filter.Load(Argument(0));
      filter.ReturnIfEqual(AF_UNIX, kAllow);
      if (allowed.netlink) filter.ReturnIfEqual(AF_NETLINK, kAllow);
      if (allowed.internet) {
        filter.ReturnIfEqual(AF_INET, kAllow);
        filter.ReturnIfEqual(AF_INET6, kAllow);
      }
      filter.Return(Refuse(EACCES));
    });
  }
  filter.Return(kAllow);
  return filter.code();
}

}  // namespace

absl::Status InstallSystemCallFilter(const SocketFamilies& allowed) {
  std::vector<sock_filter> code = MakeFilter(allowed);
  const sock_fprog program = {static_cast<unsigned short>(code.size()),
                              code.data()};
  // Kernels before 4.17 do not know SPEC_ALLOW, nor the slowness.
  for (const unsigned long flags :
       {SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
        SECCOMP_FILTER_FLAG_TSYNC}) {
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0) {
      return absl::OkStatus();
    }
    if (errno != EINVAL) break;
  }
  return absl::ErrnoToStatus(errno, "the kernel takes no seccomp filter");
}

}  // namespace meshwright::worker::sandbox
