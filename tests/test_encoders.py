"""Encoders by name: models in folders, of which nothing is downloaded, and rows that no text is encoded for twice."""

from __future__ import annotations

import base64
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType

import numpy as np
import pytest

import doccluster
from doccluster.cli.main import main
from doccluster.distributed.text_vectors import known_encoder
from doccluster.errors import InputError, MissingDependency, NothingUsable, SchemaError
from doccluster.pipeline.editing import Edit, edit_run
from doccluster.pipeline.repeating import repeat_run
from doccluster.pipeline.source_meaning import EncodedRows, language_note
from doccluster.retrieval.searching import open_search
from doccluster.vectors import encoders
from doccluster.vectors.encoders import Encoder, encode, fetch_model, get_encoder, onnx_encoder, rows_piece
from tests.conftest import stable_id

WORDS = ("[UNK]", "ship", "harbour", "anchor", "bread", "oven", "flour")
TABLE = np.random.default_rng(4).normal(size=(len(WORDS), 5)).astype(np.float32)
TEXTS = ["ship harbour", "bread", "oven flour bread oven", "anchor unheard ship", "unheard", "flour " * 9 + "ship"]


def rows_of(texts, of_unknown=None):
    """Return the mean of the vectors of the words of each text; unknown ones are left out, or have a vector."""
    found = []
    for text in texts:
        places = [WORDS.index(word) if word in WORDS else 0 for word in text.split()]
        own = [TABLE[place] for place in places if place or of_unknown]
        found.append(np.mean(own, axis=0) if own else np.zeros(5))
    return np.array(found)


def write_tokenizer(folder, **truncation):
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {word: place for place, word in enumerate(WORDS)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    if truncation:
        made.enable_truncation(**truncation)
    made.save(str(folder / "tokenizer.json"))


@pytest.fixture
def in_this_process(monkeypatch):
    """Read models here, where a test is about their rows; tests of threads and of harm have the process apart."""

    def read_here(function, arguments, **_):
        encoders._read_model.cache_clear()  # a test may have changed the files
        return list(rows_piece(arguments, b""))

    monkeypatch.setattr(encoders, "pieces_of_work", read_here)


@pytest.fixture
def model2vec(tmp_path):
    pytest.importorskip("safetensors")
    from safetensors.numpy import save_file

    save_file({"embeddings": TABLE}, tmp_path / "model.safetensors")
    write_tokenizer(tmp_path, max_length=3)  # a mean needs no bound
    return tmp_path


@pytest.mark.usefixtures("in_this_process")
def test_a_folder_of_model2vec_gives_the_mean_of_the_vectors_of_known_tokens(model2vec):
    with_deep_settings({}, model2vec)  # which nothing reads
    found = encode(get_encoder(f"model2vec:{model2vec}"), TEXTS)
    np.testing.assert_allclose(found, rows_of(TEXTS), atol=1e-6)


@pytest.mark.usefixtures("in_this_process")
def test_vectors_of_model2vec_may_be_shared_and_weighted(model2vec):
    from safetensors.numpy import save_file

    weights, mapping = np.linspace(0.5, 2, len(WORDS)), np.array([0, 1, 1, 1, 2, 2, 2])
    save_file({"embeddings": TABLE[:3], "weights": weights, "mapping": mapping}, model2vec / "model.safetensors")
    found = encode(get_encoder(f"model2vec:{model2vec}"), ["anchor", "oven bread"])
    expected = [TABLE[1] * weights[3], (TABLE[2] * weights[5] + TABLE[2] * weights[4]) / 2]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.usefixtures("in_this_process")
def test_files_of_two_models_are_refused(model2vec):
    from safetensors.numpy import save_file

    save_file({"embeddings": TABLE[:4]}, model2vec / "model.safetensors")
    with pytest.raises(InputError, match="4 vectors for 7 tokens"):
        get_encoder(f"model2vec:{model2vec}")
    (model2vec / "model.safetensors").write_bytes(b"torn")
    with pytest.raises(InputError, match="cannot be read as a model"):
        get_encoder(f"model2vec:{model2vec}")


def field(number, content):
    """Return a field of a protocol buffer: a whole number, or bytes with their length."""
    if isinstance(content, int):
        return size(number << 3) + size(content)
    return size(number << 3 | 2) + size(len(content)) + content


def size(number):
    return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80]) + size(number >> 7)


