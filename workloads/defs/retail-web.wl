# SPDX-License-Identifier: MIT
workload retail-web "Retail Web Portal, block IO, six dominant streams" source "PM Summit 2019 deck, figure legend (its bullet list prints RND 8K as a write); shares renormalised to 100"
	stream 30.5 write rnd 64k
	stream 28.9 write seq 0.5k
	stream 16.4 read rnd 8k
	stream 14.2 read seq 8k
	stream 5.6 read seq 64k
	stream 4.4 write rnd 8k
end
