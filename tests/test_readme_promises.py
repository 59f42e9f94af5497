"""What the README and the page of promises say, sentence by sentence, and the tests that hold each."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from doccluster.clustering.algorithms import ALGORITHMS
from tests.conftest import ROOT

HERE = "test_readme_promises.py"
PROMISES: dict[str, tuple[str, ...]] = {
    "Cluster text documents, and say how good the clustering is: sparse, exact, in bounded memory.": (
        "clustering/test_exact_labels.py::test_every_iteration_equals_the_naive_definition",
        "clustering/test_memory.py::test_a_fit_keeps_within_max_memory",
    ),
    "Point it at a folder, a table, feeds, mail, office documents or a ready matrix.": (
        "corpus/test_robustness.py::test_a_folder_with_everything_in_it_is_read",
        "corpus/test_office_files.py::test_the_text_of_a_document_its_title_and_its_date",
        "cli/test_run_command.py::test_a_ready_matrix_runs_like_texts_do",
    ),
    "It reads what is there, makes tf-idf vectors, clusters them, names and explains the clusters, judges them by the "
    "published measures, and writes tables, a model and one self-contained report.": (
        "cli/test_run_command.py::test_run_writes_every_promised_file_and_nothing_else",
        "test_readme.py::test_the_demo_prints_what_the_readme_shows",
    ),
    "No data leaves your machine; only addresses you name are contacted (what it promises).": (
        "cli/test_promises.py::test_a_run_writes_its_output_and_nothing_else",
        "cli/test_screens.py::test_every_screen_is_the_one_that_is_kept_and_no_verb_opens_a_connection",
    ),
    "Spherical k-means gives the labels of a naive Lloyd with float64 arithmetic, lowest index on ties.": (
        "clustering/test_exact_labels.py::test_every_iteration_equals_the_naive_definition",
        "clustering/test_exact_labels.py::test_real_matrices_equal_the_naive_definition_at_every_iteration",
    ),
    "The same seed gives the same labels for any number of threads, whatever the algorithm.": (
        "test_every_algorithm.py::test_labels_do_not_depend_on_the_number_of_threads",  # with threads that were started
    ),
    "The default smooths documents over those most like them and then refines the clusters by the counts of their "
    "terms, which agrees more with human classes.": (
        "test_quality.py::test_smoothing_finds_more_of_the_stories_than_the_plain_algorithm",
        "test_quality.py::test_left_out_the_quality_is_the_default_and_the_record_names_its_algorithm",
    ),
    "Nothing of size n x n and no dense copy of the matrix, with one exception: `agglomerative` keeps the distances of "
    "all pairs, n(n-1)/2 numbers.": (f"{HERE}::test_only_agglomeration_holds_something_for_every_pair",),
    "`--max-memory 2G` is planned beforehand and kept by `spherical-k-means`, both qualities (`settled`, "
    "`smoothed`), `criterion-functions` and `agglomerative`.": (
        f"{HERE}::test_the_algorithms_that_take_a_limit_of_memory_are_those_of_the_readme",
        "clustering/test_memory.py::test_a_fit_keeps_within_max_memory",
        "test_quality.py::test_smoothing_keeps_to_the_memory_it_is_given_or_says_what_it_needs",
        "clustering/test_memory.py::test_too_little_is_refused_with_the_smallest_value_that_would_do",
    ),
    "The other algorithms refuse the option.": (
        "test_every_algorithm.py::test_what_an_algorithm_has_not_is_refused_in_a_sentence",
        f"{HERE}::test_the_algorithms_that_take_a_limit_of_memory_are_those_of_the_readme",
    ),
    "The papers' and the peers' external, internal and intrinsic measures, exact on sparse matrices; undefined is "
    "`nan` with a reason.": (
        "test_measures_contract.py::test_measure_has_an_oracle_a_citation_and_a_line_of_documentation",
        "measures/test_internal_against_oracle.py::test_small_cases",
    ),
    "See the reference and the errata of the papers.": ("test_readme.py::test_every_link_leads_somewhere",),
    "Broken files, wrong encodings and empty documents are counted and listed with the reason.": (
        "corpus/test_hostile_input.py::test_whatever_a_reader_raises_is_a_listed_reason_and_what_it_gave_before_is_kept",
        "corpus/test_folders_and_text.py::test_an_encoding_that_is_named_is_used_and_what_it_cannot_read_is_listed",
        "corpus/test_folders_and_text.py::test_what_is_empty_binary_hidden_or_beside_the_point_is_listed_and_the_rest_read",
    ),
    "What could break the library that reads it, or unpack to gigabytes (feeds, office documents, PDF, Parquet, "
    "models, queries), is read in a process with limits.": (
        "corpus/test_costly_files.py::test_a_file_that_needs_too_much_is_refused_with_the_option_that_allows_more",
        "corpus/test_costly_files.py::test_the_memory_that_such_files_take_is_bounded",
        "test_encoders.py::test_a_model_that_harms_what_reads_it_is_refused_in_a_sentence",
        "streams/test_polling.py::test_a_parser_that_hangs_or_dies_is_ended_and_the_next_feed_is_read",
    ),
    "No network but what you name: `stream poll` asks the addresses in your list and where they redirect to, a "
    "source behind an address such as `s3://` is read there, `--scheduler` talks to the workers it names, "
    "`--allow-download` fetches the model that `--encoder` names, `label --with-server` asks the server that you name "
    "(one of another machine only with `--send-texts-to`), and `browse --serve` listens on the loopback address "
    "alone.": (
        "cli/test_screens.py::test_every_screen_is_the_one_that_is_kept_and_no_verb_opens_a_connection",
        "corpus/test_addresses.py::test_a_folder_behind_an_address_is_read_as_one_of_this_machine",
        "distributed/test_dask_workers.py::test_an_address_where_nothing_answers_is_told_in_a_sentence",
        "test_encoders.py::test_a_model_is_downloaded_where_that_is_allowed_and_then_found_without_a_network",
        "cli/test_label_by_model.py::test_what_cannot_be_meant_is_refused_before_anything_is_asked",
        "cli/test_browse_server.py::test_only_the_loopback_address_is_listened_on",
    ),
    "What a run folder names is read from this machine alone, and said before it is read.": (
        "test_records_of_strangers.py::test_no_verb_opens_what_a_record_names_elsewhere",
        "test_records_of_strangers.py::test_local_files_that_a_record_names_are_said_before_they_are_read",
    ),
    "No file that doccluster writes or reads is a pickle.": (
        "cli/test_run_command.py::test_model_holds_no_pickle_and_names_its_schema",
        "cli/test_bad_input.py::test_a_pickle_in_place_of_an_array_is_never_loaded",
        "test_architecture.py::test_modules_keep_the_rules_of_the_house",
    ),
    "Three libraries use them: numba for compiled code, which is loaded only from a folder that no other user can "
    "write to, Dask for messages to workers, and joblib for what a run and its own worker processes say to each other "
    "through pipes.": (
        "base/compiled/test_code_cache.py::test_nothing_is_loaded_from_a_folder_that_others_can_write_to",
        "test_architecture.py::test_modules_keep_the_rules_of_the_house",
        "base/test_worker_processes.py::test_a_worker_imports_nothing_from_the_folder_that_it_starts_in",
        "distributed/test_dask_workers.py::test_connections_are_encrypted_by_the_settings_of_dask",
    ),
    "No silent repair: what was left out, renamed or normalised is said.": (
        "test_pipeline.py::test_documents_without_terms_take_no_part_but_are_listed",
        "cli/test_run_command.py::test_a_document_kept_under_a_new_id_is_not_called_skipped",
        "clustering/test_estimator_contract.py::test_rows_that_are_not_unit_are_normalised_with_one_warning_and_not_changed",
    ),
    "No global state: random numbers, warnings, environment, import path and threads are as they were.": (
        f"{HERE}::test_a_run_leaves_the_process_as_it_was",
        "test_architecture.py::test_modules_keep_the_rules_of_the_house",
    ),
}


def promises():
    """Return the sentences of the README's introduction and of the page of promises, without marks and headings."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8").split("# doccluster", 1)[1].split("```")[0]
    page = (ROOT / "docs/explanation/promises.md").read_text(encoding="utf-8")
    text = re.sub(r"\[([^]]*)\][(\[][^])]*[])]", r"\1", readme + page[page.index("- **") :])
    text = " ".join(re.sub(r"^- \*\*.*?\*\*", "", text, flags=re.MULTILINE).split())
    return re.split(r"(?<=\.) (?=[A-Z`])", text)


