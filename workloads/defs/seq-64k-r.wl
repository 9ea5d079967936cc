# SPDX-License-Identifier: MIT
workload seq-64k-r "Sequential read 64K" source "one of the four corners, as some data sheets give it"
	stream 100 read  seq 64k
end
