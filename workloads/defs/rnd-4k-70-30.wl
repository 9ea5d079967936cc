# SPDX-License-Identifier: MIT
workload rnd-4k-70-30 "Random 4K, 70 % reads" source "common mixed point of data sheets and reviews"
	stream 70 read  rnd 4k
	stream 30 write rnd 4k
end
