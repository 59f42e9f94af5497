"""One run of the command line for `run`, in a process that imports one version of doccluster and nothing else here."""

from __future__ import annotations

import contextlib
import io
import json
import pathlib
import resource
import sys
import tempfile
import time


def run_here(checkout: str, source: str, n_threads: int) -> None:
    """Print seconds, seconds of processors, those of the main thread, and the peak memory of a run with its report."""
    started = time.perf_counter()
    sys.path.insert(0, checkout)
    from threadpoolctl import threadpool_limits

    from doccluster.cli.main import main

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        output = pathlib.Path(folder) / "run"
        sys.argv = ["doccluster", "run", source, "--output", str(output), "--threads", str(n_threads)]
        with threadpool_limits(n_threads):
            try:
                main()
            except SystemExit as ended:
                if ended.code:
                    raise
        if not (output / "report.html").is_file():
            raise SystemExit("the run wrote no report")
    seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_SELF)
    processor_seconds = used.ru_utime + used.ru_stime
    figures = {
        "seconds": seconds,
        "processor_seconds": processor_seconds,
        "processor_seconds_of_main_thread": time.thread_time(),
        "processors_used": processor_seconds / seconds,
        "peak_bytes": used.ru_maxrss * 1024,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    run_here(**json.loads(sys.argv[1]))
