#!/usr/bin/env python3
"""The Debian packages, made of the built programs and unpacked into a folder.

  tests/integration/packages_test.py BUILD

BUILD is the build folder. packages_clean_root.py installs them. Exit status 77:
this machine lacks a tool.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
MODEL = TREE / "tests" / "golden" / "hlo" / "adam.hlo"
NEEDED = ("cpack", "dpkg-deb", "lintian")
# What each package must have, beside its documents.
CONTENTS = {
    "meshwright": [
        "usr/bin/meshwright", "usr/share/man/man1/meshwright.1.gz",
        "usr/share/man/man1/meshwright-plan.1.gz",
        "usr/share/bash-completion/completions/meshwright",
        "usr/share/bash-completion/completions/meshwright-worker",
        "usr/share/zsh/vendor-completions/_meshwright",
        "usr/share/fish/vendor_completions.d/meshwright.fish",
        *(f"usr/share/doc/meshwright/examples/{it}" for it in (
            "slurm/plan-and-train.sbatch", "slurm/idle-worker.sbatch",
            "prometheus/alerts.yml", "prometheus/dashboard.json",
            "prometheus/prometheus.yml"))],
    "meshwright-coordinator": [
        "usr/bin/meshwright-coordinator", "etc/meshwright/coordinator.toml",
        "usr/lib/systemd/system/meshwright-coordinator.service",
        "usr/lib/sysusers.d/meshwright-coordinator.conf",
        "usr/share/man/man1/meshwright-coordinator.1.gz"],
    "meshwright-worker": [
        "usr/bin/meshwright-worker", "etc/meshwright/worker.toml",
        "usr/lib/systemd/system/meshwright-worker.service",
        "usr/lib/sysusers.d/meshwright-worker.conf",
        "usr/share/man/man1/meshwright-worker.1.gz"],
    "meshwright-runner": ["usr/lib/meshwright/meshwright-runner",
                          "usr/lib/meshwright/meshwright-comm"],
    "meshwright-dev": ["usr/include/meshwright/proto/v1/plans.proto",
                       "usr/include/meshwright/proto/v1/plans.grpc.pb.h"],
}

CLIENT = """
#include <grpcpp/grpcpp.h>
#include <iostream>
#include "proto/v1/plans.grpc.pb.h"

int main(int argc, char** argv) {
  using namespace meshwright::v1;
  const auto stub = Plans::NewStub(
      grpc::CreateChannel(argv[1], grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  ListPlansResponse plans;
  const grpc::Status status = stub->List(&context, ListPlansRequest(), &plans);
  std::cout << status.error_message() << plans.plans_size() << "\\n";
}
"""


def run(*command: str | pathlib.Path, **more) -> str:
    done = subprocess.run(command, text=True, capture_output=True, check=False,
                          **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def make_packages(folder: pathlib.Path, *settings: str) -> None:
    """Without compression, and without the large plugin of the CPU."""
    run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", folder,
        "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip",
        "-D", "CPACK_COMPONENTS_ALL=" + ";".join(CONTENTS),
        *settings, cwd=folder)


class PackagesTest(unittest.TestCase):
    folder: pathlib.Path
    debs: dict[str, pathlib.Path]
    root: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(
            cls.enterClassContext(tempfile.TemporaryDirectory()))
        make_packages(cls.folder)
        cls.debs = {deb.name.split("_")[0]: deb
                    for deb in cls.folder.glob("*.deb")}
        cls.root = cls.folder / "root"
        for deb in cls.debs.values():
            run("dpkg-deb", "-x", deb, cls.root)

    def test_each_package_has_its_files(self):
        self.assertEqual(set(self.debs), set(CONTENTS))
        for name, deb in self.debs.items():
            with self.subTest(name):
                files = {line.split()[5].removeprefix("./")
                         for line in run("dpkg-deb", "-c", deb).splitlines()}
                documents = f"usr/share/doc/{name}/"
                wanted = {*CONTENTS[name], documents + "copyright",
                          documents + "changelog.Debian.gz"}
                self.assertEqual(wanted - files, set())

    def test_lintian_finds_no_error(self):
        done = subprocess.run(["lintian", "--allow-root", "--no-cfg",
                               "--fail-on", "error", *self.debs.values()],
                              text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_programs_find_each_other_and_plan(self):
        programs = self.root / "usr" / "bin"
        address = f"unix:{self.folder}/coordinator"
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder),
            "MESHWRIGHT_CALM_SECONDS": "0",
            "MESHWRIGHT_LOCK_FOLDER": str(self.folder),
            "MESHWRIGHT_XLA_FLAGS": "--xla_backend_optimization_level=0"}
        daemons = []
        for command in (
                ["meshwright-coordinator", "--listen", address,
                 "--store", f"{self.folder}/profiles.db"],
                ["meshwright-worker", "--coordinator", address,
                 "--devices", "2"]):
            daemons.append(self.enterContext(subprocess.Popen(
                [programs / command[0], *command[1:]], env=environment,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)))
            self.addCleanup(daemons[-1].kill)
            if len(daemons) == 1:  # its first line: it listens
                self.assertIn(b"listening", daemons[0].stdout.readline())
        plan = json.loads(run(programs / "meshwright", "plan", MODEL, "--mesh",
                              "1x2", "--coordinator", address, "--json",
                              env=environment, timeout=250))
        self.assertGreater(plan["programs"]["profiled"], 0)
        self.ask_as_a_client(address)
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.communicate()
            self.assertEqual(daemon.returncode, 0)

    def ask_as_a_client(self, address: str) -> None:
        """A program made with meshwright-dev alone."""
        source = self.folder / "client.cc"
        source.write_text(CLIENT)
        pkg_config = next(self.root.glob("usr/lib/*/pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "meshwright", env={
            **os.environ, "PKG_CONFIG_PATH": str(pkg_config)}).split()
        run("g++", "-std=c++17", source, "-o", self.folder / "client",
            *(flag.replace("/usr/include/meshwright",
                           f"{self.root}/usr/include/meshwright")
              .replace("-L/usr", f"-L{self.root}/usr") for flag in flags))
        self.assertEqual(run(self.folder / "client", address), "1\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    BUILD = pathlib.Path(sys.argv.pop()).resolve()
    for tool in NEEDED:
        if shutil.which(tool) is None:
            print(f"skipped: packages_test: there is no {tool}")
            sys.exit(77)
    unittest.main()
