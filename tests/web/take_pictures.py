"""Takes the pictures of README.md: take_pictures.py PROGRAMS PLAN STORE

PROGRAMS is a folder with meshwright, meshwright-coordinator and dashboard_store.
PLAN is a plan file, and STORE has its measurements. Writes report.png and
dashboard.png to docs/pictures; the plans of the dashboard are made up. Look at
both before they are committed.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import browser  # noqa: E402
import coordinator  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "docs/pictures"
REPORT = {"width": 1120, "height": 1112}
DASHBOARD = {"width": 1120, "height": 1330}
MAX_BYTES = 150_000


def main() -> int:
    programs, plan, store = (pathlib.Path(it).resolve() for it in sys.argv[1:])
    OUTPUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, \
            browser.open_browser() as page:
        folder = pathlib.Path(temporary)
        subprocess.run([programs / "meshwright", "report", plan, "--store",
                        store, "-o", folder / "plan.html"], check=True)
        page.show((folder / "plan.html").as_uri(), **REPORT)
        page.save_picture(OUTPUT / "report.png", whole=False)
        with coordinator.start(programs, folder, plans=60, rows=2000) as served:
            served.submit_waiting(3, owner="ci")
            page.show(served.url, **DASHBOARD)
            page.await_true("document.documentElement.dataset.charted")
            page.save_picture(OUTPUT / "dashboard.png", whole=False)
    sizes = {it.name: it.stat().st_size for it in OUTPUT.glob("*.png")}
    print(sizes)
    return int(any(size > MAX_BYTES for size in sizes.values()))


if __name__ == "__main__":
    sys.exit(main())
