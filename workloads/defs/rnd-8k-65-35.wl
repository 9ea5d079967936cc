# SPDX-License-Identifier: MIT
workload rnd-8k-65-35 "OLTP, synthetic SQL" source "SNIA SSS PTS 2.0.2, DIRTH and WSAT; PM Summit 2019"
	stream 65 read  rnd 8k
	stream 35 write rnd 8k
end
