# SPDX-License-Identifier: MIT
workload rnd-4k-r "Random read 4K" source "one of the four corners of data sheets"
	stream 100 read  rnd 4k
end
