"""Messages of chats in JSON, as Slack and Telegram export them, and the lists that lie beside them."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator, Mapping

from doccluster.corpus.document import Skipped
from doccluster.corpus.reader import InputFile

# what lies beside messages, as Slack and Mastodon write it
BESIDE_MESSAGES = re.compile(
    r"(users|channels|groups|dms|mpims|integration_logs|canvases|actor|likes|bookmarks)\.json", re.IGNORECASE
)
_EVENTS = ("channel_", "group_", "bot_add", "bot_remove", "pinned_item", "reminder_", "tombstone")
_REFERENCE = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")  # <@U1>, <#C1|general>, <https://a.example|a page>
_Messages = Iterator[tuple[str, object] | Skipped]


def chat_messages(content: object, file: InputFile) -> _Messages | None:
    """Return the messages of a channel of Slack, or of all chats of Telegram; None for anything else."""
    if isinstance(content, list) and content and all(_is_of_slack(item) for item in content):
        return (_of_slack(item, f"{file.name}:{number}", file) for number, item in enumerate(content, 1))
    chats = content.get("chats") if isinstance(content, Mapping) else None
    if not isinstance(chats, Mapping) or not isinstance(chats.get("list"), list):
        return None
    messages = (
        {"chat": chat.get("name") or "", **message}
        for chat in chats["list"]
        if isinstance(chat, Mapping) and isinstance(chat.get("messages"), list)
        for message in chat["messages"]
        if isinstance(message, Mapping)
    )
    return ((f"{file.name}:{number}", message) for number, message in zip(itertools.count(1), messages, strict=False))


def _is_of_slack(item: object) -> bool:
    return isinstance(item, Mapping) and item.get("type") == "message" and isinstance(item.get("ts"), str)


def _of_slack(message: Mapping[str, object], where: str, file: InputFile) -> tuple[str, object] | Skipped:
    """Return a message with its channel and its date, its references as people see them."""
    event = str(message.get("subtype") or "")
    if event.startswith(_EVENTS):
        return Skipped(where, "about-the-collection", f"{event}: not a message but what happened to the channel")
    plain = _REFERENCE.sub(lambda match: match[3] or ("" if match[1] else match[2]), str(message.get("text") or ""))
    return where, {"channel": file.folder, **message, "text": html.unescape(plain), "date": message["ts"]}
