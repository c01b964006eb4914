-- Views of a folder that `triptime export RUN --format fleet --out fleet` fills, for DuckDB started beside it:
--   duckdb -c ".read duckdb.sql" -c ".read worst-by-week.sql"
-- `at_utc` is the time in UTC. `host` and `day` of windows, spikes and changes come from the names of the folders, so a condition on them leaves files unread.
CREATE OR REPLACE VIEW windows AS
SELECT *, make_timestamp_ns(started_ns + start_ns) AS at_utc
FROM read_parquet('fleet/windows/*/*/*.parquet', hive_partitioning = true, union_by_name = true);

CREATE OR REPLACE VIEW spikes AS
SELECT * EXCLUDE (at_ns), at_ns, make_timestamp_ns(started_ns + at_ns) AS at_utc
FROM read_parquet('fleet/spikes/*/*/*.parquet', hive_partitioning = true, union_by_name = true);

CREATE OR REPLACE VIEW changes AS
SELECT *, make_timestamp_ns(started_ns + at_ns) AS at_utc
FROM read_parquet('fleet/changes/*/*/*.parquet', hive_partitioning = true, union_by_name = true);

-- Small, and asked for several times in a query, so read once.
CREATE OR REPLACE TABLE days AS
SELECT * REPLACE (CAST(day AS DATE) AS day)
FROM read_parquet('fleet/days/*/*.parquet', hive_partitioning = false, union_by_name = true);

CREATE OR REPLACE TABLE facts AS
SELECT * FROM read_parquet('fleet/facts/*/*.parquet', hive_partitioning = false, union_by_name = true);

-- The date, in UTC, of an instant in ns since 1970.
CREATE OR REPLACE MACRO day_of(ns) AS CAST(make_timestamp_ns(ns) AS DATE);
