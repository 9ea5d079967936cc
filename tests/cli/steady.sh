#!/bin/bash
# SPDX-License-Identifier: MIT
# pts steady: the verdict on numbers of one's own.
. "$(dirname "$0")/lib.sh"

t 'steady: exit 0 and the arithmetic in words'
pts steady 100 104 98 102 101
exit_is 0
err_empty
out_has 'average      101'
out_has 'range        6 (5.94 %), allowed 20.2'
out_match '^steady$'

t 'steady: not steady is exit 1, not an error'
pts steady 100 104 108 112 116
exit_is 1
err_empty
out_match '^not steady$'

t 'steady: exactly on a limit is steady, at any scale'
for v in '95 97.5 100 102.5 105' '0.95 0.975 1 1.025 1.05' '0.095 0.0975 0.1 0.1025 0.105' \
	'90 110 100 90 110' '0.09 0.11 0.1 0.09 0.11' '90 100 110 100 100' '9e10 1.1e11 1E+11 90000000000 110e9'; do
	# shellcheck disable=SC2086
	pts steady $v
	exit_is 0
done

t 'steady: the last five values decide'
pts steady 1 500 7 100 104 98 102 101 --json
exit_is 0
json_is 'd["window"]' '[4, 8]'
json_is 'd["values"]' '[100, 104, 98, 102, 101]'
pts steady 100 104 98 102 101 900
exit_is 1

t 'steady --json: the document, its keys in order'
pts steady --json 90 95 100 105 110
exit_is 1
json_is 'list(d)' "['schema', 'window', 'values', 'average', 'range', 'range_allowed', 'slope', 'intercept', \
'slope_excursion', 'slope_allowed', 'correlation', 'steady']"
json_is 'd["schema"]' pts.steady/1
json_is '[d["window"], d["average"], d["range"], d["range_allowed"], d["slope"], d["intercept"]]' \
	'[[1, 5], 100, 20, 20, 5, 85]'
json_is '[d["slope_excursion"], d["slope_allowed"], d["correlation"], d["steady"]]' '[20, 10, 1, False]'

t 'steady: rounds count from 1, so the intercept moves with the window'
pts steady 7 7 90 95 100 105 110 --json
json_is 'd["slope"], d["intercept"]' '(5, 75)'

t 'steady: negative numbers are values, and never steady'
pts steady -3 -3 -3 -3 -3 --json
exit_is 1
json_is 'd["average"]' -3

t 'steady: fewer than five values'
pts steady 1 2 3 4
exit_is 2
err_has 'at least 5 values'
err_lines 2
out_empty
pts steady
exit_is 2

t 'steady: what is not a number is named'
for bad in abc 1,5 0x10 nan inf '' 1e 1e+ 5% . .e5 5. 1e999; do
	pts steady 1 2 "$bad" 4 5
	exit_is 2
	err_has "'$bad' is not a number"
done
pts steady abc 1 2 3 4 5 6
exit_is 2
err_has "'abc' is not a number"

t 'steady: a leading point is a number'
pts steady .095 .0975 .1 .1025 +.105 --json
exit_is 2
pts steady .095 .0975 .1 .1025 .105 --json
exit_is 0
json_is 'd["values"]' '[0.095, 0.0975, 0.1, 0.1025, 0.105]'
pts steady -.5 -.5 -.5 -5e-1 -.5e0 --json
exit_is 1
json_is 'd["average"]' -0.5

t 'steady: another locale changes nothing'
pts steady 95 97.5 100 102.5 105 --json
cp "$OUT" here
if locale -a 2>/dev/null | grep -qix 'de_DE.utf-\?8'; then
	LC_ALL=de_DE.UTF-8 pts steady 95 97.5 100 102.5 105 --json
	exit_is 0
	true_that cmp here "$OUT"
else
	skip 'no German locale'
fi
