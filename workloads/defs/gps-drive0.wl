# SPDX-License-Identifier: MIT
workload gps-drive0 "GPS Nav Portal, Drive0, nine dominant streams (89 % of the IOs)" source "PM Summit 2019 deck, slides 9, 10, 17; shares of all IOs of the capture"
	stream 24.8 write seq 4k
	stream 17.7 write rnd 16k
	stream 14.4 write seq 16k
	stream 13.9 write seq 0.5k
	stream 5.8 write seq 1k
	stream 4.5 write rnd 4k
	stream 2.65 write rnd 1k
	stream 2.54 write rnd 28k
	stream 2.44 write seq 1.5k
end
