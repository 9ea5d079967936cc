# SPDX-License-Identifier: MIT
workload rnd-4k-w "Random write 4K" source "SNIA SSS PTS 2.0.2, WSAT and HIR stimulus"
	stream 100 write rnd 4k
end
