# SPDX-License-Identifier: MIT
workload seq-128k-w "Sequential write 128K" source "SNIA SSS PTS 2.0.2, workload independent preconditioning"
	stream 100 write seq 128k
end