def test_every_promise_of_the_readme_has_a_test_and_every_test_is_there():
    assert len(promises()) > 15
    assert promises() == list(PROMISES)
    for tests in PROMISES.values():
        assert tests
        for test in tests:
            path, _, name = test.partition("::")
            tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
            assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test


N_DOCUMENTS, N_TERMS = 5_000, 2_000
SMALL = {
    "n_clusters": 5,
    "n_init": 1,
    "max_iter": 5,
    "max_passes": 3,
    "n_components": 10,
    "random_state": 0,
    "n_threads": 1,
}


def made_counts(n_documents):
    """Return counts of 15 terms in each document, of one of five topics."""
    draw, width = np.random.default_rng(0), N_TERMS // 5
    columns = draw.permuted(np.tile(np.arange(width, dtype=np.int32), (n_documents, 1)), axis=1)[:, :15]
    columns += width * draw.integers(5, size=(n_documents, 1), dtype=np.int32)
    starts = np.arange(0, 15 * n_documents + 1, 15, dtype=np.int32)
    values = draw.integers(1, 4, columns.size).astype(np.float64)
    return sparse.csr_array((values, columns.ravel(), starts), shape=(n_documents, N_TERMS))


def peak_bytes(name, matrix):
    """Return the most bytes of arrays that a fit holds at once, beside the matrix."""
    model = ALGORITHMS[name].make()
    known = model.get_params(deep=False)
    model.set_params(**{option: value for option, value in SMALL.items() if option in known})
    model.fit(matrix[:100])  # compiles, and imports
    tracemalloc.start()
    try:
        model.fit(matrix)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.filterwarnings("ignore::doccluster.errors.DocclusterWarning")
