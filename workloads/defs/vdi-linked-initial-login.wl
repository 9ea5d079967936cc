# SPDX-License-Identifier: MIT
# Model, exact mix unpublished. Boots read small random blocks of the image with some larger read-ahead; logins write profiles and logs.
# Full clones read their own image in longer runs, linked clones share one base and redirect small blocks.
# Writes 75 %: redirected blocks of new profiles.
workload vdi-linked-initial-login "VDI linked clone, initial login" source "model, exact mix unpublished"
	stream 20 read  rnd 4k
	stream 5 read  rnd 16k
	stream 60 write rnd 4k
	stream 15 write rnd 16k
end
