-- SPDX-License-Identifier: MIT
-- Ten questions to the tables of `nsdump export TRACE --format parquet -o FOLDER`, for DuckDB:
--     cd FOLDER && duckdb <queries.sql
-- If FOLDER was written with --partition, read 'slices/**/*.parquet' and 'units/**/*.parquet' here.
CREATE VIEW slices AS SELECT * FROM read_parquet('slices.parquet');
CREATE VIEW units AS SELECT * FROM read_parquet('units.parquet');
CREATE VIEW losses AS SELECT * FROM read_parquet('losses.parquet');
-- The clock's rate is in the files' metadata; without it, times in nanoseconds are null.
CREATE VIEW clock AS
SELECT max(try_cast(decode(value) AS DOUBLE)) FILTER (decode(key) = 'netslice.clock.hz') AS hz
FROM parquet_kv_metadata('slices.parquet');
-- What `nsdump stats` includes in its figures: slices on one CPU, whose contents are known.
CREATE VIEW whole AS
SELECT slices.*, raw_ticks / hz * 1e9 AS raw_ns, net_ticks / hz * 1e9 AS net_ns
FROM slices, clock
WHERE class NOT IN ('migrated', 'spans-loss', 'crossed');

-- 1. What does each function cost, and how often much more than usual?
SELECT name, count(*) AS slices, avg(net_ns) AS mean_net_ns,
       quantile_cont(net_ns, [0.5, 0.9, 0.99, 0.999]) AS p50_p90_p99_p999_net_ns
FROM whole
GROUP BY name
ORDER BY sum(net_ns) DESC;

-- 2. Which functions take the time of the outermost slices?
SELECT name, sum(net_ticks) / (SELECT sum(net_ticks) FROM whole WHERE depth = 0) AS share
FROM whole
GROUP BY name
ORDER BY share DESC;

-- 3. What does each function cost per packet of the units it ran in?
SELECT name, sum(net_ns) / (SELECT sum(packets) FROM units WHERE units.unit = whole.unit)
             AS net_ns_per_packet
FROM whole
WHERE unit IS NOT NULL
GROUP BY name, unit
ORDER BY net_ns_per_packet DESC;

-- 4. Which units were the worst, per packet, and what was in them?
SELECT units.unit, units.unit_number, packets, wire_bytes, units.start_ns,
       sum(net_ns) FILTER (depth = 0) / nullif(packets, 0) AS net_ns_per_packet,
       arg_max(name, net_ns) AS longest_slice
FROM units JOIN whole USING (unit_id)
GROUP BY units.unit, units.unit_number, packets, wire_bytes, units.start_ns
ORDER BY net_ns_per_packet DESC NULLS LAST
LIMIT 10;

-- 5. Does a function become slower while the program runs?
SELECT name, regr_slope(net_ns, start_ns / 1e9) AS net_ns_per_second,
       regr_r2(net_ns, start_ns / 1e9) AS explained,
       avg(net_ns) FILTER (tenth = 0) AS first_tenth_net_ns,
       avg(net_ns) FILTER (tenth = 9) AS last_tenth_net_ns
FROM (SELECT *, ntile(10) OVER (PARTITION BY name ORDER BY start_ticks) - 1 AS tenth FROM whole)
GROUP BY name
ORDER BY name;

-- 6. How is the work shared among the CPUs?
SELECT cpu, kernel, count(*) AS slices, sum(net_ns) FILTER (depth = 0) / 1e6 AS net_ms,
       sum(net_ticks) FILTER (depth = 0)
           / (SELECT sum(net_ticks) FROM whole WHERE depth = 0) AS share
FROM whole
GROUP BY cpu, kernel
ORDER BY cpu, kernel;

-- 7. When were records lost, and how many?
SELECT to_ns // 1000000 AS until_ms, cpu, kernel, sum(records) AS records,
       sum(missing_chunks) AS missing_chunks
FROM losses
GROUP BY until_ms, cpu, kernel
ORDER BY until_ms NULLS LAST, cpu;

-- 8. Which slices are left out of the figures above, or were interrupted?
SELECT name, class, count(*) AS slices,
       count(*) / sum(count(*)) OVER (PARTITION BY name) AS share
FROM slices
GROUP BY name, class
ORDER BY name, slices DESC;

-- 9. How many packets were there in each millisecond, and what did one cost?
SELECT units.start_ns // 1000000 AS ms, sum(packets) AS packets, sum(unit_net_ns) / sum(packets)
       AS net_ns_per_packet
FROM units JOIN (
    SELECT unit_id, sum(net_ns) AS unit_net_ns FROM whole WHERE depth = 0 GROUP BY unit_id
) USING (unit_id)
GROUP BY ms
ORDER BY ms;

-- 10. How are the times of each function distributed, in powers of two?
SELECT name, floor(log2(greatest(net_ns, 1)))::INTEGER AS power, count(*) AS slices
FROM whole
WHERE net_ns IS NOT NULL
GROUP BY name, power
ORDER BY name, power;