def test_only_agglomeration_holds_something_for_every_pair(name):
    peak = peak_bytes(name, made_counts(N_DOCUMENTS))
    if name == "agglomerative":  # what holds pairs is seen: n (n - 1) / 2 numbers of four bytes
        assert peak > 2 * N_DOCUMENTS * (N_DOCUMENTS - 1)
    else:  # half a byte for each pair, a quarter of a dense copy
        assert peak < N_DOCUMENTS**2 / 2
        assert peak < 8 * N_DOCUMENTS * N_TERMS / 4


def test_the_algorithms_that_take_a_limit_of_memory_are_those_of_the_readme():
    (promise,) = (sentence for sentence in PROMISES if sentence.startswith("`--max-memory"))
    taking = {name for name, algorithm in ALGORITHMS.items() if "max_memory" in algorithm.options}
    assert taking == set(re.findall(r"`([a-z-]+)`", promise))


STATE = """
import decimal, locale, logging, os, random, signal, sys, threading, warnings
import matplotlib, numba, numpy as np, pandas, scipy.sparse, sklearn.cluster, sklearn.feature_extraction
import doccluster
from doccluster import clustering, selection
from doccluster.pipeline.main_line import run_pipeline

def state():
    return {
        "numpy": [str(part) for part in np.random.get_state()], "random": random.getstate(),
        "warnings": list(warnings.filters), "path": list(sys.path), "environment": dict(os.environ),
        "errors of numpy": np.geterr(), "folder": os.getcwd(), "handlers": list(logging.root.handlers),
        "locale": locale.setlocale(locale.LC_ALL), "recursion": sys.getrecursionlimit(),
        "signals": [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)],
        "threads of numba": numba.get_num_threads(), "mask": os.umask(os.umask(0o22)),
        "threads": {thread.name for thread in threading.enumerate()}, "decimal": repr(decimal.getcontext()),
        "figures": dict(matplotlib.rcParams),
    }

before = state()
source, output = sys.argv[1:]
run = run_pipeline(source, n_clusters=3, output=output, n_threads=2)
corpus = selection.LabelledCorpus("x", run.vectors.matrix, None, 3)
selection.compare([corpus], algorithms=["k-means"], seeds=[0, 1], n_threads=2)
after = state()
print({name: (before[name], after[name]) for name in before if before[name] != after[name]} or "as it was")
"""


def test_a_run_leaves_the_process_as_it_was(tmp_path):
    source = ROOT / "corpora" / "samples" / "tiny"
    command = [sys.executable, "-c", STATE, str(source), str(tmp_path / "run")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "as it was"
    assert (tmp_path / "run" / "report.html").is_file()