def onnx_model(table):
    """Return a model in the format ONNX whose rows of tokens are those of a table: one node, Gather."""

    def told(name, kind, *dimensions):
        shape = b"".join(field(1, field(2, one) if isinstance(one, bytes) else field(1, one)) for one in dimensions)
        return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))

    node = field(1, b"table") + field(1, b"input_ids") + field(2, b"rows") + field(4, b"Gather")
    tensor = b"".join(field(1, one) for one in table.shape) + field(2, 1) + field(8, b"table")
    graph = field(1, node) + field(2, b"tiny") + field(5, tensor + field(9, table.tobytes()))
    graph += field(11, told(b"input_ids", 7, b"texts", b"tokens"))
    graph += field(12, told(b"rows", 1, b"texts", b"tokens", table.shape[1]))
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


def looping_model(table, operator):
    """Return a model whose rows go through an operator again and again: a Loop whose condition stays true."""

    def node(kind, inputs, output, more=b""):
        return field(1, b"".join(field(1, one) for one in inputs) + field(2, output) + field(4, kind) + more)

    def value(name, kind, shape=b""):
        return field(1, name) + field(2, field(1, field(1, kind) + shape))

    names = {b"Identity": [b"rows_in"], b"Concat": [b"rows_in", b"rows_in"]}[operator]
    scalar = field(2, b"")
    axis = field(5, field(1, b"axis") + field(3, 1) + field(20, 2)) if operator == b"Concat" else b""
    body = node(b"Identity", [b"goes_on_in"], b"goes_on_out") + node(operator, names, b"rows_out", axis)
    body += field(2, b"body") + field(11, value(b"turn", 7, scalar)) + field(11, value(b"goes_on_in", 9, scalar))
    body += field(11, value(b"rows_in", 1)) + field(12, value(b"goes_on_out", 9)) + field(12, value(b"rows_out", 1))
    loop = field(5, field(1, b"body") + field(6, body) + field(20, 5))
    graph = node(b"Gather", [b"table", b"input_ids"], b"rows")
    graph += node(b"Loop", [b"", b"true", b"rows"], b"looped", loop) + field(2, b"tiny")
    tensor = b"".join(field(1, one) for one in table.shape) + field(2, 1) + field(8, b"table")
    graph += field(5, tensor + field(9, table.tobytes())) + field(5, field(2, 9) + field(8, b"true") + field(9, b"\1"))
    shape = b"".join(field(1, field(2, one)) for one in (b"texts", b"tokens"))
    graph += field(11, field(1, b"input_ids") + field(2, field(1, field(1, 7) + field(2, shape))))
    shape += field(1, field(2, b"width"))
    graph += field(12, field(1, b"looped") + field(2, field(1, field(1, 1) + field(2, shape))))
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


