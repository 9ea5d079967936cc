# SPDX-License-Identifier: MIT
# Model, exact mix unpublished. Database pages are 8K; the ratio is in the name.
workload sql-90-10 "SQL database, 90 % reads" source "model, exact mix unpublished"
	stream 90 read  rnd 8k
	stream 10 write rnd 8k
end
