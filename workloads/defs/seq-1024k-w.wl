# SPDX-License-Identifier: MIT
workload seq-1024k-w "Sequential write 1024K" source "SNIA SSS PTS 2.0.2, TP and XSR access groups 1 and 3"
	stream 100 write seq 1024k
end
