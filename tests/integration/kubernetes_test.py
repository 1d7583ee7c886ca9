"""deploy/kubernetes, rendered and read: kubernetes_test.py PROGRAMS

Each overlay is rendered by Kustomize (kubectl), checked against the schemas of
Kubernetes' API, of the oldest and the newest version here, and against
kubernetes_rules.py. The daemons in PROGRAMS read the arguments of their
containers. PodMonitor is Prometheus' own kind: the rules alone read it.
"""

from __future__ import annotations

import copy
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import kubernetes_validate
import yaml

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(ROOT / "tests/docs")]
import blocks  # noqa: E402
from kubernetes_rules import (  # noqa: E402
    arguments, find_faults, pod_template)

IDLE_PAGE = ROOT / "docs" / "operating" / "idle-devices.md"
FIRST_PAGE = ROOT / "docs" / "how-to" / "kubernetes.md"
FOLDER = ROOT / "deploy" / "kubernetes"
OVERLAYS = sorted(it.name for it in (FOLDER / "overlays").iterdir())
# gRPC probes are stable from 1.27 on, ReadWriteOncePod from 1.29 on.
VERSIONS = ("1.29", "1.37")
VERSION = re.search(r"project\(meshwright VERSION (\S+)",
                    (ROOT / "CMakeLists.txt").read_text())[1]
PROGRAMS = pathlib.Path()


def render_folder(folder: pathlib.Path) -> list[dict]:
    rendered = subprocess.run(["kubectl", "kustomize", folder], check=True,
                              capture_output=True, text=True)
    return list(yaml.safe_load_all(rendered.stdout))


def render(overlay: str) -> list[dict]:
    return render_folder(FOLDER / "overlays" / overlay)


def render_idle() -> list[dict]:
    return render_page(IDLE_PAGE)


def render_page(page: pathlib.Path) -> list[dict]:
    """The overlay of a page, beside a clone of this tree."""
    overlay = next(it for it in blocks.find_blocks(page.read_text())
                   if it.file)
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "meshwright").symlink_to(ROOT)
        own = pathlib.Path(folder) / "own"
        own.mkdir()
        (own / overlay.file).write_text(overlay.text)
        return render_folder(own)


def find(objects: list[dict], kind: str, name: str) -> dict:
    return next(it for it in objects
                if it["kind"] == kind and it["metadata"]["name"] == name)


def container_of(objects: list[dict], kind: str, name: str) -> dict:
    return pod_template(find(objects, kind, name))["spec"]["containers"][0]