@pytest.fixture
def onnx(tmp_path):
    pytest.importorskip("onnxruntime")
    (tmp_path / "model.onnx").write_bytes(onnx_model(TABLE))
    write_tokenizer(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("in_this_process")
def test_a_model_in_onnx_gives_the_mean_of_the_rows_of_its_tokens(onnx):
    found = get_encoder(f"onnx:{onnx}")
    np.testing.assert_allclose(encode(found, TEXTS), rows_of(TEXTS, of_unknown=True), atol=1e-6)
    assert found.pooling == "mean"


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("config", [{"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"])
def test_the_first_token_stands_for_a_text_where_the_model_says_so(onnx, config):
    (onnx / "1_Pooling").mkdir()
    told = {"pooling_mode": config} if isinstance(config, str) else config
    (onnx / "1_Pooling" / "config.json").write_text(json.dumps(told))
    found = get_encoder(f"onnx:{onnx}")
    first = [text.split()[0] for text in TEXTS]
    np.testing.assert_allclose(encode(found, TEXTS), rows_of(first, of_unknown=True), atol=1e-6)
    (onnx / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_max_tokens": True}))
    with pytest.raises(InputError, match="asks for pooling_mode_max_tokens"):
        get_encoder(f"onnx:{onnx}")


def test_a_text_longer_than_the_model_reads_is_cut_into_windows_that_are_averaged(onnx, monkeypatch):
    seen = []
    import onnxruntime

    class Seen(onnxruntime.InferenceSession):
        def run(self, names, feed):
            seen.append(feed["input_ids"].shape)
            return super().run(names, feed)

    monkeypatch.setattr(onnxruntime, "InferenceSession", Seen)
    write_tokenizer(onnx, max_length=3)
    found = encode(onnx_encoder("onnx", onnx, n_threads=1), TEXTS)
    np.testing.assert_allclose(found, rows_of(TEXTS, of_unknown=True), atol=1e-6)
    assert max(seen) == (1, 3)


@pytest.mark.parametrize("kind", ["model2vec", "onnx"])
def test_rows_are_the_same_to_the_last_bit_for_any_batch_and_number_of_threads(kind, request, monkeypatch):
    folder = request.getfixturevalue(kind)
    if kind == "onnx":  # a static model takes too little time
        request.getfixturevalue("starts_threads")
    texts = [" ".join(np.random.default_rng(seed).choice(WORDS, seed % 9 + 1)) for seed in range(60)]
    found = set()
    for batch, n_threads in ((1, 1), (7, 1), (1000, 3), (16, 2)):
        monkeypatch.setattr(encoders, "BATCH", batch)
        found.add(encode(encoders._read_model(kind, kind, str(folder), n_threads), texts).tobytes())
    found.add(encode(get_encoder(f"{kind}:{folder}", n_threads=2), texts).tobytes())
    assert len(found) == 1


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(("kind", "file"), [("model2vec", r"model\.safetensors"), ("onnx", r"model\.onnx")])
def test_a_file_that_is_missing_is_named(tmp_path, kind, file):
    told = f"has no file {file}; bring that file of the model|needs .*doccluster\\[(meaning|onnx)\\]"
    with pytest.raises((InputError, MissingDependency), match=told):
        get_encoder(f"{kind}:{tmp_path}")


def with_bad_charsmap(tokenizer, folder):
    charsmap = base64.b64encode(b"\xff\xff\xff\xff" * 8).decode("ascii")
    return {**tokenizer, "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap}}


def with_growing_texts(tokenizer, folder):
    grow = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 100}
    return {**tokenizer, "normalizer": {"type": "Sequence", "normalizers": [grow] * 6}}


def without_unknown(tokenizer, folder):
    del tokenizer["model"]["vocab"]["[UNK]"]
    return tokenizer


def with_ids_beyond_the_table(tokenizer, folder):
    tokenizer["model"]["vocab"]["ship"] = 2**31
    return tokenizer


def with_deep_settings(tokenizer, folder):
    (folder / "config.json").write_text("[" * 200_000)
    return tokenizer


def with_deep_tokenizer(tokenizer, folder):
    deep = {"type": "Sequence", "normalizers": []}
    for _ in range(300):
        deep = {"type": "Sequence", "normalizers": [deep]}
    return {**tokenizer, "normalizer": deep}


HARMS = (  # both kinds read a tokenizer alike; ids go to a table of ours or to that of the model, settings to one kind
    ("model2vec", with_bad_charsmap),
    ("onnx", with_growing_texts),
    ("model2vec", without_unknown),
    ("model2vec", with_ids_beyond_the_table),
    ("onnx", with_ids_beyond_the_table),
    ("onnx", with_deep_settings),
    ("onnx", with_deep_tokenizer),
)


@pytest.mark.parametrize(("kind", "harm"), HARMS, ids=stable_id)
def test_a_model_that_harms_what_reads_it_is_refused_in_a_sentence(request, monkeypatch, kind, harm):
    monkeypatch.setattr(encoders, "MEMORY", 2**28)
    monkeypatch.setattr(encoders, "SECONDS", 5.0)
    folder = request.getfixturevalue(kind)
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(harm(json.loads(path.read_text("utf-8")), folder)), encoding="utf-8")
    texts = ["a ship in the harbour", "unheard"]
    with pytest.raises(InputError, match=re.escape(str(folder))) as caught:
        encode(get_encoder(f"{kind}:{folder}", n_threads=1), texts)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("operator", "told"), [(b"Identity", "s of processor time"), (b"Concat", "Concat node|memory")]
)
def test_a_loop_in_a_model_comes_to_an_end(onnx, monkeypatch, operator, told):
    monkeypatch.setattr(encoders, "MEMORY", 2**28)
    monkeypatch.setattr(encoders, "SECONDS", 1.2)
    (onnx / "model.onnx").write_bytes(looping_model(TABLE, operator))
    with pytest.raises(InputError, match=told):
        get_encoder(f"onnx:{onnx}", n_threads=1)


COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(BaseHTTPRequestHandler):
    """A server of one model, tiny/model, as huggingface_hub asks for it."""

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        files = sorted(self.server.folder.iterdir())
        name = self.path.rpartition("/")[2]
        told = {"id": "tiny/model", "sha": COMMIT, "siblings": [{"rfilename": one.name} for one in files]}
        if "/tree/" in self.path:
            told = [{"type": "file", "path": one.name, "oid": "0", "size": one.stat().st_size} for one in files]
        is_file = "/resolve/" in self.path
        content = (self.server.folder / name).read_bytes() if is_file else json.dumps(told).encode()
        self.server.asked.append(name)
        self.send_response(200 if "tiny/model" in self.path else 404)
        for header, value in {"Content-Length": len(content), "ETag": f'"{name}"', "X-Repo-Commit": COMMIT}.items():
            self.send_header(header, str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def hub(model2vec, monkeypatch, tmp_path_factory):
    constants = pytest.importorskip("huggingface_hub.constants")
    (model2vec / "model.bin").write_bytes(b"weights that nothing here reads")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.folder, server.asked = model2vec, []
    place = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", place)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", place + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path_factory.mktemp("kept")))
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("in_this_process")
def test_a_model_is_downloaded_where_that_is_allowed_and_then_found_without_a_network(hub, titles, tmp_path, capsys):
    path, _ = titles
    asked = ["run", str(path), "--encoder", "model2vec:tiny/model", "-k", "2", "--levels", "none", "--no-report", "-o"]

    def ending(*further):
        with pytest.raises(SystemExit) as end:
            main([*asked, *further])
        return end.value.code

    assert ending(str(tmp_path / "one")) == 2
    assert "the model tiny/model is not on this machine" in capsys.readouterr().err
    assert hub.asked == []
    with pytest.raises(SystemExit) as end:
        main(["run", str(path), "--allow-download", "-o", str(tmp_path / "one")])
    assert end.value.code == 2
    assert "give --encoder too" in capsys.readouterr().err
    assert ending(str(tmp_path / "one"), "--allow-download") == 0
    assert {"model.safetensors", "tokenizer.json"} <= set(hub.asked)
    assert "model.bin" not in hub.asked
    hub.asked.clear()
    assert ending(str(tmp_path / "two")) == 0
    assert hub.asked == []
    one, two = (json.loads((tmp_path / name / "run.json").read_text()) for name in ("one", "two"))
    meaning = one["parameters"]["resolved"]["meaning"]
    assert meaning == two["parameters"]["resolved"]["meaning"]
    assert meaning["digest"] == get_encoder(f"model2vec:{hub.folder}").digest
    with pytest.raises(InputError, match=r"the model no/such could not be downloaded: .*404"):
        fetch_model("model2vec:no/such")


