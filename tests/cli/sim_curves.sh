#!/bin/bash
# SPDX-License-Identifier: MIT
# The built-in simulated drives, at full length: curves of the kind that published reports show.
. "$(dirname "$0")/lib.sh"

pts run wsat dirth --dut 'sim:ent-nvme?seed=9' --db ent.db -q
ENT=$RC
pts run wsat dirth --dut 'sim:client-slc?seed=9' --profile client --db client.db -q
CLIENT=$RC

# Minutes of WSAT: n from 1, IOPS, drive fills at its end.
M="WITH m AS (SELECT row_number() OVER (ORDER BY cell_id) AS n, iops, sum(write_bytes) OVER (ORDER BY cell_id) * 1.0 /
	(SELECT capacity_bytes FROM v_run) AS fills FROM v_cell WHERE test = 'wsat' AND phase <> 'histogram')"

t 'write saturation, enterprise: a plateau, a cliff, a steady region within four drive fills'
same $ENT 0 'exit code'
sql_is ent.db "SELECT steady, rounds BETWEEN 5 AND 6 FROM v_test WHERE test = 'wsat'" '1|1'
sql_is ent.db "$M SELECT min(iops) > 0.98 * max(iops), max(n) > 12 FROM m WHERE fills < 1.05" '1|1'
sql_is ent.db "$M SELECT max(iops) < 0.45 * (SELECT iops FROM m WHERE n = 1) FROM m WHERE fills > 1.25" 1
sql_is ent.db "$M SELECT max(iops) / min(iops) < 1.04, max(fills) < 4, min(iops) > 100000, max(iops) < 200000 FROM m WHERE fills > 2.2" '1|1|1|1'

t 'write saturation, client: the SLC cache, the flash behind it, garbage collection'
same $CLIENT 0 'exit code'
sql_is client.db "$M SELECT iops > 3 * (SELECT iops FROM m WHERE n = 3) FROM m WHERE n = 1" 1
sql_is client.db "$M SELECT min(iops) > 0.95 * max(iops) FROM m WHERE n > 2 AND fills < 1" 1
sql_is client.db "$M SELECT max(iops) < 0.6 * (SELECT iops FROM m WHERE n = 3) FROM m WHERE fills > 1.5" 1

# IOPS and ART over total outstanding IOs, in the measurement window.
D="WITH d AS (SELECT oio, sum(ios) * 1e9 / sum(elapsed_ns) AS y, total(lat_sum_ns) / sum(ios) AS art FROM v_cell
	WHERE test = 'dirth' AND section = 2 AND phase = 'round' AND in_window GROUP BY oio),
	s AS (SELECT oio, y, art, lag(y) OVER (ORDER BY oio) AS y0, lag(art) OVER (ORDER BY oio) AS art0 FROM d)"
for d in ent client; do
	t "demand intensity, $d: depth lifts IOPS, then only response times"
	sql_is $d.db "$D SELECT count(*), sum(y < 0.98 * y0), sum(art < 0.98 * art0) FROM s" '18|0|0'
	sql_is $d.db "$D SELECT (SELECT y FROM d WHERE oio = 8) > 3 * (SELECT y FROM d WHERE oio = 1)" 1
	sql_is $d.db "$D SELECT (SELECT y FROM d WHERE oio = 1024) < 1.02 * (SELECT y FROM d WHERE oio = 256)" 1
	sql_is $d.db "$D SELECT (SELECT y FROM d WHERE oio = 1024) > 0.98 * (SELECT max(y) FROM d)" 1
	sql_is $d.db "$D SELECT (SELECT art FROM d WHERE oio = 1024) > 5e6" 1

	t "operating points, $d: five nines of the window's IOs"
	sql_is $d.db "SELECT threads * qd BETWEEN 32 AND 256 FROM v_point WHERE point = 'max'" 1
	sql_is $d.db "SELECT count(*), count(lat_p99999_ns), min(lat_p99999_ns > 3 * art_ns) FROM v_point" '3|3|1'
	# the bucket that holds the IO of rank ceil(0.99999 n)
	sql_is $d.db "WITH h AS (SELECT p.point, p.lat_p99999_ns AS v, h.low_ns, h.high_ns, sum(h.count) AS k FROM v_point p
		JOIN v_cell c ON c.test = p.test AND c.section = p.section AND c.phase = 'round' AND c.in_window AND c.threads = p.threads AND c.qd = p.qd
		JOIN v_histogram h USING (cell_id) GROUP BY p.point, h.low_ns),
		r AS (SELECT *, sum(k) OVER (PARTITION BY point ORDER BY low_ns) AS upto, sum(k) OVER (PARTITION BY point) AS n FROM h)
		SELECT group_concat(point) FROM (SELECT point FROM r WHERE upto >= (n * 99999 + 99999) / 100000 AND
			upto - k < (n * 99999 + 99999) / 100000 AND v >= low_ns AND v < high_ns ORDER BY point)" max,mid,min
	t "tails, $d: the point of most IOPS waits longest"
	sql_is $d.db "SELECT group_concat(point) FROM (SELECT point FROM v_point ORDER BY lat_p99999_ns)" min,mid,max
done

t 'too few IOs for five nines: n/a'
mkdir defs
cat >defs/p.pts <<'END'
test p "Few" clause X
  purge
  foreach depth in 2 1
    run rnd-4k-r threads 1 qd $depth for 1s
  end
  pick few at threads 1 qd 1
  pick most by highest iops tie 0% lowest oio
end
END
PTS_DEF_PATH=defs pts run p --dut sim:ent-nvme --db p.db -q
exit_is 0
sql_is p.db "SELECT point, qd, lat_p99999_ns IS NULL FROM v_point ORDER BY point" 'few|1|1
most|2|1'
