# SPDX-License-Identifier: MIT
# Model, exact mix unpublished. Blocks are 8K by default; no redo without writes.
workload oracle-100-0 "Oracle database, 100 % reads" source "model, exact mix unpublished"
	stream 100 read  rnd 8k
end
