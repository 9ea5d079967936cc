# SPDX-License-Identifier: MIT
workload vod "Video on demand" source "SNIA SSS PTS 2.0.2, WSAT optional workload: SEQ 128K, 90 % reads"
	order seq
	sizes 128k:100
	rw 90/10
end
