# SPDX-License-Identifier: MIT
# Model, exact mix unpublished. Database pages are 8K; reads of a query load.
workload sql-100-0 "SQL database, 100 % reads" source "model, exact mix unpublished"
	stream 100 read  rnd 8k
end
