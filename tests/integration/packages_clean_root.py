#!/usr/bin/env python3
"""The Debian packages and the wheel on a clean Debian, from install to purge.

  tests/integration/packages_clean_root.py BUILD [--if-long]

BUILD is the build folder, with the programs built. With --if-long it runs where
MESHWRIGHT_LONG is set: it takes minutes. debootstrap makes a minimal system in
BUILD/clean_root once. Each run lays an empty folder over it. The first half
installs where no systemd runs; the second boots systemd in a container without
a network, where the daemons run as their units say. packages_clean_root.sh is
what happens inside. Exit status 77: this machine does not permit it.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
INSIDE = TREE / "tests" / "integration" / "packages_clean_root.sh"
MODEL = TREE / "tests" / "golden" / "hlo" / "adam.hlo"
BOOK = TREE / "docs" / "operations.md"
SCRIPT = ("docs/python.md", "README.md")  # a step, and the lines that plan it
# Of today's programs, once more: packages_clean_root.sh makes their store older.
OLD_VERSION = "0.0.9"

UNIT = """
[Unit]
After=multi-user.target
SuccessAction=exit
FailureAction=exit
FailureActionExitStatus=1

[Service]
Type=oneshot
ExecStart=/test/inside.sh booted
StandardOutput=file:/test/log
StandardError=file:/test/log
"""


def run(*command: str | pathlib.Path, **more) -> str:
    done = subprocess.run(command, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **more)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def skip(reason: str) -> None:
    print(f"skipped: packages_clean_root: {reason}")
    sys.exit(77)


def make_root(root: pathlib.Path) -> None:
    """A minimal Debian of this machine's release, from its mirrors."""
    if root.is_dir():
        return
    print("making a clean Debian, once", flush=True)
    lines = [line.split() for line in run(
        "apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)",
        "Created-By: Packages", "Origin: Debian").splitlines()]
    sources = {tuple(line) for line in lines}
    suite = run("sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME").strip()
    mirrors = [uri for uri, release in sources if release == suite]
    if not mirrors:
        skip(f"apt has no mirror of Debian {suite}")
    partial = root.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.parent.mkdir(parents=True, exist_ok=True)
    run("debootstrap", "--variant=minbase", "--include=systemd-sysv", suite,
        partial, mirrors[0])
    (partial / "etc/apt/sources.list").write_text("".join(
        f"deb {uri} {release} main\n" for uri, release in sorted(sources)))
    shutil.copy("/etc/resolv.conf", partial / "etc/resolv.conf")
    run("chroot", partial, "apt-get", "-q", "update")
    partial.rename(root)


def make_wheel(folder: pathlib.Path, scratch: pathlib.Path) -> None:
    """The wheel of BUILD, what it depends on, and JAX, for Debian's Python."""
    run("cmake", "--build", BUILD, "--target", "wheel")
    (wheel,) = (BUILD / "dist").glob("meshwright-*.whl")
    run("/usr/bin/python3", "-m", "venv", scratch / "venv")
    run(scratch / "venv/bin/pip", "download", "--quiet", "--only-binary",
        ":all:", "--dest", folder, f"{wheel}[jax]")


def write_script(path: pathlib.Path) -> None:
    """The step of the page of Python, planned by README's three lines."""
    blocks = [re.search(r"^```python\n(.*?)^```", (TREE / page).read_text(),
                        re.M | re.S)[1] for page in SCRIPT]
    step, _, _ = blocks[0].partition("planned =")
    path.write_text(step + blocks[1] +
                    "assert planned.plan.predicted.step_seconds > 0\n")


def make_packages(folder: pathlib.Path, *settings: str) -> None:
    folder.mkdir()
    run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", folder,
        "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip", *settings, cwd=folder)
    shutil.rmtree(folder / "_CPack_Packages")


class Container:
    """The clean system with an empty folder over it, for one run."""

    def __init__(self, base: pathlib.Path, scratch: pathlib.Path,
                 binds: dict[str, pathlib.Path]):
        self.path = scratch / "root"
        self.binds = binds
        layers = scratch / "layers"
        for folder in (self.path, layers):
            folder.mkdir(parents=True)
        run("mount", "-t", "tmpfs", "none", layers)
        for folder in ("upper", "work"):
            (layers / folder).mkdir()
        run("mount", "-t", "overlay", "none", self.path, "-o",
            f"lowerdir={base},upperdir={layers}/upper,workdir={layers}/work")

    def run(self, *words: str) -> str:
        return run(
            "systemd-nspawn", "--quiet", "--register=no", "--keep-unit",
            "--console=pipe", f"--machine=packages-{os.getpid()}",
            f"--directory={self.path}",
            *(f"--bind={host}:{own}" for own, host in self.binds.items()),
            *words, stdin=subprocess.DEVNULL, timeout=600, env={
                **os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"})


def install_without_systemd(container: Container) -> None:
    print(container.run("--resolv-conf=off", "/test/inside.sh", "alone"))


def boot(container: Container) -> None:
    """The container ends with the exit status of the unit."""
    units = container.path / "etc/systemd/system"
    (units / "test.service").write_text(UNIT)
    (units / "multi-user.target.wants").mkdir(exist_ok=True)
    (units / "multi-user.target.wants/test.service").symlink_to(
        "../test.service")
    try:
        container.run("--private-network", "--boot")
    finally:
        print((container.binds["/test"] / "log").read_text())


def main() -> None:
    if "--if-long" in sys.argv and not os.environ.get("MESHWRIGHT_LONG"):
        skip("it runs in ./check --long")
    for tool in ("debootstrap", "systemd-nspawn", "cpack", "lintian"):
        if shutil.which(tool) is None:
            skip(f"there is no {tool}")
    if os.geteuid() != 0:
        skip("only root may make a root folder")
    if "--inside" not in sys.argv:  # mounts end with the namespace
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private",
                              sys.executable, "-B", __file__, str(BUILD),
                              "--inside"])
    # Where the container's manager keeps its own; nothing of it stays.
    pathlib.Path("/run/systemd").mkdir(exist_ok=True)
    run("mount", "-t", "tmpfs", "none", "/run/systemd")
    base = BUILD / "clean_root" / "base"
    make_root(base)
    archives = BUILD / "clean_root" / "archives"
    (archives / "partial").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        test = scratch / "test"
        test.mkdir()
        make_packages(test / "new")
        run("lintian", "--allow-root", "--no-cfg", "--fail-on", "error",
            *(test / "new").glob("*.deb"))
        make_packages(
            test / "old", "-D", f"CPACK_PACKAGE_VERSION={OLD_VERSION}", "-D",
            "CPACK_COMPONENTS_ALL=meshwright;meshwright-coordinator;"
            "meshwright-runner;meshwright-worker")
        make_wheel(test / "wheels", scratch)
        shutil.copy(INSIDE, test / "inside.sh")
        shutil.copy(MODEL, test / "step.hlo")
        write_script(test / "readme.py")
        # How the book puts a backup in place of the store.
        (test / "restore.sh").write_text(re.search(
            r"^    (install .* backup\.db \S+)$", BOOK.read_text(), re.M)[1])
        for half in (install_without_systemd, boot):
            container = Container(base, scratch / half.__name__, {
                "/test": test, "/var/cache/apt/archives": archives})
            try:
                half(container)
                print(f"passed: {half.__name__}", flush=True)
            finally:
                run("umount", container.path)
                run("umount", container.path.with_name("layers"))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    main()
