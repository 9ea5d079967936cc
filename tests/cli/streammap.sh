# SPDX-License-Identifier: MIT
# Stream maps: what a published table says, as text; those that pts brings along; the example of the manual.
. "$(dirname "$0")/lib.sh"

t 'the maps that pts brings along are listed, with where they are from'
pts list captures
exit_is 0
out_match '^gps-drive0 +GPS Nav Portal Drive0 +9 +1 +SNIA'
out_match '^retail-web '
pts list captures --json
json_is '[c["name"] for c in d["captures"]]' "['gps-drive0', 'gps-drivec', 'retail-web']"

t 'the nine streams of the GPS Nav Portal, renormalised to those published'
pts trace streams gps-drive0 --json
exit_is 0
json_is 'd["seq_rule"], d["ios"], d["stream_count"]' "('map', None, 9)"
json_is '[(s["access"], s["block_bytes"] // 512, s["op"], round(s["normalized_pct"], 1)) for s in d["streams"]][:4]' \
	"[('SEQ', 8, 'W', 27.9), ('RND', 32, 'W', 19.9), ('SEQ', 32, 'W', 16.2), ('SEQ', 1, 'W', 15.7)]"
json_is 'abs(sum(s["normalized_pct"] for s in d["streams"]) - 100) < 1e-9' True
pts trace streams gps-drive0 --seq-rule strict
exit_is 2
pts trace stat gps-drive0
exit_is 2
err_has 'stream map'

t 'steps with counts and depths, an idle one among them'
cat >own.csv <<'EOF'
# stream-map 1
# name: Three steps
# level: block
step,start_s,duration_s,qd,access,block_bytes,op,ios
0,0,1,3.5,SEQ,4096,W,120
0,0,1,3.5,RND,16384,W,80
1,1,0.5,,,,,0
2,1.5,1,2,RND,16384,W,100
EOF
pts trace steps own.csv --json
exit_is 0
json_is '[(s["start_ns"], s["duration_ns"], s["ios"], s["qd_avg"]) for s in d["steps"]]' \
	'[(0, 1000000000, 200, 3.5), (1000000000, 500000000, 0, 0), (1500000000, 1000000000, 100, 2)]'
pts trace streams own.csv --json
json_is '[(s["access"], s["ios"]) for s in d["streams"]]' "[('RND', 180), ('SEQ', 120)]"
pts trace steps own.csv
exit_is 0
out_has 'Three steps: 3 steps'

t 'a mistake is named with its line'
wrong() { # wrong SED WHAT
	sed "$1" own.csv >wrong.csv
	pts trace streams wrong.csv
	exit_is 2
	err_has "wrong.csv:$2"
	err_lines 1
}
wrong '6s/RND/SEQUENTIAL/' '6: access'
wrong '7s/^1/3/' '7: a step'
wrong '8s/1.5/1.4/' '8: a step'
wrong '5s/4096/4k/' '5: block_bytes'
wrong '5s/120/-1/' '5: ios'
wrong '4s/ios/count/' '4: the last column'
wrong '6s/3.5/4/' '6: the rows'
wrong '8s/,100$//' '8: a row'

wrong '5s/120/5000000000/' '5: ios is more'
sed '4s/ios/share_pct/; 5s/120/60/; 6s/80$/41/' own.csv >wrong.csv
pts trace streams wrong.csv
exit_is 2
err_has 'wrong.csv:6: the shares of the step are more than 100 %'
err_lines 1
sed '6s/41$/40.5/' wrong.csv >shares.csv
pts trace streams shares.csv
exit_is 0

t 'an idle step is one of 0 IOs, whatever kind its rows name'
sed '7s/.*/1,1,0.5,7,RND,512,R,0\n1,1,0.5,7,SEQ,512,W,0/; 8s/$/\n2,1.5,1,2,SEQ,8192,R,0/' own.csv >idle.csv
pts trace steps idle.csv --json
exit_is 0
json_is '[(s["ios"], s["qd_avg"], s["busy_pct"], len(s["streams"])) for s in d["steps"]]' \
	'[(200, 3.5, 100, 2), (0, 0, 0, 0), (100, 2, 100, 1)]'
pts trace steps idle.csv
exit_is 0
true_that sh -c "! grep -q nan '$OUT'"
pts trace streams idle.csv --json
json_is '[(s["access"], s["ios"]) for s in d["streams"]]' "[('RND', 180), ('SEQ', 120)]"

t 'the example of the manual is one'
awk '/^# stream-map 1$/ { on = 1 } /^\.fi/ { on = 0 } on' "$ROOT/pts/man/pts-capture.5" | sed 's/\\-/-/g' >manual.csv
true_that [ -s manual.csv ]
pts trace steps manual.csv --json
exit_is 0
json_is 'len(d["steps"]), d["qd_known"]' '(3, True)'

t 'the description of the capture file in the manual is what the test reads it by'
python3 "$ROOT/tests/tools/make_trace.py" blktrace 20 >trace
pts import trace -o a.cap -q
python3 "$ROOT/tests/tools/capture.py" a.cap >rows
same "$(wc -l <rows)" 20 rows
for word in PTScap start_ns response_ns pid CRC-32C text_off n_chunks; do
	file_has "$ROOT/pts/man/pts-capture.5" "$word"
done
