"""How soon the dashboard of a coordinator with many plans is on the screen.

  tests/bench/dashboard.sh [--bin build/release/bin] [--plans 1000]
      [--rounds 7]

A store with ended plans and 10,000 rows, a coordinator on it, and some plans
that wait for a worker. Headless Chromium opens the page as a new visitor does,
its cache empty, and times from the start of the navigation: the first contentful
paint, and the frame after which plans, tasks and workers are on the screen. The
API's answers are timed alone.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/web"))

import browser  # noqa: E402
import coordinator  # noqa: E402

PAINTED_MS = 300
PATHS = ("/api/plans?size=25", "/api/plans?size=1000", "/api/tasks",
         "/api/workers", "/api/store", "/api/quality")
TIMES = """
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  const drawn = performance.getEntriesByName("drawn")[0];
  return [paint.startTime, drawn.startTime];
"""


def print_figure(what: str, wanted: str, got: str) -> None:
    print(f"figure\t{what}\t{wanted}\t{got}")


def time_answers(url: str) -> None:
    for path in PATHS:
        times = []
        for _ in range(20):
            began = time.perf_counter()
            with urllib.request.urlopen(url.rstrip("/") + path) as answer:
                size = len(answer.read())
            times.append(1e3 * (time.perf_counter() - began))
        print(f"{path:24} {statistics.median(times):7.2f} ms "
              f"{size / 1024:8.1f} KiB")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path,
                        default=ROOT / "build/release/bin")
    parser.add_argument("--plans", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, \
            coordinator.start(options.bin, pathlib.Path(folder),
                              plans=options.plans, rows=10000) as served:
        served.submit_waiting(8)
        time_answers(served.url)
        paints, draws = [], []
        with browser.open_browser() as page:
            for _ in range(options.rounds):
                page.forget()
                page.show(served.url)
                paint, drawn = page.ask(TIMES)
                paints.append(paint)
                draws.append(drawn)
                print(f"first paint {paint:.0f} ms, figures {drawn:.0f} ms")
    what = f"dashboard with {options.plans:,} plans"
    wanted = f"≤ {PAINTED_MS} ms"
    print_figure(f"{what}: first paint", wanted,
                 f"{statistics.median(paints):.0f} ms")
    print_figure(f"{what}: figures on the screen", wanted,
                 f"{statistics.median(draws):.0f} ms")


if __name__ == "__main__":
    main()
