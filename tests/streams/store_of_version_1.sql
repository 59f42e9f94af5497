-- The tables of version 1, as the first release wrote them, and a stream of four articles in them: two stories become one.
PRAGMA application_id = 1685021539;
PRAGMA user_version = 1;

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- one clustering of what had come in: the moments at which the partition changed
CREATE TABLE batch (
    batch_id INTEGER PRIMARY KEY, moment INTEGER NOT NULL, kind TEXT NOT NULL, n_documents INTEGER NOT NULL
) STRICT;

CREATE TABLE feed (
    feed_id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, title TEXT NOT NULL, category TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'failing', 'gone')), etag TEXT NOT NULL, last_modified TEXT NOT NULL,
    body_hash TEXT NOT NULL, interval_s INTEGER NOT NULL, next_poll_at INTEGER NOT NULL, failures INTEGER NOT NULL,
    redirect_to TEXT NOT NULL, redirect_seen INTEGER NOT NULL, last_ok_at INTEGER NOT NULL,
    last_full_at INTEGER NOT NULL, last_asked_at INTEGER NOT NULL, reason TEXT NOT NULL
) STRICT;
CREATE TABLE feed_alias (url TEXT PRIMARY KEY, feed_id INTEGER NOT NULL REFERENCES feed) STRICT, WITHOUT ROWID;
CREATE TABLE fetch (
    fetch_id INTEGER PRIMARY KEY, feed_id INTEGER NOT NULL REFERENCES feed, at INTEGER NOT NULL, url TEXT NOT NULL,
    status INTEGER NOT NULL, n_bytes INTEGER NOT NULL, reason TEXT NOT NULL, n_entries INTEGER NOT NULL,
    n_new INTEGER NOT NULL
) STRICT;

CREATE TABLE document (
    doc_id INTEGER PRIMARY KEY, doc_key TEXT NOT NULL UNIQUE, id TEXT NOT NULL, published INTEGER NOT NULL,
    date TEXT NOT NULL, first_seen INTEGER NOT NULL, batch_id INTEGER REFERENCES batch, number INTEGER,
    language TEXT NOT NULL, source TEXT NOT NULL, link TEXT NOT NULL, guid TEXT NOT NULL, title TEXT NOT NULL,
    text TEXT NOT NULL, text_hash TEXT NOT NULL, n_versions INTEGER NOT NULL, family INTEGER, first_story TEXT,
    in_sums INTEGER NOT NULL, similarity REAL, margin REAL, vectors BLOB, shingles BLOB
) STRICT;
CREATE INDEX document_waiting ON document (published, doc_key) WHERE batch_id IS NULL;
CREATE INDEX document_number ON document (number) WHERE number IS NOT NULL;
CREATE INDEX document_family ON document (family);
CREATE INDEX document_vectors ON document (doc_id) WHERE vectors IS NOT NULL;
CREATE INDEX document_shingles ON document (published) WHERE shingles IS NOT NULL;

CREATE TABLE document_version (
    doc_id INTEGER NOT NULL REFERENCES document, version INTEGER NOT NULL, seen INTEGER NOT NULL, title TEXT NOT NULL,
    text TEXT NOT NULL, text_hash TEXT NOT NULL, PRIMARY KEY (doc_id, version)
) STRICT, WITHOUT ROWID;

-- where a document was met: the same article in several feeds is one document
CREATE TABLE sighting (
    source TEXT NOT NULL, guid TEXT NOT NULL, doc_id INTEGER NOT NULL REFERENCES document, first_seen INTEGER NOT NULL,
    PRIMARY KEY (source, guid)
) STRICT, WITHOUT ROWID;
CREATE INDEX sighting_document ON sighting (doc_id);

CREATE TABLE story (
    story_id TEXT PRIMARY KEY, founder TEXT NOT NULL, born INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, reference INTEGER NOT NULL, language TEXT NOT NULL, parent TEXT NOT NULL,
    lead INTEGER NOT NULL, led_at INTEGER NOT NULL, n_documents INTEGER NOT NULL, n_families INTEGER NOT NULL,
    changed INTEGER NOT NULL, split_checked INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'closed', 'merged')), is_forgotten INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX story_living ON story (is_forgotten, state);
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
    seq INTEGER PRIMARY KEY, batch_id INTEGER NOT NULL REFERENCES batch, moment INTEGER NOT NULL,
    event TEXT NOT NULL, story_id TEXT NOT NULL REFERENCES story, other_id TEXT NOT NULL, n_documents INTEGER NOT NULL,
    similarity REAL NOT NULL
) STRICT;
CREATE INDEX lineage_batch ON lineage (batch_id);
CREATE INDEX lineage_story ON lineage (story_id);

