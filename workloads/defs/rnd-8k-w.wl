# SPDX-License-Identifier: MIT
workload rnd-8k-w "Random write 8K" source "SNIA SSS PTS 2.0.2, XSR second access group"
	stream 100 write rnd 8k
end
