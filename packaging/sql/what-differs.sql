-- Hosts with the same hardware (processor, board, product): the facts by which each one differs from the one with the smallest wake-up latency among
-- them. Facts and latency are those of the latest complete run of a host with wake-ups; a fact that could not be read is told as unknown. A host whose hardware is not
-- known is left out, and so is one with less than a tenth of the samples that others of the same hardware have: a short run has a small maximum.
WITH
latest AS (
    SELECT facts.host AS host, max(facts.started_ns) AS started_ns
    FROM facts JOIN days ON facts.host = days.host AND facts.started_ns = days.started_ns
    WHERE facts.state = 'complete' AND days.series LIKE 'wakeup/%' GROUP BY facts.host
),
known AS (
    SELECT facts.host AS host, facts.topic AS topic, facts.name AS name,
           coalesce(facts.value, concat('unknown: ', facts.unknown)) AS value
    FROM facts JOIN latest ON facts.host = latest.host AND facts.started_ns = latest.started_ns
),
hardware AS (
    SELECT host,
           concat(max(CASE WHEN topic = 'machine' AND name = 'product' THEN value ELSE '' END), ', ',
                  max(CASE WHEN topic = 'machine' AND name = 'board' THEN value ELSE '' END), ', ',
                  max(CASE WHEN topic = 'cpu' AND name = 'model' THEN value ELSE '' END)) AS machine
    FROM known GROUP BY host
),
worst AS (
    SELECT days.host AS host, max(days.max_ns) / 1e3 AS max_us, sum(days.received) AS samples
    FROM days JOIN latest ON days.host = latest.host AND days.started_ns = latest.started_ns
    WHERE days.series LIKE 'wakeup/%' AND days.max_ns IS NOT NULL GROUP BY days.host
),
sized AS (
    SELECT hardware.host AS host, hardware.machine AS machine, worst.max_us AS max_us, worst.samples AS samples,
           max(worst.samples) OVER (PARTITION BY hardware.machine) AS most_samples
    FROM hardware JOIN worst ON hardware.host = worst.host
    WHERE hardware.machine NOT LIKE '%unknown: %' AND hardware.machine <> ', , '
),
ranked AS (
    SELECT host, machine, max_us, row_number() OVER (PARTITION BY machine ORDER BY max_us, host) AS place
    FROM sized WHERE samples * 10 >= most_samples
),
pairs AS (
    SELECT best.machine AS machine, best.host AS best, best.max_us AS best_us, other.host AS host, other.max_us AS max_us
    FROM ranked AS best JOIN ranked AS other ON best.machine = other.machine
    WHERE best.place = 1 AND other.place > 1
),
told AS (
    SELECT pairs.machine AS machine, pairs.best AS best, pairs.best_us AS best_us, pairs.host AS host, pairs.max_us AS max_us,
           known.topic AS topic, known.name AS name, known.value AS of_best, '' AS of_host
    FROM pairs JOIN known ON known.host = pairs.best
    UNION ALL
    SELECT pairs.machine, pairs.best, pairs.best_us, pairs.host, pairs.max_us, known.topic, known.name, '', known.value
    FROM pairs JOIN known ON known.host = pairs.host
),
compared AS (
    SELECT machine, best, best_us, host, max_us, topic, name, max(of_best) AS of_best, max(of_host) AS of_host
    FROM told
    WHERE topic IN ('kernel', 'kernel arguments', 'cpu', 'power', 'isolation', 'scheduler', 'memory', 'services', 'time', 'network',
                    'virtualisation', 'clock', 'machine')
      AND name NOT IN ('host name', 'boot id', 'uptime', 'available', 'stolen time', 'load average (1, 5, 15 min)')
      AND name NOT LIKE '% MAC' AND name NOT LIKE '% interrupts'
    GROUP BY machine, best, best_us, host, max_us, topic, name
)
SELECT machine, best, best_us, host, max_us, topic, name, of_best, of_host
FROM compared
WHERE of_best <> of_host
ORDER BY machine, max_us DESC, host, topic, name;