def test_a_model_that_is_not_on_this_machine_is_a_sentence(hub):
    with pytest.raises(InputError, match=r"bring its folder with model\.onnx and tokenizer\.json"):
        get_encoder("minilm")
    for name in ("onnx:", "onnx", "unheard:of", 3):
        with pytest.raises(InputError, match="model2vec:DIR_OR_NAME"):
            get_encoder(name)
    with pytest.raises((InputError, MissingDependency), match=r"needs sentence_transformers|is not on"):
        get_encoder("sentence-transformers:no-such-model")


def test_a_model_of_sentence_transformers_is_read_from_this_machine_and_encodes_text_by_text(monkeypatch, tmp_path):
    asked = []

    class SentenceTransformer:
        def __init__(self, place, **how):
            asked.append((place, how))
            if place == "missing":
                raise OSError("not among the files of this machine")

        def encode(self, texts, **how):
            asked.append(how)
            return rows_of(texts)

    library = ModuleType("sentence_transformers")
    library.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    (tmp_path / "modules.json").write_text("[]")
    found = get_encoder(f"sentence-transformers:{tmp_path}")
    np.testing.assert_allclose(encode(found, TEXTS), rows_of(TEXTS))
    assert asked[0] == (str(tmp_path), {"device": "cpu", "local_files_only": True})
    assert asked[1]["batch_size"] == 1
    assert found.digest
    assert not get_encoder("sentence-transformers:a-name").digest  # of which nothing is kept
    with pytest.raises(InputError, match="the model missing is not on this machine; bring its folder"):
        get_encoder("sentence-transformers:missing")


class Counting:
    """An encoder that knows how many texts it was given."""

    def __init__(self):
        self.n_texts = 0

    def __call__(self, name, **_):
        return Encoder(name, f"digest of {name}", self.encode, "mean")

    def encode(self, texts):
        self.n_texts += len(texts)
        return rows_of(texts) + np.arange(5) / 7


