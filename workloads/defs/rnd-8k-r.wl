# SPDX-License-Identifier: MIT
workload rnd-8k-r "Random read 8K" source "common data sheet point"
	stream 100 read  rnd 8k
end