class OverlaysTest(unittest.TestCase):
    def test_objects_are_of_the_api(self):
        for overlay in OVERLAYS:
            for thing in render(overlay):
                if thing["apiVersion"].startswith("monitoring.coreos.com/"):
                    continue
                for version in VERSIONS:
                    with self.subTest(overlay=overlay, thing=thing["kind"],
                                      version=version):
                        kubernetes_validate.validate(thing, version,
                                                     strict=True)

    def test_the_schemas_find_a_misspelt_key(self):
        worker = find(render(OVERLAYS[0]), "DaemonSet", "worker")
        pod_template(worker)["spec"]["nodeSelectors"] = {}
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(worker, VERSIONS[-1], strict=True)

    def test_objects_keep_the_rules(self):
        for overlay in OVERLAYS:
            with self.subTest(overlay=overlay):
                self.assertEqual(find_faults(render(overlay), VERSION), [])

    def test_daemons_take_the_arguments_of_their_containers(self):
        for overlay in OVERLAYS:
            objects = render(overlay)
            for kind, name in (("StatefulSet", "coordinator"),
                               ("DaemonSet", "worker")):
                with self.subTest(overlay=overlay, daemon=name):
                    container = container_of(objects, kind, name)
                    subprocess.run(
                        [PROGRAMS / f"meshwright-{name}",
                         *arguments(container), "--print-config"], check=True,
                        stdout=subprocess.DEVNULL)

    def test_the_overlay_of_idle_workers_adds_to_the_base(self):
        objects = render_idle()
        self.assertEqual(find_faults(objects, VERSION), [])
        worker = find(objects, "DaemonSet", "worker")
        kubernetes_validate.validate(worker, VERSIONS[0], strict=True)
        pod = pod_template(worker)["spec"]
        self.assertEqual(pod["priorityClassName"], "idle")
        given = arguments(pod["containers"][0])
        self.assertIn("--while-idle", given)
        self.assertIn("--platform=cuda", given)
        subprocess.run([PROGRAMS / "meshwright-worker", *given,
                        "--print-config"], check=True,
                       stdout=subprocess.DEVNULL)

    def test_the_overlay_of_the_first_page_names_every_image(self):
        for thing in render_page(FIRST_PAGE):
            if thing["kind"] in ("StatefulSet", "DaemonSet"):
                for container in pod_template(thing)["spec"]["containers"]:
                    self.assertIn("registry.of.yours/", container["image"])

    def test_the_operators_pod_may_run_and_reaches_the_service(self):
        page = FIRST_PAGE.read_text()
        pod = yaml.safe_load(next(it for it in blocks.find_blocks(page)
                                  if it.file == "operator.yaml").text)
        for version in VERSIONS:
            kubernetes_validate.validate(pod, version, strict=True)
        objects = render("volume")
        service = find(objects, "Service", "meshwright")
        address = (f"{service['metadata']['name']}."
                   f"{service['metadata']['namespace']}.svc:"
                   f"{service['spec']['ports'][0]['port']}")
        container = pod["spec"]["containers"][0]
        self.assertIn({"name": "MESHWRIGHT_ADDRESS", "value": address},
                      container["env"])
        # A runner of `doctor` makes its folder there.
        folder = next(it["value"] for it in container["env"]
                      if it["name"] == "TMPDIR")
        self.assertIn({"name": "work", "mountPath": folder},
                      container["volumeMounts"])
        # Of its programs the lock is there, too: the root cannot be written.
        self.assertIn({"name": "MESHWRIGHT_LOCK_FOLDER", "value": folder},
                      container["env"])
        image = next(it.text for it in blocks.find_blocks(page)
                     if it.language == "dockerfile")
        for name in ("meshwright", "meshwright-runner",
                     "meshwright-plugin-cpu"):
            self.assertIn(f" {name}_*.deb ", image)
        its = container_of(objects, "StatefulSet", "coordinator")
        self.assertEqual(container["securityContext"], its["securityContext"])
        # The policies let in namespaces with this label alone.
        namespace = pod["metadata"]["namespace"]
        self.assertIn(f"kubectl label namespace {namespace} "
                      "meshwright/client=true", page)
        secret = pod["spec"]["volumes"][0]["secret"]["secretName"]
        self.assertIn(f"kubectl -n {namespace} create secret generic {secret} ",
                      page)
        # Drain, quarantine, verify, gc and backup ask for this role.
        self.assertIn("--role admin > operator.token\n", page)

    def test_the_pod_that_restores_may_run_and_has_the_store(self):
        page = blocks.find_blocks(FIRST_PAGE.read_text())
        pod = yaml.safe_load(
            next(it for it in page if it.file == "store.yaml").text)
        for version in VERSIONS:
            kubernetes_validate.validate(pod, version, strict=True)
        coordinator = find(render("volume"), "StatefulSet", "coordinator")
        own, its = pod["spec"], pod_template(coordinator)["spec"]
        for key in ("runAsNonRoot", "runAsUser", "runAsGroup", "fsGroup",
                    "seccompProfile"):
            self.assertEqual(own["securityContext"][key],
                             its["securityContext"][key])
        self.assertEqual(own["containers"][0]["securityContext"],
                         its["containers"][0]["securityContext"])
        claim = coordinator["spec"]["volumeClaimTemplates"][0]
        self.assertEqual(
            own["volumes"][0]["persistentVolumeClaim"]["claimName"],
            f"{claim['metadata']['name']}-coordinator-0")
        self.assertEqual(pod["metadata"]["namespace"],
                         coordinator["metadata"]["namespace"])

    def test_the_page_makes_the_claim_larger_that_no_apply_may_change(self):
        page = FIRST_PAGE.read_text()
        coordinator = find(render("volume"), "StatefulSet", "coordinator")
        (claim,) = coordinator["spec"]["volumeClaimTemplates"]
        name = coordinator["metadata"]["name"]
        block = next(it.text for it in blocks.find_blocks(page)
                     if "patch pvc" in it.text)
        self.assertIn(f"patch pvc {claim['metadata']['name']}-{name}-0 ", block)
        patch = yaml.safe_load(re.search(r"--patch '(.*)'", block)[1])
        self.assertEqual(patch["spec"]["resources"]["requests"].keys(),
                         claim["spec"]["resources"]["requests"].keys())
        self.assertIn(f"delete statefulset {name} --cascade=orphan", block)

    def test_the_page_waits_until_stopped_coordinators_are_gone(self):
        """They record while they drain, and new ones move their tables."""
        page = FIRST_PAGE.read_text()
        labels = pod_template(find(render("postgres"), "StatefulSet",
                                   "coordinator"))["metadata"]["labels"]
        lines = [line for block in blocks.find_blocks(page)
                 for line in block.text.splitlines()]
        stops = [i for i, line in enumerate(lines) if "--replicas=0" in line]
        self.assertEqual(len(stops), page.count("--replicas=0"))
        self.assertGreaterEqual(len(stops), 3)
        for i in stops:
            self.assertTrue(lines[i].endswith(" &&"))
            self.assertIn(" wait --for=delete pod", lines[i + 1])
            selector = re.search(r"--selector=(\S+)=(\S+)", lines[i + 1])
            if selector:
                self.assertEqual(labels[selector[1]], selector[2])

    def test_overlays_differ_where_they_should(self):
        volume, postgres = render("volume"), render("postgres")
        one = find(volume, "StatefulSet", "coordinator")["spec"]
        several = find(postgres, "StatefulSet", "coordinator")["spec"]
        self.assertEqual((one["replicas"], several["replicas"]), (1, 3))
        self.assertEqual(len(one["volumeClaimTemplates"]), 1)
        self.assertNotIn("volumeClaimTemplates", several)
        self.assertIn("--store=postgres://user@host/database", arguments(
            several["template"]["spec"]["containers"][0]))
        worker = container_of(postgres, "DaemonSet", "worker")
        self.assertIn("--platform=cuda", arguments(worker))
        self.assertIn("nvidia.com/gpu", worker["resources"]["limits"])


