"""The picture of the report in the README: the map of the newsroom sample with the documents that have one term chosen.

python -m experiments.report.picture
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from doccluster.pipeline.main_line import run_pipeline
from doccluster.report import write_report

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "images" / "report.png"
STATE = "#explore?term=Tessen"


def main() -> None:
    """Write docs/images/report.png with the Chromium of this machine."""
    from playwright.sync_api import sync_playwright

    source = ROOT / "corpora" / "samples" / "newsroom" / "articles.jsonl"
    run = run_pipeline(str(source), n_clusters=32, truth="story", random_state=7, vectorizer={"stemming": "english"})
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = write_report(run, Path(folder) / "report.html")
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1180, "height": 760}, color_scheme="light")
        page.goto(page_file.as_uri() + STATE)
        page.locator("#chosen:not(:empty)").wait_for()
        page.locator(".tabs").evaluate("bar => scrollTo(0, bar.offsetTop)")
        page.wait_for_timeout(500)
        page.screenshot(path=PICTURE)
        chromium.close()
    print(PICTURE.relative_to(ROOT), f"{PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
