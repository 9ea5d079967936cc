# SPDX-License-Identifier: MIT
# Model, exact mix unpublished. Boots read small random blocks of the image with some larger read-ahead; logins write profiles and logs.
# Full clones read their own image in longer runs, linked clones share one base and redirect small blocks.
# Profiles exist and are read again, caches are cold: reads 50 %.
workload vdi-full-monday-login "VDI full clone, Monday login" source "model, exact mix unpublished"
	stream 30 read  rnd 4k
	stream 20 read  rnd 32k
	stream 35 write rnd 4k
	stream 15 write rnd 16k
end