# Where a fault is put into the overlay "postgres", and what is said of it.
def _set(place: dict, key: str, value: object) -> None:
    place[key] = value


def _container(objects: list[dict]) -> dict:
    return container_of(objects, "DaemonSet", "worker")


def _pod(objects: list[dict]) -> dict:
    return pod_template(find(objects, "DaemonSet", "worker"))["spec"]


def _drop_variable(container: dict, name: str) -> None:
    container["env"] = [it for it in container["env"] if it["name"] != name]


FAULTS = {
    "is not that of": lambda o: _set(
        _container(o), "image", "registry.example/worker:latest"),
    "names no registry": lambda o: _set(_container(o), "image", "worker:0.1.0"),
    "may run as root": lambda o: _pod(o)["securityContext"].pop("runAsNonRoot"),
    "is not lent|are not lent": lambda o: _pod(o)["securityContext"].pop(
        "fsGroup"),
    "no seccomp profile": lambda o: _pod(o)["securityContext"].pop(
        "seccompProfile"),
    "root file system": lambda o: _container(o)["securityContext"].pop(
        "readOnlyRootFilesystem"),
    "gain privileges": lambda o: _container(o)["securityContext"].pop(
        "allowPrivilegeEscalation"),
    "keeps capabilities": lambda o: _container(o)["securityContext"].pop(
        "capabilities"),
    "is privileged": lambda o: _set(
        _container(o)["securityContext"], "privileged", True),
    "no limits of memory": lambda o: _container(o)["resources"]["limits"].pop(
        "memory"),
    "no requests of cpu": lambda o: _container(o)["resources"]["requests"].pop(
        "cpu"),
    "no startupProbe": lambda o: _container(o).pop("startupProbe"),
    "no livenessProbe": lambda o: _set(
        _container(o), "livenessProbe", {"exec": {"command": ["true"]}}),
    "asks a port": lambda o: _container(o)["readinessProbe"]["grpc"].update(
        port=1),
    "token for the API server": lambda o: _pod(o).pop(
        "automountServiceAccountToken"),
    "hostNetwork": lambda o: _set(_pod(o), "hostNetwork", True),
    "init containers": lambda o: _set(_pod(o), "initContainers", [{}]),
    "path of the node": lambda o: _set(
        _pod(o)["volumes"][0], "hostPath", {"path": "/"}),
    "has no limit": lambda o: _pod(o)["volumes"][0]["emptyDir"].pop(
        "sizeLimit"),
    "outgrows /tmp": lambda o: _drop_variable(
        container_of(o, "StatefulSet", "coordinator"), "TMPDIR"),
    "readable for others": lambda o: _pod(o)["volumes"][-1]["secret"].pop(
        "defaultMode"),
    "mounted and not there": lambda o: _pod(o)["volumes"].pop(),
    "is not mounted": lambda o: _container(o)["volumeMounts"].pop(),
    "is on no volume": lambda o: _container(o)["args"].append(
        "--ca=/etc/ca.crt"),
    "that it does not have": lambda o: _container(o)["args"].append(
        "--name=$(NOBODY)"),
    "killed while it drains": lambda o: _container(o)["args"].append(
        "--drain-seconds=80") or _container(o)["args"].remove(
            "--drain-seconds=60"),
    "no name of this namespace": lambda o: _container(o)["args"].append(
        "--coordinator=coordinator.meshwright.svc:7433"),
    "in no namespace": lambda o: find(o, "DaemonSet", "worker")[
        "metadata"].pop("namespace"),
    "no policy keeps out": lambda o: o.remove(
        find(o, "NetworkPolicy", "default-deny")),
    "selects no pod": lambda o: find(o, "Service", "meshwright")["spec"][
        "selector"].update(role="none"),
    "have no port": lambda o: find(o, "PodMonitor", "coordinator")["spec"][
        "podMetricsEndpoints"][0].update(port="figures"),
    "its job is not": lambda o: find(o, "PodMonitor", "coordinator")[
        "spec"].pop("jobLabel"),
    "no rule knows": lambda o: o.append(
        {"kind": "Secret", "metadata": {"name": "s"}}),
}


class RulesTest(unittest.TestCase):
    def test_each_fault_is_found(self):
        sound = render("postgres")
        for words, put in FAULTS.items():
            with self.subTest(words):
                objects = copy.deepcopy(sound)
                put(objects)
                self.assertRegex("\n".join(find_faults(objects, VERSION)),
                                 words)


if __name__ == "__main__":
    PROGRAMS = pathlib.Path(sys.argv.pop(1))
    unittest.main()
