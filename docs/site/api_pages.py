"""The reference of the API, from proto/v1 and its comments."""

from __future__ import annotations

import pathlib
import subprocess

from google.protobuf import descriptor_pb2

Field = descriptor_pb2.FieldDescriptorProto
SCALARS = {
    Field.TYPE_DOUBLE: "double", Field.TYPE_FLOAT: "float",
    Field.TYPE_INT32: "int32", Field.TYPE_INT64: "int64",
    Field.TYPE_UINT32: "uint32", Field.TYPE_UINT64: "uint64",
    Field.TYPE_FIXED64: "fixed64", Field.TYPE_BOOL: "bool",
    Field.TYPE_STRING: "string", Field.TYPE_BYTES: "bytes",
}
# Numbers of fields in descriptor.proto, of which paths are made.
MESSAGES, ENUMS, SERVICES = 4, 5, 6
FIELDS, NESTED, NESTED_ENUMS, VALUES, METHODS = 2, 3, 4, 2, 2


def escape(text: str) -> str:
    """No character is Markdown's, but for the code that a comment quotes."""
    parts = " ".join(text.split()).replace("\\", "\\\\").split("`")
    for i in range(0, len(parts), 2 if len(parts) % 2 else 1):
        for mark in "*_<[":
            parts[i] = parts[i].replace(mark, "\\" + mark)
    mark = "`" if len(parts) % 2 else "\\`"
    return mark.join(parts).replace("|", "\\|")


class Page:
    """One file of proto/v1, as Markdown."""

    def __init__(self, file):
        self.comments = {
            tuple(it.path): " ".join(
                (it.leading_comments + " " + it.trailing_comments).split())
            for it in file.source_code_info.location}
        name = pathlib.PurePath(file.name).name
        self.lines = [f"# {name}", "", self.about((12,)), ""]
        for i, it in enumerate(file.service):
            self.add_service(it, (SERVICES, i))
        for i, it in enumerate(file.message_type):
            self.add_message(it, (MESSAGES, i), "")
        for i, it in enumerate(file.enum_type):
            self.add_enum(it, (ENUMS, i), "")

    def about(self, path: tuple[int, ...]) -> str:
        return escape(self.comments.get(path, ""))

    def add_table(self, titles: list[str], rows: list[list[str]]) -> None:
        for row in (titles, ["---"] * len(titles), *rows):
            self.lines.append("| " + " | ".join(row) + " |")
        self.lines.append("")

    def head(self, kind: str, name: str, path: tuple[int, ...]) -> None:
        self.lines += [f"## {kind} {name}", ""]
        if about := self.about(path):
            self.lines += [about, ""]

    def add_service(self, service, path) -> None:
        self.head("Service", service.name, path)
        self.add_table(["call", "request", "answer", "meaning"], [
            [f"`{it.name}`",
             self.stream(it.client_streaming) + type_name(it.input_type),
             self.stream(it.server_streaming) + type_name(it.output_type),
             self.about((*path, METHODS, i))]
            for i, it in enumerate(service.method)])

    def stream(self, streams: bool) -> str:
        return "stream of " if streams else ""

    def add_message(self, message, path, outer: str) -> None:
        name = outer + message.name
        if message.options.map_entry:
            return
        self.head("Message", name, path)
        maps = {it.name: it for it in message.nested_type
                if it.options.map_entry}
        if message.field:
            self.add_table(["field", "type", "meaning"], [
                [f"`{it.name}`", field_type(it, maps),
                 self.about((*path, FIELDS, i))]
                for i, it in enumerate(message.field)])
        for i, it in enumerate(message.nested_type):
            self.add_message(it, (*path, NESTED, i), name + ".")
        for i, it in enumerate(message.enum_type):
            self.add_enum(it, (*path, NESTED_ENUMS, i), name + ".")

    def add_enum(self, enum, path, outer: str) -> None:
        self.head("Enumeration", outer + enum.name, path)
        self.add_table(["value", "number", "meaning"], [
            [f"`{it.name}`", str(it.number), self.about((*path, VALUES, i))]
            for i, it in enumerate(enum.value)])


def type_name(full: str) -> str:
    return f"`{full.removeprefix('.meshwright.v1.').removeprefix('.')}`"


def field_type(field, maps) -> str:
    if entry := maps.get(field.type_name.rpartition(".")[2]):
        key, value = (field_type(it, {}) for it in entry.field)
        return f"map from {key} to {value}"
    text = SCALARS.get(field.type) or type_name(field.type_name)
    if field.label == Field.LABEL_REPEATED:
        return f"list of {text}"
    return f"optional {text}" if field.proto3_optional else text


def make(root: pathlib.Path, temporary: pathlib.Path) -> dict[str, str]:
    """Pages by the names of their files, without `.proto`."""
    described = temporary / "v1.pb"
    files = sorted((root / "proto" / "v1").glob("*.proto"))
    subprocess.run(
        ["protoc", f"-I{root}", "--include_source_info",
         f"--descriptor_set_out={described}", *files], check=True)
    found = descriptor_pb2.FileDescriptorSet.FromString(described.read_bytes())
    return {pathlib.PurePath(it.name).stem: "\n".join(Page(it).lines)
            for it in found.file}
