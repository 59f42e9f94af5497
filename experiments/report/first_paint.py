"""How soon a browser shows reports: milliseconds to the first paint and until the page answers, and its size.

Beside them the processor's time of the page's thread, which does not depend on what else the machine does: to open it,
for the first search, and to open the tab of linked views.

python -m experiments.report.first_paint REPORT.html ...
"""

from __future__ import annotations

import shutil
import statistics
import sys
from pathlib import Path
from typing import Any

ROUNDS = 5
TIMES = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return [paint ? paint.startTime : NaN, page.domContentLoadedEventEnd];
}"""


def _measured(page: Any, address: str) -> list[float]:
    """Return the times of one visit, in milliseconds."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(1000 * metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    page.goto(address)
    page.wait_for_timeout(300)
    ends = [spent()]
    page.locator("#filter").fill("an unlikely word")
    page.locator("#found:not(:empty)").wait_for()
    page.wait_for_timeout(300)
    ends.append(spent())
    page.locator("[data-tab=explore]").click()
    page.locator("#chosen:not(:empty)").wait_for()
    page.wait_for_timeout(300)
    ends.append(spent())
    times = page.evaluate(TIMES)
    page.close()
    return [*times, ends[0], ends[1] - ends[0], ends[2] - ends[1]]


def main() -> None:
    """Print a table with the median of five rounds for each report."""
    from playwright.sync_api import sync_playwright

    print(
        "| report | MB | first paint, ms | answers after, ms | processor, ms: opening | first search | linked views |"
    )
    print("|---|---|---|---|---|---|---|")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in sys.argv[1:]:
            path = Path(name).resolve()
            rounds = [_measured(chromium.new_page(), path.as_uri()) for _ in range(ROUNDS)]
            times = " | ".join(f"{statistics.median(column):.0f}" for column in zip(*rounds, strict=True))
            print(f"| {name} | {path.stat().st_size / 1e6:.1f} | {times} |")
        chromium.close()


if __name__ == "__main__":
    main()
