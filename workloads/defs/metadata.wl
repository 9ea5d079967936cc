# SPDX-License-Identifier: MIT
workload metadata "Meta data" source "SNIA SSS PTS 2.0.2, WSAT optional workload: SEQ 0.5K, 50 % reads"
	order seq
	sizes 0.5k:100
	rw 50/50
end
