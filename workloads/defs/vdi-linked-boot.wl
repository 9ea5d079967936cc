# SPDX-License-Identifier: MIT
# Model, exact mix unpublished. Boots read small random blocks of the image with some larger read-ahead; logins write profiles and logs.
# Full clones read their own image in longer runs, linked clones share one base and redirect small blocks.
# Reads 70 %, nearly all small and random.
workload vdi-linked-boot "VDI linked clone, boot" source "model, exact mix unpublished"
	stream 60 read  rnd 4k
	stream 10 read  rnd 16k
	stream 25 write rnd 4k
	stream 5 write rnd 16k
end
