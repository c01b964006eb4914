-- The largest sample of each series for each host and week, with what was lost or not measured: a small maximum of few samples says little.
SELECT
    host,
    date_trunc('week', day) AS week,
    series,
    max(max_ns) / 1e3 AS max_us,
    sum(received) AS samples,
    sum(lost) AS lost,
    sum(missed) AS missed,
    count(DISTINCT day) AS days
FROM days
GROUP BY host, date_trunc('week', day), series
ORDER BY host, series, week;
