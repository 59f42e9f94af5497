"""What all tests share: where the real corpora and reference values lie if they are beside the checkout, a browser."""

from __future__ import annotations

import gc
import os
import pathlib
import random
import secrets
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec

import pytest
from hypothesis import settings

from tests.copied_process import Copies

# Tests run side by side: threads of BLAS and OpenMP wait for each other in busy loops, which costs four times the work.
# Our own threads are Python's and stay. Set before numpy is loaded, and for the processes that tests start.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Workers are told how wide the terminal is; what commands print is looked at as it is written into a file.
os.environ.pop("COLUMNS", None)

# How long an example takes is no matter of the tests; a busy machine takes longer. The same examples need not be many:
# what the first twenty-five do not find, fresh ones do, of which each run has its own hundred.
settings.register_profile("fixed", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("fresh", deadline=None)


def examples(n: int) -> int:
    """Return how many of `n` examples a test looks at: as large a part as of the hundred of others."""
    return n * settings.default.max_examples // 100


def pytest_addoption(parser):
    """Add the option for random order and fresh examples; without it a run is the same each time."""
    parser.addoption("--seed", help="of random order, examples and damaged inputs: a number, or `fresh` to draw one")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Draw the seed, once for all workers, and hand it to what draws."""
    if hasattr(config, "workerinput"):
        config.option.seed = config.workerinput["seed"]
    elif config.option.seed == "fresh":
        config.option.seed = str(secrets.randbelow(2**32))
    settings.load_profile("fixed" if config.option.seed is None else "fresh")
    if config.option.seed is not None:
        config.option.hypothesis_seed = config.option.seed


# what most tests would have to compile first: a run, and a store
COMPILED = """
import doccluster
from doccluster.streams import StoryStream
few = doccluster.load_sample()[:60]
doccluster.run(few)
doccluster.run(few, n_clusters=4)
with StoryStream() as stream:
    stream.replay(few)
"""


def pytest_sessionstart(session):
    """Compile before there are workers, each of which would compile the same."""
    if getattr(session.config.option, "numprocesses", None) and not hasattr(session.config, "workerinput"):
        subprocess.run([sys.executable, "-c", COMPILED], cwd=ROOT, check=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Return as many processes as there are processors: each more collects all tests and loads all code once more."""
    return os.cpu_count() or 1


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Hand the seed to a worker."""
    node.workerinput["seed"] = node.config.option.seed


def pytest_report_header(config):
    """Say how to run the same again."""
    return None if config.option.seed is None else f"run again with: --seed {config.option.seed}"


def pytest_terminal_summary(terminalreporter, config):
    """Say it at the end too, where a failure is read."""
    if config.option.seed is not None:
        terminalreporter.write_line(pytest_report_header(config))


def pytest_collection_modifyitems(config, items):
    """Shuffle the files, and the tests of each, so that what a file sets up is still set up once."""
    if config.option.seed is None:
        return
    draw = random.Random(int(config.option.seed))
    files = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    for tests in files.values():
        draw.shuffle(tests)
    order = list(files.values())
    draw.shuffle(order)
    items[:] = [item for tests in order for item in tests]


def pytest_collection_finish():
    """Leave what is loaded by now out of each search for garbage, which would look at a million objects again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def seed(pytestconfig):
    """The seed of what a test draws: the same in each run that has no `--seed`."""
    return int(pytestconfig.option.seed or 1)


def stable_id(value: object) -> str:
    """Return the id of a test case that is the same in every process: no addresses, and no sets in their own order."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {stable_id(item)}" for key, item in value.items()) + "}"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(repr, value))) + "}"
    return getattr(value, "__name__", str(value))


ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def real_corpora() -> pathlib.Path:
    """The folder of real corpora; tests that use it are skipped where it is absent."""
    folder = SHARED / "corpora"
    if not folder.is_dir():
        pytest.skip("the real corpora are not beside this checkout (../shared/corpora)")
    return folder


@pytest.fixture(scope="session")
def oracle() -> pathlib.Path:
    """The folder of reference values: numbers found by enumerating every pair, matching and permutation."""
    return ROOT / "tests" / "golden" / "reference"


@pytest.fixture(scope="session")
def copies():
    """Runs programs in copies of a process that has loaded everything."""
    made = Copies()
    yield made
    made.end()


WORTH_A_THREAD = (  # how much work threads are started for, and the rows that one of them takes at a time
    ("clustering.k_means.unit_documents.SERIAL_WORK", 0),
    ("clustering.k_means.unit_documents.BLOCK_ROWS", 32),
    ("clustering.k_means.seeds.WORTH_A_THREAD", 0),
    ("clustering.mixtures._vmf_steps.SERIAL_WORK", 0),
    ("geometry.projection.BLOCK_ROWS", 64),
)


@pytest.fixture
def starts_threads(request, monkeypatch):
    """Give small work to threads too, and hold a test that threads change nothing to starting some."""
    for name, value in WORTH_A_THREAD:
        monkeypatch.setattr(f"doccluster.{name}", value)
    given_away = []
    submit = ThreadPoolExecutor.submit

    def counted(pool, *work, **named):
        given_away.append(work)
        return submit(pool, *work, **named)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", counted)
    yield
    asked = getattr(request.node, "callspec", None)
    is_alone = asked is not None and asked.params.get("n_threads") == 1
    assert given_away or is_alone, "all was done in the calling thread"


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def open_browser():
    """Give a headless Chromium of the machine, or skip the test where there is none."""
    if CHROMIUM is None or find_spec("playwright") is None:
        missing = "no Chromium on this machine (apt-get install chromium), or no Playwright for Python"
        (pytest.fail if os.environ.get("NEEDS_BROWSER") else pytest.skip)(f"there is {missing}")
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")  # while it is open no other event loop can run in this thread
def browser():
    """A headless Chromium of the machine."""
    with open_browser() as chromium:
        yield chromium


@pytest.fixture
def visit(browser):
    """Return a function that opens a file in a fresh window; `page.asked` and `page.complaints` record what it does."""
    contexts = []

    def open_file(path, *, script=True, width=1280, **options):
        context = browser.new_context(
            java_script_enabled=script, viewport={"width": width, "height": 900}, reduced_motion="reduce", **options
        )
        contexts.append(context)
        page = context.new_page()
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()
