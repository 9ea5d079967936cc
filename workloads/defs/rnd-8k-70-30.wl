# SPDX-License-Identifier: MIT
workload rnd-8k-70-30 "Random 8K, 70 % reads" source "common mixed point of data sheets and reviews"
	stream 70 read  rnd 8k
	stream 30 write rnd 8k
end
