# SPDX-License-Identifier: MIT
# Model, exact mix unpublished. Boots read small random blocks of the image with some larger read-ahead; logins write profiles and logs.
# Full clones read their own image in longer runs, linked clones share one base and redirect small blocks.
# Profiles are made: writes 70 %.
workload vdi-full-initial-login "VDI full clone, initial login" source "model, exact mix unpublished"
	stream 20 read  rnd 4k
	stream 10 read  rnd 32k
	stream 50 write rnd 4k
	stream 15 write rnd 16k
	stream 5 write seq 64k
end
