# SPDX-License-Identifier: MIT
workload seq-64k-w "Sequential write 64K" source "one of the four corners, as some data sheets give it"
	stream 100 write seq 64k
end
