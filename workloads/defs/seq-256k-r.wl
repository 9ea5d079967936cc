# SPDX-License-Identifier: MIT
workload seq-256k-r "Sequential read 256K" source "common data sheet point"
	stream 100 read  seq 256k
end
