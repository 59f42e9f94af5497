"""Chats as Slack and Telegram export them: a message is a document, lists of people and channels are none."""

from __future__ import annotations

import json
from pathlib import Path

from doccluster.corpus import read_corpus

FILES = Path(__file__).parent / "files"


def test_pieces_of_rich_text_are_one_text():
    corpus = read_corpus(FILES / "31-pieces.json")
    assert corpus.texts[0] == "The ferry to Skerrow sailed again from the harbour on Friday after two weeks of storms."
    assert corpus.metadata["date"][1] == "2026-03-14T09:15:00"


def test_objects_are_joined_as_pieces_or_as_paragraphs(tmp_path):
    texts = {
        "The wall holds.": [{"text": "The wa"}, {"text": "ll "}, {"text": "holds."}],
        "Skerrow sails.": [{"type": "text", "text": "Sker"}, {"type": "bold", "text": "row sails."}],
        "One.\nTwo.": [{"type": "paragraph", "text": "One."}, {"type": "paragraph", "text": "Two."}],
        "Sea\nwall": [{"text": "Sea"}, {"text": "wall"}],
    }
    (tmp_path / "a.json").write_text(json.dumps([{"text": text} for text in texts.values()]))
    assert read_corpus(tmp_path / "a.json").texts == tuple(texts)


def test_the_folder_of_a_workspace_holds_messages_and_lists_that_are_named():
    corpus = read_corpus(FILES / "39-chat")
    assert len(corpus) == 6
    assert corpus.texts[0].startswith("The ferry to Skerrow")
    assert set(corpus.metadata["channel"]) == {"general"}
    assert corpus.metadata["date"][0] == "2026-03-13T09:15:00+00:00"
    assert [(entry.source, entry.reason) for entry in corpus.skipped] == [
        ("channels.json", "about-the-collection"),
        ("users.json", "about-the-collection"),
    ]
    assert len(read_corpus(FILES / "39-chat/users.json")) == 2  # which you named
    assert len(read_corpus(FILES / "39-chat", format="json")) == 6


def test_lists_beside_texts_are_not_counted_among_them(tmp_path):
    for name in ("a.txt", "b.txt", "users.json"):
        (tmp_path / name).write_text("The ferry sails.")
    assert read_corpus(tmp_path).division == "each file is a document"


def test_references_and_events_of_a_channel_are_no_words(tmp_path):
    texts = ["<@U1> sees &lt;it&gt;", "in <#C1|harbour> of <https://a.example|a page>", "joined"]
    messages = [{"type": "message", "text": text, "ts": f"177339330{n}.0001"} for n, text in enumerate(texts)]
    messages[2]["subtype"] = "channel_join"
    (tmp_path / "general").mkdir()
    (tmp_path / "general/2026-03-10.json").write_text(json.dumps(messages))
    corpus = read_corpus(tmp_path)
    assert corpus.texts == (" sees <it>", "in harbour of a page")
    assert corpus.skipped[0].detail.startswith("channel_join")


def test_all_chats_of_an_account_are_read_message_by_message(tmp_path):
    message = {"type": "message", "date": "2026-03-13T09:15:00", "text": ["A ", {"type": "bold", "text": "wall"}]}
    chats = [{"name": name, "id": 1, "messages": [message, {"type": "service", "text": ""}]} for name in "ab"]
    people = {"about": "people", "list": [{"first_name": "Jo", "text": "no message"}]}
    account = {"about": "all data", "contacts": people, "chats": {"about": "chats", "list": chats}}
    (tmp_path / "result.json").write_text(json.dumps(account, indent=1), encoding="utf-16")
    corpus = read_corpus(tmp_path / "result.json")
    assert corpus.texts == ("A wall", "A wall")
    assert corpus.metadata["chat"].tolist() == ["a", "b"]