@pytest.fixture
def counting(monkeypatch):
    made = Counting()
    monkeypatch.setattr("doccluster.pipeline.source_meaning.get_encoder", made)
    return made


@pytest.fixture
def titles(tmp_path):
    rng = np.random.default_rng(0)
    kinds = [WORDS[1:4], WORDS[4:]]
    texts = [" ".join([*rng.choice(kinds[row % 2], 2), f"number{row % 20}"]) for row in range(40)]
    path = tmp_path / "titles.jsonl"
    path.write_text("\n".join(json.dumps({"id": f"t{row}", "text": text}) for row, text in enumerate(texts)))
    return path, len(set(texts))


def test_no_text_is_encoded_twice(counting, titles, tmp_path):
    path, n_texts = titles
    folder = tmp_path / "run"
    asked = {"n_clusters": 2, "language": "english", "n_threads": 1, "report": False, "encoder": "tiny:model"}
    first = doccluster.run(path, output=folder, **asked)
    assert counting.n_texts == n_texts < 40
    assert first.parameters["resolved"]["meaning"]["pooling"] == "mean"
    again = doccluster.run(path, output=folder, overwrite=True, **asked)
    np.testing.assert_array_equal(first.vectors.meaning.rows, again.vectors.meaning.rows)
    assert repeat_run(folder).differences == ()
    doccluster.choose_k(path, output=folder, language="english", n_threads=1, encoder="tiny:model")
    edit_run(folder, Edit("merge", (0, 1)))
    assert repeat_run(folder).differences == ()
    assert counting.n_texts == n_texts
    doccluster.run(path, output=folder, overwrite=True, **{**asked, "encoder": "tiny:other"})
    assert counting.n_texts == 2 * n_texts
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, json.dumps({"id": "new", "text": "bread of a new kind"})]))
    doccluster.run(path, output=folder, overwrite=True, **{**asked, "encoder": "tiny:other"})
    assert counting.n_texts == 2 * n_texts + 1


def test_blocks_encode_no_text_that_the_folder_has(counting, titles, tmp_path, monkeypatch):
    monkeypatch.setattr("doccluster.distributed.text_vectors.get_encoder", counting)
    known_encoder.cache_clear()
    path, n_texts = titles
    asked = {"n_clusters": 2, "language": "english", "n_threads": 1, "report": False, "encoder": "tiny:model"}
    asked["levels"] = "none"
    one = doccluster.run(path, output=tmp_path / "one", **asked)
    blocks = doccluster.run(path, output=tmp_path / "run", scratch=tmp_path / "scratch", **asked)
    assert counting.n_texts == 2 * n_texts + 1  # of one text more, to see how wide a row is
    np.testing.assert_array_equal(blocks.vectors.meaning.rows, one.vectors.meaning.rows)
    again = doccluster.run(path, output=tmp_path / "run", overwrite=True, scratch=tmp_path / "scratch", **asked)
    np.testing.assert_array_equal(again.vectors.meaning.rows, one.vectors.meaning.rows)
    assert repeat_run(tmp_path / "run").differences == ()
    assert counting.n_texts == 2 * n_texts + 1
    known_encoder.cache_clear()


def test_new_documents_are_encoded_by_the_model_of_the_run_wherever_it_lies(counting, titles, tmp_path):
    path, _ = titles
    how = {"encoder": "tiny:model", "levels": "none", "report": False, "n_threads": 1}
    run = doccluster.run(path, n_clusters=2, output=tmp_path / "run", **how)
    found = doccluster.assign(tmp_path / "run", ["ship anchor number1", "oven bread number2"])
    assert found["cluster"].tolist() == run.partition.labels[:2].tolist()
    with pytest.raises(InputError, match="is by tiny:other; the run's is by tiny:model"):
        doccluster.assign(tmp_path / "run", ["ship"], encoder="tiny:other")


