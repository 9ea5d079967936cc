# SPDX-License-Identifier: MIT
workload seq-128k-r "Sequential read 128K" source "one of the four corners of data sheets"
	stream 100 read  seq 128k
end
