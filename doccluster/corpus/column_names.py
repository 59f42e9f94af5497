"""The names that columns go by where the user names none, in the many ways in which people write them.

The likeliest come first. Those that 1.0 knew stand apart and are looked for first, as they are written, so that what it
read is read as before; then come these and the further ones in any form: `published_at` is also publishedAt, Published
At and published-at.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence

FULL_TEXTS = (
    *("text", "body", "content", "contents", "full_text", "article", "document", "doc", "article_body", "body_text"),
    *("article_text", "text_body", "news_text", "story_text", "content_text", "document_text", "plain_text"),
    *("raw_text", "raw_content", "page_content", "main_text", "post_text", "tweet_text", "message_text", "selftext"),
)
SNIPPETS = ("snippet", "excerpt", "teaser", "short_description", "lead", "lead_paragraph", "standfirst", "trail_text")
SHORT_TEXTS = (
    *("abstract", "description", "summary", "message", "review", "comment", "post", "tweet", "sentence", "question"),
    *("blurb", *SNIPPETS, "abstract_text", "abstract_note", "abstract_inverted_index", "inverted_index"),
    *("review_text", "review_body", "comment_text", "comment_body"),
)
TITLES = (
    *("headline", "title", "web_title", "article_title", "news_title", "post_title", "paper_title", "document_title"),
    "headline_text",
)
ID_COLUMNS = ("id", "doc_id", "docid", "document_id", "_id", "uid", "guid", "uuid")
AUTHORS = ("authors", "author", "byline", "creator")  # long lists of names, not texts
LABELS = (
    *("class", "label", "labels", "category", "categories", "topic", "topics", "target", "tag", "tags"),
    *("section", "newsgroup", "story", "genre"),
)
USUAL = {
    "id": ID_COLUMNS,
    "title": ("title", "headline", "subject"),
    "date": (
        *("date", "datetime", "published", "pubdate", "pub_date", "published_at", "publish_date", "publication_date"),
        *("date_published", "created_at", "created", "timestamp", "time"),
    ),
    "link": ("link", "url", "uri", "permalink"),
    "source": ("source", "publisher", "publication", "outlet", "feed"),
}
FURTHER: dict[str, tuple[str, ...]] = {
    "title": TITLES[2:],
    "date": (
        *("web_publication_date", "published_date", "publish_time", "published_time", "published_on", "date_time"),
        *("first_published", "publication_time", "pub_time", "posted_at", "posted_on", "posted_date", "post_date"),
        *("date_posted", "article_date", "news_date", "review_date", "sent_at", "issued", "issue_date", "date_issued"),
        *("created_utc", "created_date", "creation_date", "date_created", "created_time", "creation_time"),
        *("create_time", "created_on", "submission_date", "submitted_at", "submit_date", "date_submitted"),
        *("seen_date", "sql_date", "upload_date", "uploaded_at", "recorded_date", "date_added", "added_at"),
        *("published_print", "published_online", "update_date", "updated_at", "updated", "last_updated"),
        *("date_updated", "date_modified", "modified_at", "last_modified"),
        *("timestamp_created", "created_timestamp", "unix_review_time", "review_time", "unix_time", "ts"),
        *("publication_year", "published_year", "pub_year", "year"),
    ),
    "link": ("web_url", "article_url", "page_url", "source_url", "news_url", "post_url", "full_link", "canonical_url"),
    "source": (
        *("source_name", "source_title", "publication_title", "publication_name", "publisher_name", "container_title"),
        *("journal_title", "journal", "newspaper", "site_name", "media_name"),
    ),
}

_BETWEEN_WORDS = re.compile(r"[\s._-]+")


def plain_name(name: str) -> str:
    """Return the name of a column by which it is compared: small letters, nothing between the words.

    >>> plain_name("publishedAt") == plain_name("Published At") == plain_name("published_at")
    True
    """
    return _BETWEEN_WORDS.sub("", name).lower()


TEXT_TIERS = tuple(tuple(map(plain_name, names)) for names in (FULL_TEXTS, SHORT_TEXTS, TITLES))
TEXT_NAMES = tuple(itertools.chain(*TEXT_TIERS))
PLAIN_IDS = frozenset(map(plain_name, ID_COLUMNS))
PLAIN_DATES = frozenset(map(plain_name, (*USUAL["date"], *FURTHER["date"])))


def by_plain_name(names: Sequence[str]) -> dict[str, str]:
    """Return the columns by their plain names, and by their names in small letters, blanks as _; the first counts."""
    plain = {plain_name(name): name for name in reversed(names)}
    return plain | {"_".join(name.strip().lower().split()): name for name in reversed(names)}


def usual_column(role: str, by_name: Mapping[str, str], *, further: bool = True) -> str | None:
    """Return the column whose name says that it has a role ("date", ...); without the further names, what 1.0 took."""
    names: Iterable[str] = USUAL[role]
    if further:
        names = (*names, *map(plain_name, (*names, *FURTHER.get(role, ()))))
    return next((by_name[name] for name in names if name in by_name), None)
