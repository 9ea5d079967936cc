#!/bin/bash
# SPDX-License-Identifier: MIT
# Cases that every report must hold: same bytes always, alone, whole after an abort, whatever devices and people write.
. "$(dirname "$0")/lib.sh"
lint="python3 $ROOT/tests/tools/xlsx_lint.py"
KINDS='a.xlsx a.html a.txt a.json a/'

# made FOLDER ENV...: run 1 in every kind, in that folder, with such an environment
made() {
	local to=$1 kind
	shift
	mkdir -p "$to"
	for kind in $KINDS; do
		run env "$@" "$PTS" report 1 --db pts.db -o "$to/$kind"
		exit_is 0
		err_empty
	done
}

"$PTS" run tp --quick -q --dut 'sim:ent-nvme?size=10g&seed=3' >"$OUT" 2>"$ERR"
made first LC_ALL=C TZ=UTC
began=$SECONDS

t 'U54: a report asks for no network and no other program'
if unshare -n true 2>/dev/null; then
	mkdir alone
	for kind in $KINDS; do run unshare -n "$PTS" report 1 -o alone/$kind; exit_is 0; done
	true_that diff -r first alone
else
	skip 'no network namespace of our own here'
fi
made bare -i PATH=/nonexistent
true_that diff -r first bare

t 'U49: further runs, another locale and time zone, a minute or so later: the same bytes'
"$PTS" run lat --quick -q --dut 'sim:ent-nvme?size=10g&seed=4' >"$OUT" 2>"$ERR"
"$PTS" run tp --quick -q --dut 'sim:ent-nvme?size=10g&seed=3' >"$OUT" 2>"$ERR"
pts db backup copy.db
exit_is 0
[ $((SECONDS - began)) -ge 2 ] || sleep 2 # times in a zip are of two seconds
made again LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 TZ=America/St_Johns
true_that diff -r first again
pts report 1 --db copy.db -o copy.xlsx
true_that cmp first/a.xlsx copy.xlsx
locale -a | grep -qi de_DE.utf || skip 'no de_DE.UTF-8 here'

t 'U47: names of targets, runs and files are never commands, SQL or paths'
for name in "x;touch pwned" '/dev/$(touch pwned)' "x' OR '1'='1" '`touch pwned`'; do
	pts run tp --quick -q --dut "$name" --db u47.db
	[ "$RC" -ge 2 ] || fail "--dut $name: exit $RC"
	pts report "$name" -o u47.xlsx
	exit_is 2
	err_lines 1
done
pts report 1 -o "a;touch pwned.xlsx"
exit_is 0
pts report 1 --db "pts.db'; touch pwned" -o u47.xlsx
exit_is 2
file_absent pwned
file_absent u47.xlsx
file_absent u47.db
true_that test -s "a;touch pwned.xlsx"

t 'U50: exactly 10^10 bytes written are 10.000 GB, in each kind of report'
"$PTS" run tp -q --dut 'sim:ent-nvme?size=5000000000&seed=3' --db gb.db >"$OUT" 2>"$ERR"
cell=$(ask gb.db 'SELECT cell_id FROM v_cell WHERE host_bytes_written = 10000000000 ORDER BY cell_id LIMIT 1')
true_that test -n "$cell"
pts report --db gb.db -o gb/
exit_is 0
run python3 - "$cell" <<'PY'
import csv, sys
for r in csv.DictReader(open('gb/D_rounds.csv', newline='')):
    if r['cell_id'] == sys.argv[1]:
        print(r['written GB'])
PY
out_is 10
pts report --db gb.db -o gb.txt
file_has gb.txt '10 GB (2.00 x capacity)'

# ---- U48 ----

mkdir defs
cat >defs/t.pts <<'END'
test slow "Slow test" clause X
  purge
  loop rounds 6 until steady
    foreach mix in 100/0 65/35 0/100
      run rnd rw $mix bs 4k threads 1 qd 2 for 60ms
    end
    track iops of rw 0/100 bs 4k
  end
end
END
for sig in INT TERM KILL; do
	t "U48: SIG$sig in the midst of a run: what is written is whole, and says that the run is not"
	PTS_DEF_PATH=$W/defs start $sig.db slow --dut "file:f-$sig?size=16m"
	wait_cells $sig.db 4
	stop $sig
	for kind in xlsx html json; do
		pts report --db $sig.db -o k.$kind
		exit_is 0
		err_empty
	done
	run $lint k.xlsx
	exit_is 0
	run cat k.json
	json_is '(d["runs"][0]["state"], d["runs"][0]["conformant"])' "('interrupted', False)"
	file_has k.html 'NOT CONFORMANT'
	pts export --db $sig.db --json
	exit_is 0
	json_is 'type(d).__name__' dict
done

# ---- U51 ----

t 'U51: two runs with different cells: their union, what only one has is n/a, three conditions named'
printf '[drive]\nlike = ent-nvme\nmodel = Model A\ninterface = sim A\n' >a.ini
printf '[drive]\nlike = ent-nvme\nmodel = Model B\ninterface = sim B\nlba = 4096\n' >b.ini
"$PTS" run lat --quick -q --dut 'sim:a.ini?size=10g&seed=4' --db u51.db >"$OUT" 2>"$ERR"
"$PTS" run tp lat --quick -q --dut 'sim:b.ini?size=10g&seed=4' --db u51.db >"$OUT" 2>"$ERR"
pts compare 1 2 --db u51.db -o cmp.json
exit_is 1
err_match '[3-9] conditions differ \(.*LBA size'
run cat cmp.json
json_is 'd["conditions_differ"] >= 3, d["comparable"]' '(True, False)'
json_is '{"LBA size", "interface", "plan"} <= {c["condition"] for c in d["conditions"] if c["gate"] == "differs"}' True
json_is '[c["values"] for c in d["conditions"] if c["condition"] == "LBA size"]' "[['512 bytes', '4096 bytes']]"
json_is '[sum(m["runs"][i]["value"] is None for m in d["metrics"] if m["test"] == "tp") for i in (0, 1)]' '[4, 0]'
json_is '[sum(m["runs"][i]["value"] is not None for m in d["metrics"] if m["test"] == "lat") for i in (0, 1)]' '[3, 3]'
pts compare 1 2 --db u51.db -o cmp.txt
exit_is 1
true_that grep -qE '[3-9] of [0-9]+ checks differ' cmp.txt
for value in '512 bytes' '4096 bytes' 'sim A' 'sim B'; do file_has cmp.txt "$value"; done
true_that grep -qE '^TP SEQ 128 KiB W T1Q32 .* n/a +2700.5 ' cmp.txt
pts compare 1 2 --db u51.db -o cmp.xlsx
exit_is 1
run $lint cmp.xlsx
exit_is 0
