# SPDX-License-Identifier: MIT
workload seq-256k-w "Sequential write 256K" source "common data sheet point"
	stream 100 write seq 256k
end
