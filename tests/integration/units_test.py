#!/usr/bin/env python3
"""The systemd units and configuration files of deploy/systemd.

  tests/integration/units_test.py BIN

BIN has the programs. Exit status 77: this machine has no systemd-analyze.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "systemd"
ROLES = ("coordinator", "worker")
# In tenths, of 100.
MOST_EXPOSED = {"coordinator": 20, "worker": 20}


def run(*command: str | pathlib.Path) -> str:
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{command}: {done.stderr or done.stdout}")
    return done.stdout


def unit(role: str) -> pathlib.Path:
    return FOLDER / f"meshwright-{role}.service"


def setting(role: str, key: str) -> str:
    return re.search(rf"^{key}=(.*)$", unit(role).read_text(), re.M)[1]


class UnitsTest(unittest.TestCase):

    def setUp(self):
        self.scratch = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory()))

    def test_systemd_takes_the_units(self):
        for role in ROLES:
            with self.subTest(role):
                copy = self.scratch / unit(role).name
                text = unit(role).read_text()
                self.assertIn("=/usr/bin/meshwright-", text)
                # What the package installs is in the build folder here.
                copy.write_text(text.replace("=/usr/bin/", f"={BIN}/"))
                self.assertEqual(
                    run("systemd-analyze", "--man=no",
                        "--recursive-errors=no", "verify", copy), "")

    def test_the_units_are_hardened(self):
        for role in ROLES:
            with self.subTest(role):
                run("systemd-analyze", "--no-pager", "security",
                    "--offline=true", f"--threshold={MOST_EXPOSED[role]}",
                    unit(role))

    def test_the_users_are_made_once(self):
        (self.scratch / "etc").mkdir()
        for _ in range(2):
            for role in ROLES:
                subprocess.run(
                    ["systemd-sysusers", f"--root={self.scratch}",
                     FOLDER / f"meshwright-{role}.sysusers"],
                    check=True, capture_output=True)
        users = [line.split(":")[0] for line in
                 (self.scratch / "etc/passwd").read_text().splitlines()]
        self.assertEqual(users, [setting(role, "User") for role in ROLES])

    def test_the_programs_take_the_configurations(self):
        for role in ROLES:
            with self.subTest(role):
                file = FOLDER / f"{role}.toml"
                said = tomllib.loads(file.read_text())
                printed = tomllib.loads(run(
                    BIN / f"meshwright-{role}", "--config", file,
                    "--print-config"))
                self.assertEqual({key: printed[key] for key in said}, said)

    def test_the_programs_know_the_keys_in_comments(self):
        for role in ROLES:
            with self.subTest(role):
                keys = re.findall(r"^#([a-z-]+) = ", (
                    FOLDER / f"{role}.toml").read_text(), re.M)
                printed = run(BIN / f"meshwright-{role}", "--config",
                              FOLDER / f"{role}.toml", "--print-config")
                known = re.findall(r"^#?([a-z-]+) = ", printed, re.M)
                self.assertEqual(set(keys) - set(known), set())

    def test_a_daemon_is_started_until_what_it_needs_is_there(self):
        """A database that is away ends the coordinator at once, each time."""
        for role in ROLES:
            with self.subTest(role):
                self.assertEqual(setting(role, "StartLimitIntervalSec"), "0")
                self.assertEqual(setting(role, "Restart"), "on-failure")
        self.assertEqual(setting("coordinator", "RestartPreventExitStatus"),
                         "2")
        # A driver that is loaded late is told like one that is not there.
        self.assertNotIn("RestartPreventExitStatus", unit("worker").read_text())

    def test_people_and_the_worker_time_by_the_same_locks(self):
        """The unit has a /tmp of its own."""
        folder = setting("worker", "RuntimeDirectory")
        self.assertEqual(setting("worker", "RuntimeDirectoryMode"), "1777")
        self.assertEqual(setting("worker", "RuntimeDirectoryPreserve"), "yes")
        source = ROOT / "worker" / "devices" / "timing_lock.cc"
        self.assertIn(f'"/run/{folder}"', source.read_text())

    def test_what_a_unit_makes_for_a_while_is_in_a_folder_of_its_own(self):
        """Backups, models: a machine's /tmp may be small, or its memory."""
        for role in ROLES:
            with self.subTest(role):
                roots = {"/var/lib": "StateDirectory",
                         "/var/cache": "CacheDirectory"}
                folder = re.search(r"^Environment=TMPDIR=(\S+)/(\S+)$",
                                   unit(role).read_text(), re.M)
                self.assertEqual(setting(role, roots[folder[1]]), folder[2])

    def test_draining_ends_before_the_manager_kills(self):
        for role in ROLES:
            with self.subTest(role):
                drain = tomllib.loads(
                    (FOLDER / f"{role}.toml").read_text())["drain-seconds"]
                self.assertGreater(int(setting(role, "TimeoutStopSec")),
                                   drain + 15)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    BIN = pathlib.Path(sys.argv.pop()).resolve()
    if shutil.which("systemd-analyze") is None:
        print("skipped: units_test: there is no systemd-analyze")
        sys.exit(77)
    unittest.main()
