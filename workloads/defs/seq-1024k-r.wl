# SPDX-License-Identifier: MIT
workload seq-1024k-r "Sequential read 1024K" source "SNIA SSS PTS 2.0.2, TP"
	stream 100 read  seq 1024k
end
