"""Backup and restore, rehearsed: restore_test.py PROGRAMS

Real coordinators, and the worker daemon with a made-up machine, which stops in
the middle of a plan. A backup is made while a plan runs. A coordinator that knows
nothing but the backup then has the same plans and rows, and ends the plan that
ran; so has one on PostgreSQL, which the backup is migrated into. What was
measured after the backup is saved out of the old store. A read
replica of PostgreSQL answers readers and no writer. That part is skipped where
PostgreSQL is not installed.
"""

from __future__ import annotations

import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = ROOT / "tests" / "golden" / "hlo" / "adam.hlo"
LARGE = ROOT / "tests" / "testdata" / "text" / "dense.hlo.pb"
# Of the rows of both plans, the worker stops at this one.
STOPS_AT = 12
WAIT_SECONDS = 120
PROGRAMS = pathlib.Path()
ENDED = ("done", "failed", "cancelled")


class Service:
    """A coordinator over a store, and at times a worker, by their processes."""

    def __init__(self, folder: pathlib.Path, store: str):
        self.folder, self.store = folder, store
        self.address = f"unix:{folder}/service"
        self.processes: list[subprocess.Popen] = []
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder),
                            "TMPDIR": str(folder)}
        self.start("meshwright-coordinator", "--json", "--listen",
                   self.address, "--store", store).stdout.readline()

    def start(self, program: str, *arguments: str,
              **environment: str) -> subprocess.Popen:
        log = open(self.folder / f"{program}.log", "a")
        process = subprocess.Popen(
            [PROGRAMS / program, *arguments], stdin=subprocess.DEVNULL,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE, stderr=log)
        log.close()
        self.processes.append(process)
        return process

    def start_worker(self, **environment: str) -> subprocess.Popen:
        return self.start("made-up-worker", self.address, "first",
                          str(self.folder / "rows"), **environment)

    def measured(self) -> set[str]:
        """The keys of what a worker measured here."""
        return set((self.folder / "rows").read_text().split())

    def run(self, *words: str, at: str = "") -> str:
        place = ["--store", at] if at else ["--coordinator", self.address]
        ended = subprocess.run(
            [PROGRAMS / "meshwright", *words, *place], env=self.environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=WAIT_SECONDS)
        if ended.returncode != 0:
            raise AssertionError(f"{words}: {ended.stderr}")
        return ended.stdout

    def ask(self, *words: str, at: str = "") -> dict:
        return json.loads(self.run(*words, "--json", at=at))

    def submit(self, model: pathlib.Path, *flags: str) -> str:
        return self.ask("plans", "submit", str(model), "--mesh", "1x2",
                        *flags)["id"]

    def plans(self) -> dict[str, dict]:
        listed = self.ask("plans", "list")["plans"]
        return {it["id"]: {key: it[key] for key in ("owner", "model", "state")}
                for it in listed}

    def rows(self, at: str = "") -> dict:
        """What the store holds, but for how its bytes are laid out."""
        stats = self.ask("profiles", "stats", at=at)
        return {key: stats[key] for key in ("outcomes", "machines", "programs",
                                            "program_bytes")}

    def stop(self) -> None:
        while self.processes:
            process = self.processes.pop()
            process.send_signal(signal.SIGTERM)
            process.wait(WAIT_SECONDS)
            process.stdout.close()


