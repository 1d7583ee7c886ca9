"""The rules of this house for objects of Kubernetes, beside those of its API.

find_faults takes what an overlay renders, and says a sentence for each fault.
"""

from __future__ import annotations

import re
from typing import Any, Iterator

NAMESPACE = "meshwright"
# A pod ends by itself before the kubelet kills it.
SPARE_SECONDS = 15
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
VARIABLE = re.compile(r"\$\(([A-Z_]+)\)")


def pod_template(thing: dict) -> dict | None:
    return thing["spec"].get("template") if "spec" in thing else None


def title(thing: dict) -> str:
    return f"{thing['kind']} {thing['metadata']['name']}"


def drain_seconds(container: dict) -> float:
    for argument in container.get("args", ()):
        if argument.startswith("--drain-seconds="):
            return float(argument.split("=", 1)[1])
    return 0


def environment(container: dict, pod: str = "pod-0") -> dict[str, str]:
    """As the kubelet sees it: a variable may name those before it."""
    values: dict[str, str] = {}
    fields = {"metadata.name": pod, "metadata.namespace": NAMESPACE,
              "spec.nodeName": "node-1"}
    for entry in container.get("env", ()):
        source = entry.get("valueFrom", {})
        if "fieldRef" in source:
            value = fields[source["fieldRef"]["fieldPath"]]
        elif "secretKeyRef" in source:
            value = source["secretKeyRef"]["key"]
        else:
            value = VARIABLE.sub(
                lambda found: values.get(found[1], found[0]), entry["value"])
        values[entry["name"]] = value
    return values


def arguments(container: dict, pod: str = "pod-0") -> list[str]:
    values = environment(container, pod)
    return [VARIABLE.sub(lambda found: values.get(found[1], found[0]), it)
            for it in container.get("args", ())]


def _image_faults(container: dict, version: str) -> Iterator[str]:
    name, _, tag = container["image"].partition(":")
    if "/" not in name:
        yield f"its image {container['image']} names no registry"
    if tag != version:
        yield f"its image {container['image']} is not that of {version}"


def _container_faults(container: dict, pod: dict) -> Iterator[str]:
    security = container.get("securityContext", {})
    if security.get("allowPrivilegeEscalation") is not False:
        yield "it may gain privileges"
    if security.get("readOnlyRootFilesystem") is not True:
        yield "its root file system is writable"
    if security.get("capabilities") != {"drop": ["ALL"]}:
        yield "it keeps capabilities"
    if security.get("privileged"):
        yield "it is privileged"
    resources = container.get("resources", {})
    for kind in ("requests", "limits"):
        for what in ("cpu", "memory"):
            if what not in resources.get(kind, {}):
                yield f"it has no {kind} of {what}"
    ports = {it["containerPort"] for it in container.get("ports", ())}
    for probe in PROBES:
        port = container.get(probe, {}).get("grpc", {}).get("port")
        if port is None:
            yield f"it has no {probe} of gRPC"
        elif port not in ports:
            yield f"its {probe} asks a port that it does not have"
    mounts = {it["mountPath"]: it for it in container.get("volumeMounts", ())}
    for argument in arguments(container):
        if VARIABLE.search(argument):
            yield f"{argument} names a variable that it does not have"
        path = argument.partition("=")[2]
        if not path.startswith("/"):
            continue
        place = next((it for it in mounts if path.startswith(it + "/")), None)
        if place is None:
            yield f"{argument} is on no volume"
        elif argument.startswith("--store=") and mounts[place].get("readOnly"):
            yield f"{argument} is read-only"
    spare = pod.get("terminationGracePeriodSeconds", 30)
    if spare < drain_seconds(container) + SPARE_SECONDS:
        yield "it is killed while it drains"


def _backup_faults(container: dict, pod: dict) -> Iterator[str]:
    """A backup is a copy of the store in TMPDIR. An emptyDir that outgrows its
    limit ends the pod."""
    if not any(it.startswith("--store=") for it in container.get("args", ())):
        return
    folder = environment(container).get("TMPDIR", "/tmp")
    mounted = {mount["name"] for mount in container.get("volumeMounts", ())
               if f"{folder}/".startswith(mount["mountPath"] + "/")}
    if not mounted:
        yield f"its TMPDIR {folder} is on no volume"
    for volume in pod.get("volumes", ()):
        if volume["name"] in mounted and "emptyDir" in volume:
            yield f"a backup of its store outgrows {folder}"


def _volume_faults(thing: dict, pod: dict) -> Iterator[str]:
    volumes = {it["name"]: it for it in pod.get("volumes", ())}
    claims = {it["metadata"]["name"]
              for it in thing["spec"].get("volumeClaimTemplates", ())}
    mounted = {mount["name"] for container in pod["containers"]
               for mount in container.get("volumeMounts", ())}
    for name in sorted(mounted - set(volumes) - claims):
        yield f"the volume {name} is mounted and not there"
    for name in sorted((set(volumes) | claims) - mounted):
        yield f"the volume {name} is not mounted"
    for name, volume in volumes.items():
        if "hostPath" in volume:
            yield f"the volume {name} is a path of the node"
        if "emptyDir" in volume and "sizeLimit" not in volume["emptyDir"]:
            yield f"the volume {name} has no limit"
        if "secret" in volume and volume["secret"].get("defaultMode") != 0o400:
            yield f"the secret {name} is readable for others"


