# SPDX-License-Identifier: MIT
workload rnd-4k-65-35 "Random 4K, 65 % reads" source "SNIA SSS PTS 2.0.2, IOPS matrix"
	stream 65 read  rnd 4k
	stream 35 write rnd 4k
end