class Postgres:
    """A server of this test's own, and a replica of it, on unix sockets."""

    def __init__(self, folder: pathlib.Path):
        self.tools = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.folder = folder / "postgres"
        self.folder.mkdir()
        self.servers: list[subprocess.Popen] = []
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        # PostgreSQL refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else None
        self.call("initdb", "-D", self.folder / "primary", "-A", "trust",
                  "-U", "meshwright", "-E", "UTF8", "--no-sync")
        self.serve("primary")
        self.call("createdb", "-h", self.folder, "-p", "1", "-U", "meshwright",
                  "meshwright")

    def call(self, tool: str, *arguments: object) -> None:
        subprocess.run([f"{self.tools}/{tool}", *map(str, arguments)],
                       check=True, user=self.user, group=self.user,
                       stdout=subprocess.DEVNULL)

    def serve(self, name: str) -> None:
        port = str(len(self.servers) + 1)
        self.servers.append(subprocess.Popen(
            [f"{self.tools}/postgres", "-D", self.folder / name, "-k",
             self.folder, "-p", port, "-c", "listen_addresses="],
            user=self.user, group=self.user, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        while subprocess.run([f"{self.tools}/pg_isready", "-q", "-h",
                              self.folder, "-p", port]).returncode:
            if self.servers[-1].poll() is not None:
                raise AssertionError(f"PostgreSQL does not start: {name}")

    def replicate(self) -> None:
        self.call("pg_basebackup", "-D", self.folder / "replica", "-R",
                  "-h", self.folder, "-p", "1", "-U", "meshwright", "-c",
                  "fast")
        self.serve("replica")

    def url(self, port: int) -> str:
        return f"postgres:///meshwright?host={self.folder}&port={port}" \
            "&user=meshwright"

    def stop(self) -> None:
        while self.servers:
            server = self.servers.pop()
            server.send_signal(signal.SIGINT)
            server.wait(WAIT_SECONDS)


class RestoreTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="restore-test-"))
        self.folder.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.folder)

    def serve(self, name: str, store: str = "") -> Service:
        folder = self.folder / name
        folder.mkdir()
        service = Service(folder, store or str(folder / "service.db"))
        self.addCleanup(service.stop)
        return service

    def back_up(self) -> tuple[Service, pathlib.Path]:
        """A service, and its backup: plan-1 is done in it, plan-2 runs."""
        service = self.serve("first")
        worker = service.start_worker(
            MESHWRIGHT_FAILPOINT=f"worker.measured:{STOPS_AT}:stop")
        service.run("plans", "watch", service.submit(SMALL))
        large = service.submit(LARGE)
        os.waitpid(worker.pid, os.WUNTRACED)
        backup = self.folder / "backup.db"
        service.run("store", "backup", str(backup))
        self.assertNotIn(service.plans()[large]["state"], ENDED)
        worker.send_signal(signal.SIGCONT)
        service.run("plans", "watch", large)
        return service, backup

    def test_a_coordinator_has_only_the_backup(self):
        old, backup = self.back_up()
        self.assertEqual(old.ask("profiles", "verify", at=str(backup)),
                         {"damaged": []})
        shutil.copy(backup, self.folder / "restored.db")
        new = self.serve("second", str(self.folder / "restored.db"))
        plan = old.ask("plans", "get", "plan-1")
        again = new.ask("plans", "get", "plan-1")
        self.assertEqual(again["plan"], plan["plan"])
        self.assertEqual(new.plans()["plan-1"], old.plans()["plan-1"])
        self.assertEqual(set(new.plans()), {"plan-1", "plan-2"})
        self.assertEqual(new.rows(), new.rows(at=str(backup)))
        # A program of the backup is not measured again.
        there_measured = sum(it["rows"] for it in new.ask(
            "profiles", "stats")["machines"])
        new.start_worker()
        new.run("plans", "watch", "plan-2")
        self.assertEqual(new.plans()["plan-2"]["state"], "done")
        self.assertEqual(len(new.measured()),
                         len(old.measured()) - there_measured)
        # What the lost time measured is saved.
        saved = self.folder / "rows.mwp"
        old.stop()
        new.run("profiles", "export", str(saved), at=old.store)
        new.run("profiles", "import", str(saved))
        self.assertEqual(new.rows()["outcomes"],
                         new.rows(at=old.store)["outcomes"])

    def test_a_database_has_the_backup_and_a_replica_answers(self):
        if not glob.glob("/usr/lib/postgresql/*/bin/initdb"):
            print("skipped: restore_test: PostgreSQL is not installed")
            self.skipTest("PostgreSQL is not installed")
        old, backup = self.back_up()
        old.stop()
        postgres = Postgres(self.folder)
        self.addCleanup(postgres.stop)
        subprocess.run([PROGRAMS / "meshwright", "store", "migrate", backup,
                        postgres.url(1)], check=True, capture_output=True)
        service = self.serve("shared", postgres.url(1))
        self.assertEqual(set(service.plans()), {"plan-1", "plan-2"})
        self.assertEqual(service.rows(), service.rows(at=str(backup)))
        service.start_worker()
        service.run("plans", "watch", "plan-2")
        self.assertEqual(service.plans()["plan-2"]["state"], "done")

        postgres.replicate()
        self.assertEqual(service.rows(at=postgres.url(2)), service.rows())
        carried = [self.folder / f"{port}.mwp" for port in (1, 2)]
        for port, file in enumerate(carried, 1):
            service.run("profiles", "export", str(file), at=postgres.url(port))
        self.assertEqual(carried[0].read_bytes(), carried[1].read_bytes())
        with self.assertRaisesRegex(AssertionError, "read-only"):
            service.run("profiles", "import", str(carried[0]),
                        at=postgres.url(2))


if __name__ == "__main__":
    PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
