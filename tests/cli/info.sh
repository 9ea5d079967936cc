#!/bin/bash
# SPDX-License-Identifier: MIT
# --info FILE: what no tool can read. Stored, shown in reports, checked word by word.
. "$(dirname "$0")/lib.sh"

mkdir defs
printf 'test one "One" clause X\n purge\n run rnd-4k-w threads 1 qd 1 for 1m\nend\n' >defs/one.pts
export PTS_DEF_PATH=$W/defs
DUT='sim:pm?size=1g'

cat >lab.ini <<'END'
# who and what
[lab]
operator = Ada Ö. Lovelace
sponsor = Analytical Engines; Ltd
customer = Babbage
ambient = 23 C
[drive]
nand_type = TLC, 176 layers
plp = yes
form_factor = U.2 15 mm
rated_tbw = 1.4 PB
price = 310 EUR
x_asset = 0042
END

t 'every value is stored and shown in reports'
pts run one --dut "$DUT" --db a.db --info lab.ini -q
exit_is 0
sql_is a.db "SELECT key, value FROM v_info ORDER BY key" 'ambient|23 C
customer|Babbage
form_factor|U.2 15 mm
nand_type|TLC, 176 layers
operator|Ada Ö. Lovelace
plp|yes
price|310 EUR
rated_tbw|1.4 PB
sponsor|Analytical Engines; Ltd
x_asset|0042'
for f in r.txt r.json; do
	pts report 1 --db a.db -o $f -q
	exit_is 0
done
for value in 'Ada Ö. Lovelace' 'Analytical Engines; Ltd' '23 C' 'U.2 15 mm' '310 EUR' '1.4 PB' 0042; do
	file_has r.txt "$value"
done
true_that python3 -c 'import json; assert json.load(open("r.json"))["runs"][0]["info"]["x_asset"] == "0042"'

t 'the plan: hours, bytes, drive writes, share of the rated endurance'
pts plan lat --dut "$DUT" --info lab.ini
exit_is 0
out_match '^duration  .* to '
out_match '^written   about .*drive writes, .*% of the rated endurance'
pts plan lat --dut "$DUT" --info lab.ini --json
json_is 'round(d["rated_tbw_max_pct"] / (d["written_max_bytes"] / 1.4e15 * 100), 9)' 1.0
for amount in 1400 '1400 TB' '1400TBW' '1.4PB' '1.4 PBW'; do
	echo "rated_tbw = $amount" >t.ini
	pts plan lat --dut "$DUT" --info t.ini --json
	exit_is 0
	json_is 'round(d["rated_tbw_max_pct"] / (d["written_max_bytes"] / 1.4e15 * 100), 9)' 1.0
done

# bad LINE WHY...: line 2 of an ini, for run and plan alike; nothing is made
bad() {
	printf '# a comment\n%s\n' "$1" >bad.ini
	shift
	for cmd in "run one --db no.db" 'plan one'; do
		# shellcheck disable=SC2086
		pts $cmd --dut "file:$W/f?size=8m" --info bad.ini
		exit_is 2
		err_lines 1
		err_has 'bad.ini:2: '
		for why; do err_has "$why"; done
		out_empty
		file_absent no.db
		file_absent f
	done
}

t 'an unknown key is an error with file, line and the nearest word'
bad 'opertor = x' "unknown key 'opertor' (did you mean 'operator'?)"
bad 'nand-type = x' "(did you mean 'nand_type'?)"
bad 'zzzzzzzzzzz = x' "unknown key 'zzzzzzzzzzz'" 'x_NAME'
bad 'x_ = x' "unknown key 'x_'"

t 'values that are none'
bad 'operator =' "'operator' has no value"
bad 'rated_tbw = much' "rated_tbw is a number of TB, or '3.5 PB', not 'much'"
bad 'rated_tbw = -3' 'rated_tbw'
bad 'rated_tbw = 0' 'rated_tbw'
bad 'rated_tbw = 3 GB' 'rated_tbw'
bad 'rated_tbw = nan' 'rated_tbw'
bad 'no equals sign' ''

t 'a key twice, a file that is none'
printf 'operator = a\n[x]\noperator = b\n' >bad.ini
pts run one --dut "$DUT" --db no.db --info bad.ini
exit_is 2
err_has "bad.ini:3: 'operator' is there twice"
for f in nowhere.ini .; do
	pts run one --dut "$DUT" --db no.db --info $f
	exit_is 2
	err_has "--info $f: "
	file_absent no.db
done

t 'several targets: one mistake, one message, nothing begun'
echo 'opertor = x' >bad.ini
pts run one --dut 'sim:pm?size=1g' --dut 'sim:pm?size=2g' --db no.db --info bad.ini
exit_is 2
err_lines 1
file_absent no.db