def test_a_search_joins_the_ranks_by_words_and_by_what_the_query_means(counting, titles, tmp_path):
    path, _ = titles
    folder, made = tmp_path / "run", {"n_clusters": 2, "language": "english", "n_threads": 1, "report": False}
    made["levels"] = "none"
    run = doccluster.run(path, encoder="tiny:model", output=folder, **made)
    index, query = open_search(folder), "anchor"
    meaning = run.vectors.meaning
    row = np.float32(np.float16(counting.encode([query])[0]))
    wanted = row / np.linalg.norm(row) - meaning.centre
    cosines = meaning.rows @ (wanted / np.linalg.norm(wanted))
    expected = np.zeros(40)
    for ranking in (index.rank(query), [place for place in np.argsort(-cosines, kind="stable") if cosines[place] > 0]):
        for rank, place in enumerate(ranking, 1):
            expected[place] += 1 / (60 + rank)
    found = index.rank(query, ranked_by="meaning")
    np.testing.assert_allclose(expected[found], -np.sort(-expected)[: found.size], atol=2e-4)
    assert set(found) > set(index.rank(query))
    hits = index.search("unheard", ranked_by="meaning", language="english")
    assert set(hits.bm25_places) == {None}
    with pytest.raises(NothingUsable):
        index.rank("unheard")
    with pytest.raises(InputError, match="in the folder of a run with an encoder"):
        open_search(path).rank("ship", ranked_by="meaning")
    doccluster.run(path, output=tmp_path / "words", **made)
    with pytest.raises(InputError, match="names no encoder"):
        open_search(tmp_path / "words").rank("ship", ranked_by="meaning")


def test_rows_that_are_kept_come_back_and_damage_is_told(tmp_path):
    made = Counting()
    encoder, texts = made("tiny"), ["ship", "bread", "ship", "oven flour"]
    kept = EncodedRows()
    rows = kept.rows_of(texts, encoder, encoder.encode)
    kept.write(tmp_path / "encoded.npz")
    again = EncodedRows.read(tmp_path)
    np.testing.assert_array_equal(again.rows_of(texts[::-1], encoder, encoder.encode), rows[::-1])
    assert made.n_texts == 3
    np.testing.assert_allclose(rows, made.encode(texts), rtol=1e-3)
    (tmp_path / "encoded.npz").write_bytes((tmp_path / "encoded.npz").read_bytes()[:200])
    with pytest.raises(SchemaError, match=r"encoded\.npz"):
        EncodedRows.read(tmp_path)
    assert EncodedRows.read(Path("no/such/folder")).model == ""


ENGLISH = "The ferry was late and the people on the pier were not told why it was."
GERMAN = "Die Fähre war zu spät und die Leute am Hafen wussten nicht, warum das so war."


def test_an_encoder_of_another_language_is_refused_with_what_to_do():
    encoder = Encoder("static", "", list, languages=("english",))
    for text, language in (
        (GERMAN, "German"),
        ("船が遅れて人々は", "Chinese characters or Kana"),
        ("नौका देर से आई", "a script that"),
    ):
        with pytest.raises(InputError, match=f"was made for English, and these documents are in {language}"):
            language_note(encoder, [text] * 10)
    assert language_note(Encoder("mine", "", list), [GERMAN] * 10) is None


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        (
            ["Ang bangka ay huli na at ang mga tao sa daungan ay hindi alam kung bakit"] * 10,
            "no English was found in 100%",
        ),
        (["Ferjan var of sein og folkið á bryggjunni vissi ekki hvers vegna það var"] * 99 + ["船が"], "in 100%"),
        (
            [GERMAN] * 4 + ["ბორანი დაგვიანდა და ხალხმა ნავსადგურში არ იცოდა რატომ"] * 56,
            "these documents are in German or a script that is not Latin",
        ),
    ],
)
def test_an_encoder_is_refused_where_hardly_any_text_is_in_its_languages(texts, problem):
    encoder = Encoder("static", "", list, languages=("english",))
    with pytest.raises(InputError, match=problem) as error:
        language_note(encoder, texts)
    assert "language" in str(error.value)
    assert language_note(encoder, texts, "english") is None


def test_key_words_and_numbers_say_nothing_of_a_language():
    encoder = Encoder("static", "", list, languages=("english",))
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("aeiourstlnm"), 7)) for _ in range(1_000)]
    assert language_note(encoder, [" ".join(rng.choice(words, 6)) for _ in range(200)]) is None
    assert language_note(encoder, ["Ang bangka ay huli na"], None) is None  # nor does a new document, by itself
    # texts without letters do not count
    assert language_note(encoder, [ENGLISH] * 10 + ["12 34"] * 190) is None


def test_documents_of_other_languages_beside_are_noted():
    encoder = Encoder("static", "", list, languages=("english",))
    assert language_note(encoder, [ENGLISH] * 10) is None
    note = language_note(encoder, [ENGLISH] * 30 + [GERMAN] * 10)
    assert note == "The encoder static was made for English; 25% of the documents are in others (German 25%)."
