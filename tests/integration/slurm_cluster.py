"""A Slurm of several nodes on this machine, for one test.

    slurm_cluster.enter_private_machine()  # first thing in the program
    with slurm_cluster.SlurmCluster(nodes=3) as slurm:
        slurm.run(["sbatch", "--wait", "job.sbatch"])

munged, slurmctld and a slurmd for each node are those of the system's packages,
with keys, state and ports of their own. Each node has an address of a bridge
that leads nowhere. All processes live in a network and a process namespace of this program, so that
nothing is left behind however it ends.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

PRIVATE = "MESHWRIGHT_PRIVATE_SLURM"
TOOLS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "unshare", "ip")
PATIENCE_SECONDS = 60
CPUS = 4
CONTROLLER_PORT = 6817
NETWORK = "10.78.0"

CONFIG = """\
ClusterName=test
SlurmctldHost={host}({network}.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
GresTypes=gpu
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/%n.pid
SlurmdLogFile={folder}/%n.log
SlurmdSpoolDir={folder}/spool/%n
SlurmdParameters=config_overrides
KillWait=5
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,bf_interval=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=2 PreemptMode=OFF
PartitionName=spare Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1
"""


class NotPermitted(Exception):
    """This machine does not let us start a Slurm; the reason, a line."""


def enter_private_machine() -> None:
    """Runs this program again with networks and processes of its own."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if os.environ.get(PRIVATE) == "1":
        _run(["ip", "link", "set", "lo", "up"])
        _run(["ip", "link", "add", "nodes", "type", "bridge"])
        _run(["ip", "link", "set", "nodes", "up"])
        return
    for tool in TOOLS:
        if shutil.which(tool) is None:
            raise NotPermitted(f"{tool} is not installed")
    if os.geteuid() != 0:
        raise NotPermitted("only root starts jobs of others")
    unshare = ["unshare", "--net", "--pid", "--fork", "--kill-child",
               "--mount-proc"]
    _run([*unshare, "true"])
    os.environ[PRIVATE] = "1"
    os.execvp(unshare[0], [*unshare, sys.executable, "-B", *sys.argv])


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        said = " ".join(done.stderr.split()) or f"status {done.returncode}"
        raise NotPermitted(f"`{' '.join(command)}`: {said}")
    return done.stdout


def find_processes(word: str) -> list[str]:
    """The command lines that hold the word, of all processes there are."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
        except OSError:
            continue  # it has ended
        if word in line.decode(errors="replace") and \
                int(entry.name) != os.getpid():
            found.append(line.decode(errors="replace"))
    return found


class SlurmCluster:

    def __init__(self, nodes: int, gpus: int = 0):
        """`gpus`: devices that stand for the GPUs of each node."""
        self.nodes = [f"node{i + 1}" for i in range(nodes)]
        self._gpus = gpus
        self._daemons: list[subprocess.Popen] = []

    def __enter__(self) -> SlurmCluster:
        self._temporary = tempfile.TemporaryDirectory(prefix="slurm-")
        self.folder = pathlib.Path(self._temporary.name)
        self.folder.chmod(0o755)  # munged's socket is for every user
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("SLURM", "SBATCH"))}
        self.environment["SLURM_CONF"] = str(self.folder / "slurm.conf")
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self) -> None:
        for name in ("state", "munge", *(f"spool/{it}" for it in self.nodes)):
            (self.folder / name).mkdir(parents=True)
        self._write_config()
        munge = self.folder / "munge"
        (munge / "key").write_bytes(os.urandom(1024))
        (munge / "key").chmod(0o400)
        self._daemon(["munged", "--foreground", f"--key-file={munge}/key",
                      f"--socket={munge}/socket", f"--pid-file={munge}/pid",
                      f"--log-file={munge}/log", f"--seed-file={munge}/seed"])
        self.wait_until((munge / "socket").exists, "munged comes up")
        self._daemon(["slurmctld", "-D"])
        for node in self.nodes:
            self._daemon(["slurmd", "-D", "-N", node])
        self.wait_until(self._all_are_idle, "slurmctld and slurmd come up")

    def _write_config(self) -> None:
        for i in range(1 + len(self.nodes)):
            _run(["ip", "address", "add", f"{NETWORK}.{1 + i}/24", "dev",
                  "nodes"])
        lines = [CONFIG.format(folder=self.folder, host=os.uname().nodename,
                               network=NETWORK, port=CONTROLLER_PORT)]
        gpus = f" Gres=gpu:{self._gpus}" if self._gpus else ""
        for i, node in enumerate(self.nodes, 1):
            lines.append(
                f"NodeName={node} NodeHostname={os.uname().nodename}"
                f" NodeAddr={NETWORK}.{1 + i} Port={CONTROLLER_PORT + i}"
                f" CPUs={CPUS}{gpus}\n")
        (self.folder / "slurm.conf").write_text("".join(lines))
        for i in range(self._gpus):  # Slurm wants devices
            (self.folder / f"gpu{i}").symlink_to("/dev/null")
        (self.folder / "gres.conf").write_text(
            f"Name=gpu File={self.folder}/gpu[0-{self._gpus - 1}]\n"
            if self._gpus else "")

    def _daemon(self, command: list[str]) -> None:
        path = self.folder / f"daemon-{len(self._daemons)}"
        with open(path, "w", encoding="utf-8") as log:
            self._daemons.append(
                subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                 stderr=log, env=self.environment))

    def _all_are_idle(self) -> bool:
        shown = self.run(["sinfo", "--noheader", "--Node", "--partition", "main",
                          "--format", "%T"],
                         check=False)
        return shown.stdout.split() == ["idle"] * len(self.nodes)

    def wait_until(self, is_so, what: str) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            dead = [it for it in self._daemons if it.poll() is not None]
            if dead or time.monotonic() > end:
                raise RuntimeError(f"{what}: not in time:\n{self.logs()}")
            time.sleep(0.05)

    def logs(self) -> str:
        files = [*self.folder.glob("daemon-*"), *self.folder.glob("*.log")]
        return "\n".join(f"== {it.name}\n{it.read_text()[-1500:]}"
                         for it in files)

    def __exit__(self, *_) -> None:
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._temporary.cleanup()

    def run(self, command: list[str], check: bool = True,
            variables: dict[str, str] | None = None,
            folder: pathlib.Path | None = None) -> subprocess.CompletedProcess:
        """A program of a user of this Slurm."""
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
            env=self.environment | (variables or {}), cwd=folder)
        if check and done.returncode != 0:
            raise AssertionError(
                f"`{' '.join(command)}` ended with {done.returncode}:\n"
                f"{done.stdout}{done.stderr}\n{self.logs()}")
        return done