def _pod_faults(thing: dict, version: str,
                accounts: dict[str, dict]) -> Iterator[str]:
    pod = pod_template(thing)["spec"]
    account = accounts.get(pod.get("serviceAccountName", ""), {})
    for place in (pod, account):
        if place.get("automountServiceAccountToken") is not False:
            yield "it has a token for the API server"
    for key in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(key):
            yield f"it has {key}"
    security = pod.get("securityContext", {})
    if not security.get("runAsNonRoot") or not security.get("runAsUser"):
        yield "it may run as root"
    if security.get("fsGroup") != security.get("runAsGroup"):
        yield "secrets are not lent to its group"
    if security.get("seccompProfile") != {"type": "RuntimeDefault"}:
        yield "it has no seccomp profile"
    if pod.get("initContainers"):
        yield "nothing looks at its init containers"
    yield from _volume_faults(thing, pod)
    for container in pod["containers"]:
        yield from _image_faults(container, version)
        yield from _container_faults(container, pod)
        yield from _backup_faults(container, pod)


class Pods:
    """The templates of all pods, to be selected by labels."""

    def __init__(self, objects: list[dict]):
        self.templates = [it for it in map(pod_template, objects) if it]

    def select(self, labels: dict[str, str]) -> list[dict]:
        return [it for it in self.templates
                if labels.items() <= it["metadata"]["labels"].items()]

    def lacks(self, labels: dict[str, str], port: Any) -> str:
        """Why nothing answers there; empty: it does. port None: any."""
        pods = self.select(labels)
        if not pods:
            return f"it selects no pod: {labels}"
        for pod in pods:
            ports = [it for container in pod["spec"]["containers"]
                     for it in container.get("ports", ())]
            if port is not None and not any(
                    port in (it["name"], it["containerPort"]) for it in ports):
                return f"its pods have no port {port}"
        return ""


def _service_faults(thing: dict, pods: Pods) -> Iterator[str]:
    for port in thing["spec"]["ports"]:
        yield pods.lacks(thing["spec"]["selector"], port["targetPort"])


def _policy_faults(thing: dict, pods: Pods) -> Iterator[str]:
    spec = thing["spec"]
    own = spec["podSelector"].get("matchLabels", {})
    yield pods.lacks(own, None)
    for rule in spec.get("ingress", ()):
        for port in rule.get("ports", ()):
            yield pods.lacks(own, port["port"])
    rules = [(it, "from") for it in spec.get("ingress", ())]
    rules += [(it, "to") for it in spec.get("egress", ())]
    for rule, side in rules:
        for peer in rule.get(side, ()):
            if "namespaceSelector" in peer:
                continue  # pods of somebody else
            there = peer["podSelector"]["matchLabels"]
            yield pods.lacks(there, None)
            for port in rule.get("ports", ()) if side == "to" else ():
                yield pods.lacks(there, port["port"])


def _monitor_faults(thing: dict, pods: Pods) -> Iterator[str]:
    labels = thing["spec"]["selector"]["matchLabels"]
    for endpoint in thing["spec"]["podMetricsEndpoints"]:
        yield pods.lacks(labels, endpoint["port"])
    # The alert rules ask for this job.
    name = thing["spec"].get("jobLabel")
    for pod in pods.select(labels):
        if pod["metadata"]["labels"].get(name) != "meshwright":
            yield "its job is not meshwright"


def _address_faults(thing: dict, objects: list[dict]) -> Iterator[str]:
    """Names that the daemons are given are names of services here."""
    services = {it["metadata"]["name"] for it in objects
                if it["kind"] == "Service"}
    name = thing["metadata"]["name"]
    for container in pod_template(thing)["spec"]["containers"]:
        for argument in arguments(container, f"{name}-0"):
            flag, _, value = argument.partition("=")
            known = {f"{it}.{NAMESPACE}.svc:7433" for it in services}
            if flag == "--advertise":
                known = {f"{name}-0.{it}" for it in known
                         if it.startswith(thing["spec"]["serviceName"] + ".")}
            if flag in ("--advertise", "--coordinator") and value not in known:
                yield f"{argument} is no name of this namespace"


def find_faults(objects: list[dict], version: str) -> list[str]:
    pods = Pods(objects)
    accounts = {it["metadata"]["name"]: it for it in objects
                if it["kind"] == "ServiceAccount"}
    faults = []
    if not any(it["kind"] == "NetworkPolicy" and it["spec"]["podSelector"] == {}
               and set(it["spec"]["policyTypes"]) == {"Ingress", "Egress"}
               and "ingress" not in it["spec"] and "egress" not in it["spec"]
               for it in objects):
        faults.append("no policy keeps out what no other one lets in")
    for thing in objects:
        found: list[str] = []
        kind = thing["kind"]
        if kind != "Namespace" and thing["metadata"].get(
                "namespace") != NAMESPACE:
            found.append("it is in no namespace, or in another one")
        if pod_template(thing):
            found += _pod_faults(thing, version, accounts)
            found += _address_faults(thing, objects)
        elif kind == "Service":
            found += _service_faults(thing, pods)
        elif kind == "NetworkPolicy":
            found += _policy_faults(thing, pods)
        elif kind == "PodMonitor":
            found += _monitor_faults(thing, pods)
        elif kind == "PodDisruptionBudget":
            found.append(pods.lacks(
                thing["spec"]["selector"]["matchLabels"], None))
        elif kind not in ("Namespace", "ServiceAccount"):
            found.append("no rule knows its kind")
        faults += [f"{title(thing)}: {it}" for it in found if it]
    return faults
