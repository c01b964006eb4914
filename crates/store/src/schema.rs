//! The tables of a run file, and nothing else. Their meaning is described in `docs/formats/run-file.md`; a change that
//! an older reader would misread increases [`SCHEMA_VERSION`].

/// `PRAGMA application_id` of every run file: the letters `TRIP`.
pub const APPLICATION_ID: i64 = 0x5452_4950;

/// `PRAGMA user_version`: the schema that this version writes, and the highest one that it reads.
pub const SCHEMA_VERSION: i64 = 1;

/// Settings that only take effect on an empty database.
pub(crate) const BEFORE_TABLES: &str = "
PRAGMA page_size = 4096;
PRAGMA auto_vacuum = INCREMENTAL;
";

/// Tables and views.
pub(crate) const TABLES: &str = r"
CREATE TABLE run (
  one          INTEGER PRIMARY KEY CHECK (one = 1),
  id           TEXT    NOT NULL,
  command      TEXT    NOT NULL,
  tool_version TEXT    NOT NULL,
  started_ns   INTEGER NOT NULL,
  window_ns    INTEGER NOT NULL,
  state        TEXT    NOT NULL CHECK (state IN ('running', 'complete', 'interrupted')),
  duration_ns  INTEGER,
  documents    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE argument (
  position INTEGER PRIMARY KEY,
  text     TEXT    NOT NULL
) STRICT;

CREATE TABLE document (
  name TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE fact (
  position INTEGER PRIMARY KEY,
  topic    TEXT    NOT NULL,
  name     TEXT    NOT NULL,
  value    TEXT,
  unknown  TEXT,
  source   TEXT    NOT NULL,
  CHECK ((value IS NULL) <> (unknown IS NULL))
) STRICT;

CREATE TABLE series (
  id             INTEGER PRIMARY KEY,
  name           TEXT    NOT NULL UNIQUE,
  what           TEXT    NOT NULL,
  clock          TEXT    NOT NULL CHECK (clock IN ('monotonic', 'realtime')),
  interval_ns    REAL,
  threshold_ns   INTEGER,
  spikes_dropped INTEGER NOT NULL DEFAULT 0,
  kind           TEXT
) STRICT;

CREATE TABLE setting (
  series   INTEGER NOT NULL REFERENCES series (id),
  position INTEGER NOT NULL,
  name     TEXT    NOT NULL,
  value    TEXT    NOT NULL,
  PRIMARY KEY (series, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE window (
  series    INTEGER NOT NULL REFERENCES series (id),
  start_ns  INTEGER NOT NULL,
  end_ns    INTEGER NOT NULL,
  expected  INTEGER NOT NULL,
  received  INTEGER NOT NULL,
  lost      INTEGER NOT NULL,
  late      INTEGER NOT NULL,
  duplicate INTEGER NOT NULL,
  reordered INTEGER NOT NULL,
  clipped   INTEGER NOT NULL,
  missed    INTEGER NOT NULL,
  overflow  INTEGER NOT NULL,
  overrun   INTEGER NOT NULL,
  watched_ns INTEGER NOT NULL DEFAULT 0,
  conflicting INTEGER NOT NULL DEFAULT 0,
  unwanted INTEGER NOT NULL DEFAULT 0,
  wrong INTEGER NOT NULL DEFAULT 0,
  samples   INTEGER NOT NULL,
  sum_ns    INTEGER NOT NULL,
  mean_ns   REAL,
  min_ns    INTEGER,
  max_ns    INTEGER,
  p50_ns    INTEGER,
  p99_ns    INTEGER,
  p999_ns   INTEGER,
  p9999_ns  INTEGER,
  PRIMARY KEY (series, start_ns)
) STRICT, WITHOUT ROWID;

CREATE TABLE histogram (
  id       INTEGER PRIMARY KEY,
  series   INTEGER NOT NULL REFERENCES series (id),
  start_ns INTEGER NOT NULL,
  end_ns   INTEGER NOT NULL,
  windows  INTEGER NOT NULL,
  samples  INTEGER NOT NULL,
  hdr      BLOB    NOT NULL,
  UNIQUE (series, start_ns)
) STRICT;

CREATE TABLE spike (
  id       INTEGER PRIMARY KEY,
  series   INTEGER NOT NULL REFERENCES series (id),
  at_ns    INTEGER NOT NULL,
  value_ns INTEGER NOT NULL,
  cpu      INTEGER,
  sequence INTEGER,
  cause    TEXT,
  explanation TEXT
) STRICT;

CREATE INDEX spike_worst ON spike (series, value_ns DESC, id);

CREATE TABLE flight (
  series INTEGER NOT NULL REFERENCES series (id),
  at_ns  INTEGER NOT NULL,
  events BLOB    NOT NULL,
  PRIMARY KEY (series, at_ns)
) STRICT;

CREATE TABLE cause (
  series   INTEGER NOT NULL REFERENCES series (id),
  cause    TEXT    NOT NULL,
  samples  INTEGER NOT NULL,
  total_ns INTEGER NOT NULL,
  max_ns   INTEGER NOT NULL,
  PRIMARY KEY (series, cause)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
  id     INTEGER PRIMARY KEY,
  at_ns  INTEGER NOT NULL,
  kind   TEXT    NOT NULL,
  series INTEGER REFERENCES series (id),
  text   TEXT    NOT NULL,
  since_ns INTEGER
) STRICT;

CREATE TABLE shot (
  id           INTEGER PRIMARY KEY,
  number       INTEGER NOT NULL,
  at_ns        INTEGER NOT NULL,
  name         TEXT    NOT NULL,
  point_deg    REAL,
  sir          REAL,
  fault        TEXT,
  position     REAL,
  multiple     REAL,
  expected_ns  INTEGER,
  tolerance_ns INTEGER,
  outcome      TEXT    NOT NULL,
  trip_ns      INTEGER,
  uncertain_ns INTEGER,
  watched_ns   INTEGER,
  ramp         TEXT,
  edge         TEXT,
  reset_ns     INTEGER
) STRICT;

CREATE TABLE action (
  id       INTEGER PRIMARY KEY,
  name     TEXT    NOT NULL,
  step     INTEGER NOT NULL,
  step_ns  INTEGER NOT NULL,
  number   INTEGER NOT NULL,
  part     TEXT    NOT NULL CHECK (part IN ('run', 'undo')),
  line     TEXT    NOT NULL,
  due_ns   INTEGER,
  began_ns INTEGER,
  ended_ns INTEGER,
  settle_ns INTEGER NOT NULL,
  ending   TEXT    NOT NULL,
  status   INTEGER,
  said     TEXT    NOT NULL
) STRICT;

CREATE TABLE slices (
  id       INTEGER PRIMARY KEY,
  series   INTEGER NOT NULL REFERENCES series (id),
  start_ns INTEGER NOT NULL,
  slice_ns INTEGER NOT NULL,
  octets   BLOB    NOT NULL
) STRICT;

CREATE INDEX slices_of ON slices (series, start_ns, id);

CREATE TABLE reading (
  id       INTEGER PRIMARY KEY,
  name     TEXT    NOT NULL,
  unit     TEXT    NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns   INTEGER NOT NULL,
  samples  INTEGER NOT NULL,
  min      REAL,
  mean     REAL,
  max      REAL,
  unknown  INTEGER NOT NULL,
  why      TEXT
) STRICT;

CREATE TABLE change (
  id       INTEGER PRIMARY KEY,
  since_ns INTEGER NOT NULL,
  at_ns    INTEGER NOT NULL,
  subject  TEXT    NOT NULL,
  name     TEXT    NOT NULL,
  before   TEXT,
  after    TEXT,
  who      TEXT,
  cpus     TEXT,
  place    TEXT
) STRICT;

CREATE TABLE change_watch (
  id         INTEGER PRIMARY KEY,
  place      TEXT,
  from_ns    INTEGER NOT NULL,
  to_ns      INTEGER NOT NULL,
  looks      INTEGER NOT NULL,
  longest_ns INTEGER NOT NULL,
  cpu_ns     INTEGER NOT NULL,
  dropped    INTEGER NOT NULL,
  unread     TEXT    NOT NULL,
  audited_ns INTEGER
) STRICT;

CREATE TABLE last_fact (
  position INTEGER PRIMARY KEY,
  topic    TEXT    NOT NULL,
  name     TEXT    NOT NULL,
  value    TEXT,
  unknown  TEXT,
  source   TEXT    NOT NULL,
  CHECK ((value IS NULL) <> (unknown IS NULL))
) STRICT;

CREATE TABLE segment (
  id       INTEGER PRIMARY KEY,
  first_ns INTEGER NOT NULL,
  last_ns  INTEGER NOT NULL,
  samples  INTEGER NOT NULL,
  octets   BLOB    NOT NULL
) STRICT;

CREATE VIEW summary AS
SELECT series.name AS series,
       count(*) AS windows,
       sum(expected) AS expected, sum(received) AS received, sum(lost) AS lost, sum(late) AS late,
       sum(duplicate) AS duplicate, sum(conflicting) AS conflicting, sum(reordered) AS reordered, sum(missed) AS missed, sum(clipped) AS clipped,
       sum(overflow) AS overflow, sum(overrun) AS overrun, sum(unwanted) AS unwanted, sum(wrong) AS wrong, sum(samples) AS samples,
       min(min_ns) AS min_ns, total(sum_ns) / nullif(sum(samples), 0) AS mean_ns, max(max_ns) AS max_ns
FROM series JOIN window ON window.series = series.id
GROUP BY series.id ORDER BY series.id;

CREATE VIEW worst AS
SELECT series.name AS series, spike.value_ns,
       strftime('%Y-%m-%dT%H:%M:%fZ', (run.started_ns + spike.at_ns) / 1e9, 'unixepoch') AS at,
       spike.cpu, spike.sequence, spike.cause
FROM spike JOIN series ON series.id = spike.series JOIN run
ORDER BY spike.value_ns DESC, spike.id;

CREATE VIEW timeline AS
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', (run.started_ns + event.at_ns) / 1e9, 'unixepoch') AS at,
       event.kind, series.name AS series, event.text
FROM run JOIN event LEFT JOIN series ON series.id = event.series
ORDER BY event.at_ns, event.id;
";