CREATE TABLE term (number INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, settled INTEGER NOT NULL) STRICT;

INSERT INTO meta VALUES ('settings', '{"across_languages": false, "close_after_least": 864000, "close_after_most": 1209600, "close_gaps": 3.0, "copy_window": 1209600, "half_life": 259200, "join": 0.5, "least_families": 6, "merge": 0.7, "merge_gap": 259200, "n_newest": 5, "quiet": 86400, "resume": 0.5, "resume_within": 2592000, "split": 0.25, "time_scale": 259200}');
INSERT INTO meta VALUES ('n_settled', '{"english": 4}'), ('next_number', '5'), ('next_term', '3');
INSERT INTO meta VALUES ('settled_batch', '2'), ('settled_day', '20514');
INSERT INTO batch VALUES (1, 1772442000, 'replay', 3), (2, 1772445600, 'replay', 1);
INSERT INTO document VALUES
    (1, '447493d45f71abbee0bf', 'a1', 1772438400, '2026-03-02', 1772442000, 1, 1, 'english', 'wire', '', 'a1', 'Ferry aground', 'Off Skerrow', 'c05bc5541f74604b4e54', 1, 1, 'sxc472ol', 1, NULL, NULL,
        X'000000000000803f0000803f00000000', X'00d65060a312b56db8a1afa2b68962f6ed'),
    (2, '45dc7c089efe946affe4', 'a2', 1772438460, '2026-03-02', 1772442000, 1, 2, 'english', 'wire', '', 'a2', 'Hull examined', 'By divers', '6a41fc1fd5a1680868cd', 1, 2, 'ag4he3bz', 1, NULL, NULL,
        X'010000000000803f0000803f00000000', X'002bb438f5637c0740fab30e3c0c17a0aa'),
    (3, '99970bf776eff239a786', 'a3', 1772438520, '2026-03-02', 1772442000, 1, 3, 'english', 'post', '', 'a3', 'Rates unchanged', 'Says the bank', 'f12c9b35ef6b21dfac26', 1, 3, 'upy6qhzi', 1, NULL, NULL,
        X'020000000000803f0000803f00000000', X'0035ae28e12da325311d0042ec65bf794e5cc66ce236f6f1d9'),
    (4, '16d30a4c5e910c2c947c', 'a4', 1772442060, '2026-03-02', 1772445600, 2, 4, 'english', 'post', '', 'a4', 'Ferry refloated', 'At high tide', '0b0c4c699acfa814b6fc', 1, 4, 'sxc472ol', 1, 0.5, 0.2,
        X'000000000000803f0000803f00000000', X'00f2598a3882c53421f165e9902489664648ffc552cdb63163');
INSERT INTO sighting VALUES
    ('wire', 'a1', 1, 1772442000), ('wire', 'a2', 2, 1772442000), ('post', 'a3', 3, 1772442000),
    ('post', 'a4', 4, 1772445600);
INSERT INTO story VALUES
    ('sxc472ol', '447493d45f71abbee0bf', 1772438400, 1772438400, 1772442060, 1772438400, 'english', '', 1, 1, 3, 3, 1772445600, 0, 'open', 0),
    ('ag4he3bz', '45dc7c089efe946affe4', 1772438460, 1772438460, 1772438460, 1772438460, 'english', '', 2, 1, 1, 1, 0, 0, 'merged', 1),
    ('upy6qhzi', '99970bf776eff239a786', 1772438520, 1772438520, 1772438520, 1772438520, 'english', '', 3, 1, 1, 1, 0, 0, 'open', 0);
INSERT INTO story_lead VALUES ('sxc472ol', 1, 1), ('ag4he3bz', 1, 2), ('upy6qhzi', 1, 3);
INSERT INTO membership VALUES
    (1, 'sxc472ol', 1, NULL), (2, 'ag4he3bz', 1, 2), (2, 'sxc472ol', 2, NULL), (3, 'upy6qhzi', 1, NULL),
    (4, 'sxc472ol', 2, NULL);
INSERT INTO lineage VALUES
    (1, 1, 1772438400, 'born', 'sxc472ol', '', 1, 0), (2, 1, 1772438460, 'born', 'ag4he3bz', '', 1, 0),
    (3, 1, 1772438520, 'born', 'upy6qhzi', '', 1, 0), (4, 2, 1772442060, 'grew', 'sxc472ol', '', 1, 0.5),
    (5, 2, 1772445600, 'merged', 'sxc472ol', 'ag4he3bz', 1, 0.8);
INSERT INTO term VALUES (0, 'ferry', 2), (1, 'hull', 1), (2, 'rates', 1);
