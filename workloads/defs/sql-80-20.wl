# SPDX-License-Identifier: MIT
# Model, exact mix unpublished. Database pages are 8K; the ratio is in the name.
workload sql-80-20 "SQL database, 80 % reads" source "model, exact mix unpublished"
	stream 80 read  rnd 8k
	stream 20 write rnd 8k
end
