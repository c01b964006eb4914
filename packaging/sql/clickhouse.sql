-- Views of a folder that `triptime export RUN --format fleet --out fleet` fills, for ClickHouse:
--   clickhouse local --multiquery --queries-file clickhouse.sql --queries-file worst-by-week.sql
-- A server reads only what lies in its user_files folder. `at_utc` is the time in UTC.
CREATE OR REPLACE VIEW windows AS
SELECT *, fromUnixTimestamp64Nano(started_ns + start_ns, 'UTC') AS at_utc FROM file('fleet/windows/*/*/*.parquet', Parquet);

CREATE OR REPLACE VIEW spikes AS
SELECT *, fromUnixTimestamp64Nano(started_ns + at_ns, 'UTC') AS at_utc FROM file('fleet/spikes/*/*/*.parquet', Parquet);

CREATE OR REPLACE VIEW changes AS
SELECT *, fromUnixTimestamp64Nano(started_ns + at_ns, 'UTC') AS at_utc FROM file('fleet/changes/*/*/*.parquet', Parquet);

-- Small, and asked for several times in a query, so read once.
CREATE OR REPLACE TABLE days ENGINE = Memory AS
SELECT * REPLACE (toDate(day) AS day) FROM file('fleet/days/*/*.parquet', Parquet);

CREATE OR REPLACE TABLE facts ENGINE = Memory AS
SELECT * FROM file('fleet/facts/*/*.parquet', Parquet);

-- The date, in UTC, of an instant in ns since 1970.
CREATE OR REPLACE FUNCTION day_of AS (ns) -> toDate(fromUnixTimestamp64Nano(ns, 'UTC'));
