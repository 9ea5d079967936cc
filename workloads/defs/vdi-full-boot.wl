# SPDX-License-Identifier: MIT
# Model, exact mix unpublished. Boots read small random blocks of the image with some larger read-ahead; logins write profiles and logs.
# Full clones read their own image in longer runs, linked clones share one base and redirect small blocks.
# Reads 80 %: image files at 4K and 32K; writes small.
workload vdi-full-boot "VDI full clone, boot" source "model, exact mix unpublished"
	stream 45 read  rnd 4k
	stream 20 read  rnd 32k
	stream 15 read  seq 64k
	stream 15 write rnd 4k
	stream 5 write seq 16k
end
