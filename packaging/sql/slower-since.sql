-- Changes after which a host was slower: the median of the largest sample of each day, in the 14 days before and in the 14 days from the change on.
-- A change is one that was seen during a run, or a fact of the inventory that is another than in the host's run before. That both came at the same time
-- is no proof: changes of one day are listed side by side. The day of the change counts as after it.
WITH
steps AS (
    SELECT host, started_ns, topic, name, coalesce(value, concat('unknown: ', unknown)) AS value,
           lag(coalesce(value, concat('unknown: ', unknown))) OVER (PARTITION BY host, topic, name ORDER BY started_ns) AS earlier,
           row_number() OVER (PARTITION BY host, topic, name ORDER BY started_ns) AS number
    FROM facts
    WHERE topic IN ('kernel', 'kernel arguments', 'cpu', 'power', 'isolation', 'scheduler', 'memory', 'services', 'network', 'virtualisation',
                    'clock', 'machine')
      AND name NOT IN ('boot id', 'uptime', 'available', 'stolen time', 'load average (1, 5, 15 min)')
      AND name NOT LIKE '% interrupts'
),
moments AS (
    SELECT host, started_ns AS when_ns, topic AS subject, name, earlier AS before, value AS after
    FROM steps WHERE number > 1 AND earlier <> value
    UNION ALL
    SELECT host, started_ns + at_ns AS when_ns, subject, name, coalesce(before, '') AS before, coalesce(after, '') AS after
    FROM changes
),
dated AS (
    SELECT host, subject, name, before, after, day_of(when_ns) AS changed FROM moments
),
around AS (
    SELECT dated.host AS host, days.series AS series, dated.changed AS changed, dated.subject AS subject, dated.name AS name,
           dated.before AS before, dated.after AS after,
           median(CASE WHEN days.day < dated.changed THEN days.max_ns END) / 1e3 AS before_us,
           median(CASE WHEN days.day >= dated.changed THEN days.max_ns END) / 1e3 AS after_us,
           count(DISTINCT CASE WHEN days.day < dated.changed AND days.max_ns IS NOT NULL THEN days.day END) AS days_before,
           count(DISTINCT CASE WHEN days.day >= dated.changed AND days.max_ns IS NOT NULL THEN days.day END) AS days_after
    FROM dated JOIN days ON dated.host = days.host
    WHERE days.day >= dated.changed - INTERVAL 14 DAY AND days.day < dated.changed + INTERVAL 14 DAY
    GROUP BY dated.host, days.series, dated.changed, dated.subject, dated.name, dated.before, dated.after
)
SELECT host, series, changed, subject, name, before, after, before_us, after_us, after_us / before_us AS ratio, days_before, days_after
FROM around
WHERE days_before >= 3 AND days_after >= 3 AND after_us > 1.2 * before_us
ORDER BY ratio DESC, host, series, changed, subject, name;
