-- the tables of a store; `database.py` says what STRING, COUNT, MOMENT and LIKENESS stand for
CREATE TABLE meta (key TEXT PRIMARY KEY, value STRING) STRICT, WITHOUT ROWID;

-- one clustering of what had come in: the moments at which the partition changed
CREATE TABLE batch (
    batch_id INTEGER PRIMARY KEY, moment MOMENT, kind TEXT NOT NULL CHECK (kind IN ('poll', 'replay', 'edit')),
    n_documents COUNT, clock MOMENT
) STRICT;

CREATE TABLE feed (
    feed_id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, title STRING, category STRING,
    state TEXT NOT NULL CHECK (state IN ('active', 'failing', 'gone')), etag STRING, last_modified STRING,
    body_hash STRING, interval_s INTEGER NOT NULL CHECK (interval_s BETWEEN 1 AND 864000), next_poll_at MOMENT,
    failures INTEGER NOT NULL CHECK (failures BETWEEN 0 AND 1000000), redirect_to STRING,
    redirect_seen INTEGER NOT NULL CHECK (redirect_seen BETWEEN 0 AND 1000), last_ok_at MOMENT, last_full_at MOMENT,
    last_asked_at MOMENT, reason STRING, skip_hours TEXT NOT NULL DEFAULT '[]',
    skip_days TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE TABLE feed_alias (url TEXT PRIMARY KEY, feed_id INTEGER NOT NULL REFERENCES feed) STRICT, WITHOUT ROWID;
CREATE TABLE fetch (
    fetch_id INTEGER PRIMARY KEY, feed_id INTEGER NOT NULL REFERENCES feed, at MOMENT, url STRING,
    status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 999), n_bytes COUNT, reason STRING, n_entries COUNT, n_new COUNT
) STRICT;

CREATE TABLE document (
    doc_id INTEGER PRIMARY KEY, doc_key TEXT NOT NULL UNIQUE, id STRING, published MOMENT, date STRING,
    first_seen MOMENT, batch_id INTEGER REFERENCES batch, number INTEGER, language STRING, source STRING, link STRING,
    guid STRING, title STRING, text ANY NOT NULL, text_hash STRING, n_versions COUNT, family INTEGER, first_story TEXT,
    similarity LIKENESS, is_edited INTEGER NOT NULL DEFAULT 0, outlet TEXT NOT NULL DEFAULT '', words BLOB, links BLOB,
    background REAL NOT NULL DEFAULT 0 CHECK (background BETWEEN 0 AND 4),
    CHECK (is_edited IN (0, MIN(1, n_versions - 1))),
    CHECK ((batch_id IS NULL) + (number IS NULL) + (family IS NULL) + (first_story IS NULL) IN (0, 4)),
    CHECK (family BETWEEN 1 AND number), CHECK ((words IS NULL) = (links IS NULL)),
    CHECK (words IS NULL OR number IS NOT NULL)
) STRICT;
CREATE INDEX document_waiting ON document (published, doc_key) WHERE batch_id IS NULL;
CREATE INDEX document_number ON document (number) WHERE number IS NOT NULL;
CREATE INDEX document_family ON document (family);
CREATE INDEX document_words ON document (number) WHERE words IS NOT NULL;
CREATE INDEX document_outlet ON document (outlet, number) WHERE number IS NOT NULL;
CREATE INDEX document_edited ON document (number) WHERE is_edited = 1;

CREATE TABLE document_version (
    doc_id INTEGER NOT NULL REFERENCES document, version INTEGER NOT NULL CHECK (version > 0), seen MOMENT,
    title STRING, text ANY NOT NULL, text_hash STRING, PRIMARY KEY (doc_id, version)
) STRICT, WITHOUT ROWID;

-- where a document was met: the same article in several feeds is one document
CREATE TABLE sighting (
    source STRING, guid STRING, doc_id INTEGER NOT NULL REFERENCES document, first_seen MOMENT,
    PRIMARY KEY (source, guid)
) STRICT, WITHOUT ROWID;
CREATE INDEX sighting_document ON sighting (doc_id);

CREATE TABLE story (
    story_id TEXT PRIMARY KEY, founder STRING, born MOMENT, first MOMENT, last MOMENT, language STRING, parent STRING,
    lead COUNT, led_at MOMENT, n_documents COUNT, n_families COUNT, changed MOMENT,
    state TEXT NOT NULL CHECK (state IN ('open', 'closed', 'merged')), touched MOMENT, CHECK (first <= last)
) STRICT, WITHOUT ROWID;
CREATE INDEX story_state ON story (state);
-- the document that names a story, from a batch on
CREATE TABLE story_lead (
    story_id TEXT NOT NULL REFERENCES story, from_batch INTEGER NOT NULL REFERENCES batch,
    doc_id INTEGER NOT NULL REFERENCES document, PRIMARY KEY (story_id, from_batch)
) STRICT, WITHOUT ROWID;

-- the partition at every batch: a document is in the story of the row whose batches hold it
CREATE TABLE membership (
    doc_id INTEGER NOT NULL REFERENCES document, story_id TEXT NOT NULL REFERENCES story,
    from_batch INTEGER NOT NULL REFERENCES batch, to_batch INTEGER REFERENCES batch, PRIMARY KEY (doc_id, from_batch)
) STRICT, WITHOUT ROWID;
CREATE INDEX membership_story ON membership (story_id, to_batch);

CREATE TABLE lineage (
    seq INTEGER PRIMARY KEY, batch_id INTEGER NOT NULL REFERENCES batch, moment MOMENT,
    event TEXT NOT NULL, story_id TEXT NOT NULL REFERENCES story, other_id STRING,
    n_documents INTEGER NOT NULL CHECK (n_documents > 0), similarity LIKENESS NOT NULL,
    doc_id INTEGER REFERENCES document, reason TEXT NOT NULL DEFAULT '',
    CHECK (event IN ('born', 'grew', 'merged', 'split', 'moved', 'closed', 'resumed', 'renamed', 'pinned')),
    CHECK ((event IN ('born', 'grew', 'moved')) = (doc_id IS NOT NULL)), CHECK (doc_id IS NULL OR n_documents = 1),
    CHECK ((event IN ('merged', 'split', 'moved', 'resumed')) = (other_id <> ''))
) STRICT;
CREATE INDEX lineage_batch ON lineage (batch_id);
CREATE INDEX lineage_story ON lineage (story_id);

-- what an editor has said, in lists of doc_id, and in which batch it was taken back; see `corrections`
CREATE TABLE correction (
    batch_id INTEGER PRIMARY KEY REFERENCES batch, verb STRING, documents STRING, together STRING, apart STRING,
    text STRING, undone INTEGER REFERENCES batch CHECK (undone > batch_id),
    CHECK (verb IN ('merge', 'split', 'move', 'rename', 'pin', 'mute'))
) STRICT;

CREATE TABLE term (
    language STRING, number COUNT, term TEXT NOT NULL CHECK (term <> ''), n_articles COUNT,
    PRIMARY KEY (language, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX term_words ON term (language, term);
