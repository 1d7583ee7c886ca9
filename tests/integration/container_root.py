"""A program in a root of its own, as a container engine starts it.

    container_root.py ROOT [--writable PATH=FOLDER]... [--readable PATH=FOLDER]...
        [--env NAME=VALUE]... -- PROGRAM ARGUMENT...

The program is the first process of a process namespace and sees ROOT alone,
read-only, with a /proc of its own, a few devices and an empty /tmp. It is user
65532 without capabilities and without a way to gain any. FOLDER of this machine
is PATH there. SIGTERM goes to it, and its exit status comes back. Needs root.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import subprocess
import sys

USER = 65532
NEW_MOUNTS, NEW_PROCESSES = 0x00020000, 0x20000000
DIE_WITH_PARENT, NO_NEW_PRIVILEGES, DROP_CAPABILITY = 1, 38, 24
DEVICES = ("null", "zero", "random", "urandom")
libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), what)


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def _lay_out(flags: argparse.Namespace) -> None:
    """Mounts of this process and its children alone."""
    root = flags.root
    _mount("--make-rprivate", "/")
    _mount("--bind", root, root)
    _mount("-t", "proc", "proc", f"{root}/proc")
    _mount("-t", "tmpfs", "-o", "mode=1777,size=512m", "tmpfs", f"{root}/tmp")
    for name in ("dev", "run"):
        _mount("-t", "tmpfs", "-o", "mode=0755", "tmpfs", f"{root}/{name}")
    for device in DEVICES:
        with open(f"{root}/dev/{device}", "w"):
            pass
        _mount("--bind", f"/dev/{device}", f"{root}/dev/{device}")
    os.symlink("/proc/self/fd", f"{root}/dev/fd")
    os.makedirs(f"{root}/dev/shm")
    _mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", f"{root}/dev/shm")
    for place in flags.writable + flags.readable:
        path, folder = place.split("=")
        os.makedirs(root + path, exist_ok=True)
        _mount("--bind", folder, root + path)
        if place in flags.readable:
            _mount("-o", "remount,bind,ro", root + path)
    for name in ("", "/dev", "/run"):
        _mount("-o", "remount,bind,ro", root + name)


def _become_nobody() -> None:
    for capability in range(64):
        libc.prctl(DROP_CAPABILITY, capability, 0, 0, 0)
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)
    _check(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")


def _start(flags: argparse.Namespace) -> None:
    _check(libc.prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0), "prctl")
    _lay_out(flags)
    os.chroot(flags.root)
    os.chdir("/tmp")
    _become_nobody()
    # It is cleared with the user.
    _check(libc.prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0), "prctl")
    environment = dict(it.split("=", 1) for it in flags.env)
    os.execve(flags.program[0], flags.program,
              {"PATH": "/usr/bin", **environment})


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=os.path.realpath)
    for flag in ("--writable", "--readable", "--env"):
        parser.add_argument(flag, action="append", default=[])
    parser.add_argument("program", nargs="+")
    flags = parser.parse_args()
    _check(libc.unshare(NEW_MOUNTS | NEW_PROCESSES), "unshare")
    child = os.fork()
    if child == 0:
        try:
            _start(flags)
        finally:
            os._exit(125)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
