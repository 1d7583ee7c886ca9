"""The roots of coordinator and worker, with the daemons in them:
container_test.py PROGRAMS PLUGIN

No container engine runs here. deploy/container/assemble.sh lays out the roots as
it does for the Dockerfile, and container_root.py starts what is in them as an
engine would: read-only, as a user without rights, in namespaces. The daemons
get volumes and secrets in the places of deploy/kubernetes, and arguments like its
own, on addresses of this machine. Of worker-cuda the Dockerfile alone is read.
Exit status 77 is a skip.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CONTAINER = ROOT / "deploy" / "container"
MODEL = ROOT / "tests" / "golden" / "hlo" / "adam.hlo"
USER = 65532
SECRETS = "/run/secrets/meshwright"
WAIT_SECONDS = 200
PROGRAMS = PLUGIN = pathlib.Path()


def why_skipped() -> str:
    if os.geteuid() != 0:
        return "only root makes namespaces and gives files away"
    for tool in ("tini", "openssl"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    try:
        import grpc  # noqa: F401
    except ImportError:
        return f"{sys.executable} has no grpc"
    return "" if subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "mount", "-t", "tmpfs",
         "tmpfs", "/tmp"], capture_output=True).returncode == 0 else (
             "this machine forbids mount namespaces")


def read_dockerfile() -> dict[str, dict[str, str]]:
    """The last instruction of each kind, by target."""
    text = (CONTAINER / "Dockerfile").read_text().replace("\\\n", " ")
    targets: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        word, rest = line.split(None, 1)
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            current = targets.setdefault(
                name, dict(targets.get(base, {}), BASE=base))
        if word == "ENV":
            rest = " ".join([current.get("ENV", ""), rest]).strip()
        current[word] = rest
    return targets


class Root:
    """A laid out root, and what runs in it."""

    def __init__(self, role: str, folder: pathlib.Path):
        self.folder = folder / role
        subprocess.run([CONTAINER / "assemble.sh", role, PROGRAMS, PLUGIN,
                        self.folder], check=True)
        target = read_dockerfile()[role]
        self.entrypoint = json.loads(target["ENTRYPOINT"])
        self.environment = target.get("ENV", "").split() + [
            # Times of this test say nothing.
            "MESHWRIGHT_CALM_SECONDS=0", "MESHWRIGHT_LOCK_FOLDER=/tmp",
            "MESHWRIGHT_XLA_FLAGS=--xla_backend_optimization_level=0"]

    def start(self, *arguments: str, places: dict[str, pathlib.Path],
              program: list[str] | None = None,
              environment: tuple[str, ...] = ()) -> subprocess.Popen:
        flags = [f"--env={it}" for it in (*self.environment, *environment)]
        for path, folder in places.items():
            kind = "readable" if path.startswith("/run/") else "writable"
            flags.append(f"--{kind}={path}={folder}")
        return subprocess.Popen(
            [sys.executable, "-B", HERE / "container_root.py", self.folder,
             *flags, "--", *(program or self.entrypoint), *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def files(self) -> list[tuple]:
        return sorted((str(it), it.lstat().st_mtime_ns)
                      for it in self.folder.rglob("*"))


def lend(folder: pathlib.Path) -> pathlib.Path:
    """As the kubelet lends a secret to a pod's group."""
    for path in [folder, *folder.iterdir()]:
        os.chown(path, 0, USER)
        path.chmod(0o750 if path.is_dir() else 0o440)
    return folder


def check_health(port: int, service: str) -> int:
    """1 is SERVING, 2 NOT_SERVING, as grpc.health.v1 has them."""
    import grpc
    request = b"\x0a" + bytes([len(service)]) + service.encode()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check")
        return check(request if service else b"", wait_for_ready=True,
                     timeout=WAIT_SECONDS)[1]


def free_ports(count: int) -> list[int]:
    import socket
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [it.getsockname()[1] for it in sockets]
    for it in sockets:
        it.close()
    return ports


class DockerfileTest(unittest.TestCase):
    def test_targets_are_small_and_nobodys(self):
        targets = read_dockerfile()
        self.assertEqual(targets["build"]["BASE"], "debian:12-slim")
        for role in ("coordinator", "worker", "worker-cuda"):
            target = targets[role]
            self.assertIn(target["BASE"], ("scratch", "worker"))
            self.assertEqual(target["USER"], f"{USER}:{USER}")
            self.assertIsInstance(json.loads(target["ENTRYPOINT"]), list)
            self.assertNotIn("latest", json.dumps(target))


class RootsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(
            prefix="container-test-", dir=PROGRAMS.parent))
        # Folders of a user without rights are below it.
        cls.work.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, cls.work)
        cls.coordinator = Root("coordinator", cls.work)
        cls.worker = Root("worker", cls.work)

    def make_secrets(self) -> dict[str, pathlib.Path]:
        tls, tokens, token, ca = (self.work / it for it in (
            "tls", "tokens", "token", "ca"))
        for folder in (tls, tokens, token, ca):
            folder.mkdir()
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
             "/CN=meshwright", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", tls / "tls.key", "-out", tls / "tls.crt"],
            check=True, capture_output=True)
        shutil.copy(tls / "tls.crt", ca / "ca.crt")
        for role in ("work", "submit"):
            said = subprocess.run(
                [PROGRAMS / "meshwright", "tokens", "create", "--tokens",
                 tokens / "tokens.toml", "--name", role, "--role", role],
                check=True, capture_output=True, text=True)
            (token / role).write_text(re.search(r"mwt_\S+", said.stdout)[0])
        return {it.name: lend(it) for it in (tls, tokens, token, ca)}

    def end(self, process: subprocess.Popen) -> None:
        process.terminate()
        self.assertEqual(process.wait(WAIT_SECONDS), 0)
        process.stdout.close()

    def test_daemons_plan_in_them_and_end_by_sigterm(self):
        secrets = self.make_secrets()
        state = self.work / "state"
        state.mkdir()
        os.chown(state, USER, USER)
        laid_out = self.coordinator.files() + self.worker.files()
        health, worker_health = free_ports(2)
        coordinator = self.coordinator.start(
            "--json", "--listen=127.0.0.1:0",
            "--store=/var/lib/meshwright/store.db",
            f"--tls-cert={SECRETS}/tls/tls.crt",
            f"--tls-key={SECRETS}/tls/tls.key",
            f"--tokens={SECRETS}/tokens/tokens.toml",
            "--metrics=127.0.0.1:0", f"--health=127.0.0.1:{health}",
            "--log-format=json", "--drain-seconds=30",
            places={"/var/lib/meshwright": state,
                    f"{SECRETS}/tls": secrets["tls"],
                    f"{SECRETS}/tokens": secrets["tokens"]})
        self.addCleanup(coordinator.terminate)
        address = json.loads(coordinator.stdout.readline())["address"]
        self.assertEqual([check_health(health, it) for it in ("", "liveness")],
                         [1, 1])
        worker = self.worker.start(
            f"--coordinator={address}", "--name=node-1",
            f"--ca={SECRETS}/ca/ca.crt", f"--token-file={SECRETS}/token/work",
            "--platform=cpu", "--devices=2",
            f"--health=127.0.0.1:{worker_health}", "--log-format=json",
            "--drain-seconds=60",
            places={f"{SECRETS}/ca": secrets["ca"],
                    f"{SECRETS}/token": secrets["token"]})
        self.addCleanup(worker.terminate)
        self.assertEqual(check_health(worker_health, "liveness"), 1)

        models = self.work / "models"
        models.mkdir()
        shutil.copy(MODEL, models)
        client = self.coordinator.start(
            "plan", f"/run/models/{MODEL.name}", "--mesh", "1x2",
            "--coordinator", address, "--json",
            program=["/usr/bin/meshwright"],
            environment=(f"MESHWRIGHT_CA={SECRETS}/ca/ca.crt",
                         "MESHWRIGHT_TOKEN=" +
                         (secrets["token"] / "submit").read_text()),
            places={"/run/models": lend(models),
                    f"{SECRETS}/ca": secrets["ca"]})
        said, _ = client.communicate(timeout=WAIT_SECONDS)
        self.assertEqual(client.returncode, 0, said)
        self.assertGreater(json.loads(said)["programs"]["profiled"], 0)

        self.assertEqual(check_health(worker_health, ""), 1)
        self.end(worker)
        self.end(coordinator)
        self.assertEqual((state / "store.db").stat().st_uid, USER)
        self.assertEqual(self.coordinator.files() + self.worker.files(),
                         laid_out)

    def test_doctor_looks_at_the_machine_of_a_worker(self):
        doctor = self.worker.start(
            "doctor", "--store", "/tmp/mine.db", "--json",
            program=["/usr/bin/meshwright"], places={})
        said, _ = doctor.communicate(timeout=WAIT_SECONDS)
        self.assertEqual(doctor.returncode, 0, said)
        states = {it["name"]: it["state"] for it in json.loads(said)["checks"]}
        self.assertEqual((states["runner"], states["plugin"]), ("ok", "ok"),
                         said)

    def test_the_root_cannot_be_written_and_has_no_shell(self):
        refused = self.coordinator.start(
            "--listen=127.0.0.1:0", "--store=/etc/store.db", places={})
        refused.communicate(timeout=WAIT_SECONDS)
        self.assertNotEqual(refused.returncode, 0)
        for root in (self.coordinator, self.worker):
            self.assertFalse(list(root.folder.glob("usr/bin/*sh")))
            known = root.folder / "var/lib/dpkg/status.d"
            self.assertIn("libc6", [it.name for it in known.iterdir()])
            self.assertIn("Version: ", (known / "libc6").read_text())
            self.assertTrue(
                (root.folder / "usr/share/doc/libc6/copyright").is_file())


if __name__ == "__main__":
    PROGRAMS, PLUGIN = map(pathlib.Path, sys.argv[1:])
    del sys.argv[1:]
    if reason := why_skipped():
        print(f"skipped: integration_container_test: {reason}")
        sys.exit(77)
    unittest.main()
