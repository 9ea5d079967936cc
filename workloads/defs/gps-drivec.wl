# SPDX-License-Identifier: MIT
workload gps-drivec "GPS Nav Portal, DriveC, nine dominant streams" source "PM Summit 2019 deck, slide 13; shares renormalised to 100"
	stream 22.2 write rnd 16k
	stream 20.2 write seq 4k
	stream 15.5 write seq 0.5k
	stream 14.2 write seq 16k
	stream 12.9 write rnd 4k
	stream 5.9 write seq 1k
	stream 3.7 write rnd 1k
	stream 2.7 write rnd 0.5k
	stream 2.7 write seq 1.5k
end
