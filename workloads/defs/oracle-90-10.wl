# SPDX-License-Identifier: MIT
# Model, exact mix unpublished. Blocks are 8K by default; redo goes out as a sequential stream of small writes,
# here 5 % of the IOs at 4K, taken from the writes so that the ratio in the name holds.
workload oracle-90-10 "Oracle database, 90 % reads" source "model, exact mix unpublished"
	stream 90 read  rnd 8k
	stream 5 write rnd 8k
	stream 5 write seq 4k
end
