"""How soon a browser shows reports: milliseconds to the first paint and until the page answers, and its size.

python -m experiments.report.first_paint REPORT.html ...
"""

from __future__ import annotations

import shutil
import statistics
import sys
from pathlib import Path

ROUNDS = 5
TIMES = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return [paint ? paint.startTime : NaN, page.domContentLoadedEventEnd];
}"""


def main() -> None:
    """Print a table with the median of five rounds for each report."""
    from playwright.sync_api import sync_playwright

    print("| report | MB | first paint, ms | answers after, ms |")
    print("|---|---|---|---|")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in sys.argv[1:]:
            path = Path(name).resolve()
            rounds = []
            for _ in range(ROUNDS):
                page = chromium.new_page()
                page.goto(path.as_uri())
                page.wait_for_timeout(300)
                rounds.append(page.evaluate(TIMES))
                page.close()
            paint, answers = (statistics.median(times) for times in zip(*rounds, strict=True))
            print(f"| {name} | {path.stat().st_size / 1e6:.1f} | {paint:.0f} | {answers:.0f} |")
        chromium.close()


if __name__ == "__main__":
    main()
