# SPDX-License-Identifier: MIT
# Sizes and LBA groups are drawn independently; offsets are multiples of the LBA size.
workload cbw "Composite block size" source "SNIA SSS PTS 2.0.2, CBW"
	sizes 0.5k:4 1k:1 1.5k:1 2k:1 2.5k:1 3k:1 3.5k:1 4k:67 8k:10 16k:7 32k:3 64k:3 # PTS[CBW-0-SIZES]
	zones 0-5%:50 5-20%:30 20-100%:20 # PTS[CBW-0-LBA]
	rw 40/60 # PTS[CBW-0-MIX]
	align lba
end
