"""The map of a run: processor seconds, bytes in the page for 20,000 documents, and the purity it keeps.

python -m experiments.report.map RUN_DIR ...
"""

from __future__ import annotations

import sys
import time

from doccluster.report.explore import explore_data, shown_columns
from doccluster.report.page import as_json
from doccluster.report.plane import plane_of
from doccluster.results.run_folder import load_run


def measure(folder: str) -> str:
    """Return the cost of a run's map and the neighbours it keeps, as a line of a table."""
    run = load_run(folder)
    began = time.process_time()
    plane = plane_of(run)
    seconds = time.process_time() - began
    given = explore_data(run, plane, shown_columns(run))
    fields = ("map", "dates", "truths", "sizes", "labels", "medoids")
    size = sum(len(as_json(given[name])) for name in fields) * 20_000 / run.n_documents / 1000
    return (
        f"| {folder} | {run.n_documents:,} | {plane.method} | {seconds:.1f} | {size:.0f} "
        f"| {plane.judged_by or 'cluster'} | {100 * plane.purity:.1f} | {100 * plane.purity_before:.1f} "
        f"| {100 * plane.kept:.0f} |"
    )


def main() -> None:
    """Print the table of the runs in the folders named."""
    print("| run | documents | by | processor seconds | kB per 20,000 | judged by | map % | LSA 50 % | kept % |")
    print("|---|---|---|---|---|---|---|---|---|")
    for folder in sys.argv[1:]:
        print(measure(folder))


if __name__ == "__main__":
    main()
