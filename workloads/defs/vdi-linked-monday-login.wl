# SPDX-License-Identifier: MIT
# Model, exact mix unpublished. Boots read small random blocks of the image with some larger read-ahead; logins write profiles and logs.
# Full clones read their own image in longer runs, linked clones share one base and redirect small blocks.
# Reads 45 %.
workload vdi-linked-monday-login "VDI linked clone, Monday login" source "model, exact mix unpublished"
	stream 35 read  rnd 4k
	stream 10 read  rnd 16k
	stream 45 write rnd 4k
	stream 10 write rnd 16k
end
