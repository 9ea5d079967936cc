# SPDX-License-Identifier: MIT
# pts - one Makefile, nothing recursive; everything made lands in build/. `make help` lists the targets.

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
ifeq ($(origin CC),default)
CC := gcc
endif
PKG_CONFIG ?= pkg-config
# As many compilers at a time as there are processors, unless -j says it.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
VERSION := 0.1.0

# Debian 12 packages: to build (a library as header:package), and to run the tests as well.
LIBRARIES := liburing.h:liburing-dev sqlite3.h:libsqlite3-dev xlsxwriter.h:libxlsxwriter-dev \
	blkid/blkid.h:libblkid-dev nettle/sha2.h:nettle-dev zlib.h:zlib1g-dev lzma.h:liblzma-dev zstd.h:libzstd-dev \
	libnvme.h:libnvme-dev scsi/sg_lib.h:libsgutils2-dev
PACKAGES := gcc make pkg-config libc6-dev $(foreach l,$(LIBRARIES),$(lastword $(subst :, ,$(l))))
TEST_PACKAGES := clang clang-format cppcheck sqlite3 python3 mount util-linux e2fsprogs fdisk unzip xz-utils \
	man-db locales-all procps valgrind strace
BENCH_PACKAGES := fio blktrace linux-perf valgrind
# What the rigs (tests/rigs) and the virtual machine (tests/vm) need besides; without them their tests are skipped.
RIG_PACKAGES := qemu-system-x86 qemu-utils dmsetup mdadm nvme-cli busybox-static kmod cpio xz-utils fuse3 libfuse3-dev

# What check-html looks at reports with; without a browser, or without LibreOffice, its part is skipped.
HTML_PACKAGES := chromium libreoffice-calc-nogui fonts-crosextra-carlito poppler-utils python3

# SANITIZE=address,undefined or SANITIZE=thread builds into a folder of its own.
comma := ,
B := build$(if $(SANITIZE),/san-$(subst $(comma),-,$(SANITIZE)))$(if $(filter clang,$(CC)),/clang)
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-4s %s\n' $(1) $(2);)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wformat=2 -Wundef \
	-Wcast-qual -Wwrite-strings -Wno-unused-parameter -Werror
# Messages and cells are cut to their field on purpose; gcc guesses at that the more, the more a sanitizer instruments.
WARN += $(if $(findstring clang,$(CC)),,-Wno-format-truncation)
OPT := $(if $(SANITIZE),-O1 -fno-omit-frame-pointer -fsanitize=$(SANITIZE) -fno-sanitize-recover=all,-O2)
SOFTWARE := $(VERSION)$(shell git describe --always --dirty --abbrev=12 2>/dev/null | sed 's/^/ git /')
override CPPFLAGS += -I. -D_GNU_SOURCE -DPTS_VERSION='"$(VERSION)"'
override CFLAGS := -std=gnu17 -g $(OPT) $(WARN) -fno-strict-aliasing -pthread $(CFLAGS)
override LDFLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -pthread $(LDFLAGS)

# One pkg-config call a library: one that fails must not empty the flags of the others.
pc_libs = $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null || echo $(2))
LIBS := $(call pc_libs,liburing,-luring) $(call pc_libs,sqlite3,-lsqlite3) $(call pc_libs,xlsxwriter,-lxlsxwriter) \
	$(call pc_libs,blkid,-lblkid) $(call pc_libs,nettle,-lnettle) $(call pc_libs,zlib,-lz) \
	$(call pc_libs,liblzma,-llzma) $(call pc_libs,libzstd,-lzstd) -lnvme -lsgutils2 -lm

# ---- sources: a folder is a library, in the order in which they may include one another (tests/lint/includes) ----
FOLDERS := pts/base workloads replay schema reports pts
MAIN_SRC := pts/main.c $(wildcard pts/cmd_*.c)
src_of = $(filter-out $(MAIN_SRC),$(wildcard $(1)/*.c))
obj_of = $(patsubst %.c,$(B)/obj/%.o,$(1))
lib_of = $(B)/$(subst /,-,$(1)).a
EMBED_OBJ := $(B)/gen/embed.o
LIB_base := $(call lib_of,pts/base)
LIB_workloads := $(call lib_of,workloads) $(LIB_base)
LIB_replay := $(call lib_of,replay) $(LIB_workloads)
LIB_schema := $(call lib_of,schema) $(LIB_base)
LIB_reports := $(call lib_of,reports) $(LIB_schema)
LIB_pts := $(call lib_of,pts) $(call lib_of,reports) $(call lib_of,schema) $(LIB_replay)
# Parts of commands, without main.c: a test of them brings cmd_fail() and the like along (tests/unit/cmd_main.h).
LIB_cmd := $(call obj_of,$(filter-out pts/main.c,$(MAIN_SRC))) $(LIB_pts)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

all: $(B)/pts $(B)/pts-bench ## build the program, build/pts, and the engine alone, build/pts-bench

define folder_rule
$(call lib_of,$(1)): $(call obj_of,$(call src_of,$(1)))
endef
$(foreach f,$(FOLDERS),$(eval $(call folder_rule,$(f))))

$(B)/%.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/pts: $(call obj_of,$(MAIN_SRC)) $(LIB_pts) $(EMBED_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

# The version text changes with every commit: only main.c is compiled again.
$(B)/version.stamp: FORCE
	$(Q)mkdir -p $(@D); echo '$(SOFTWARE)' | cmp -s - $@ || echo '$(SOFTWARE)' > $@
$(B)/obj/pts/main.o: $(B)/version.stamp
$(B)/obj/pts/main.o: override CPPFLAGS += -DPTS_SOFTWARE='"pts $(SOFTWARE)"'

# Said once and clearly: what is not installed.
$(B)/libraries.ok: Makefile
	$(Q)mkdir -p $(@D); command -v $(firstword $(CC)) >/dev/null || \
		{ echo "pts: no C compiler '$(CC)': run 'make deps', or as root: apt-get install gcc" >&2; exit 1; }
	$(Q)bad=; for l in $(LIBRARIES); do \
		echo "#include <$${l%:*}>" | $(CC) $(CPPFLAGS) -E -o /dev/null - 2>/dev/null || bad="$$bad $${l#*:}"; done; \
	[ -z "$$bad" ] || { echo "pts: libraries are missing: run 'make deps', or as root: apt-get install$$bad" >&2; exit 1; }
	$(Q)touch $@

$(B)/obj/%.o: %.c | $(B)/libraries.ok
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(B)/gen/%.o: $(B)/gen/%.c | $(B)/libraries.ok
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# ---- generated: data files built into the program; lists of formats and sheets from file names ----
DATA := $(wildcard pts/defs/*.pts) $(wildcard workloads/defs/*.wl) $(wildcard workloads/sim/*.ini) $(wildcard schema/*.sql) $(wildcard replay/maps/*.csv) \
	pts/defs/clauses.txt
$(B)/gen/embed.c: tests/tools/embed.sh $(DATA) $(wildcard pts/defs workloads/defs workloads/sim schema)
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && bash tests/tools/embed.sh > $@
SHEETS := $(patsubst reports/sheet_%.c,%,$(sort $(wildcard reports/sheet_*.c)))
$(B)/gen/sheets.inc: $(wildcard reports/sheet_*.c) | reports
	$(Q)mkdir -p $(@D) && for s in $(SHEETS); do echo "SHEET($$s)"; done > $@
$(B)/obj/reports/report.o: $(B)/gen/sheets.inc
$(B)/obj/reports/report.o: override CPPFLAGS += -I$(B)/gen
COMPARES := $(patsubst reports/cmp_%.c,%,$(sort $(wildcard reports/cmp_*.c)))
$(B)/gen/compares.inc: $(wildcard reports/cmp_*.c) | reports
	$(Q)mkdir -p $(@D) && for s in $(COMPARES); do echo "COMPARE($$s)"; done > $@
$(B)/obj/reports/compare_write.o: $(B)/gen/compares.inc
$(B)/obj/reports/compare_write.o: override CPPFLAGS += -I$(B)/gen
FORMATS := $(patsubst replay/fmt_%.c,%,$(sort $(wildcard replay/fmt_*.c)))
$(B)/gen/formats.inc: $(wildcard replay/fmt_*.c) | replay
	$(Q)mkdir -p $(@D) && for s in $(FORMATS); do echo "FORMAT($$s)"; done > $@
$(B)/obj/replay/import.o: $(B)/gen/formats.inc
$(B)/obj/replay/import.o: override CPPFLAGS += -I$(B)/gen

# ---- tests: tests/unit/FOLDER_NAME.c is linked with what FOLDER may use; a test of one folder never needs another ----
UNIT := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*.c))
UNIT_BIN := $(addprefix $(B)/tests/unit/,$(UNIT))
define unit_rule
$(B)/tests/unit/$(1)_%: $(B)/obj/tests/unit/$(1)_%.o $(LIB_$(1)) $(EMBED_OBJ)
	$$(call say,LD,$$@)
	$(Q)mkdir -p $$(@D) && $(CC) $(LDFLAGS) -o $$@ $$^ $(LIBS)
endef
$(foreach f,base workloads replay schema reports pts cmd,$(eval $(call unit_rule,$(f))))

# ---- rigs: the simulated SSD is a program of its own, made where fuse3 is; it never carries a sanitizer ----
RIGS := $(if $(shell $(PKG_CONFIG) --exists fuse3 2>/dev/null && echo yes),$(B)/tests/rigs/ssdsim)
$(B)/tests/rigs/%: tests/rigs/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu17 -g -O2 $(WARN) -D_GNU_SOURCE -pthread $(shell $(PKG_CONFIG) --cflags fuse3) \
		-o $@ $< $(shell $(PKG_CONFIG) --libs fuse3)

# ---- the engine alone, from the objects of pts ----
$(B)/pts-bench: $(B)/obj/tests/bench/pts_bench.o $(LIB_workloads) $(EMBED_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

# ---- parsers of captures fed with bytes: seeds in check, for longer by fuzz-smoke (with libFuzzer where clang has it) ----
FUZZ := $(B)/tests/fuzz/fuzz_import
$(FUZZ): $(B)/obj/tests/fuzz/fuzz_import.o $(LIB_replay) $(EMBED_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS) -o $@ $^ $(LIBS)
fuzz: $(FUZZ)

fuzz-smoke: ## each parser of captures against random input, FUZZ_SECONDS (60) each
	$(Q)bash tests/fuzz/smoke.sh

bench: $(B)/pts $(B)/pts-bench ## the engine against Debian's fio, side by side: a table of ratios (under 6 minutes, best left alone)
	$(Q)python3 tests/bench/bench.py --build $(B)

bench-replay: $(B)/pts ## exact replay against Debian's fio: time, span, lateness (under 3 minutes, best left alone)
	$(Q)python3 tests/bench/bench_replay.py --build $(B)

bench-import: $(B)/pts ## reading captures against fio and blkparse (under 2 minutes)
	$(Q)python3 tests/bench/bench_import.py --build $(B)

bench-report: $(B)/pts ## reports of eight tests, of a day of seconds, of 24 runs: time and memory (about 2 minutes)
	$(Q)python3 tests/bench/bench_report.py --build $(B)

# Those that take longest begin first; many wait for most of their time, so that four at once keep two processors busy.
SLOW := tests/cli/interrupt.sh tests/cli/fault.sh tests/lint/lint.sh
CLI := $(filter-out %lib.sh $(SLOW),$(sort $(wildcard tests/cli/*.sh)))
VM := $(filter-out %lib.sh,$(sort $(wildcard tests/vm/*.sh)))

check: $(B)/pts $(B)/pts-bench $(UNIT_BIN) ## all tests that need no hardware and no VM (under 5 minutes)
	$(Q)JOBS=$(or $(JOBS),4) bash tests/run --build $(B) $(SLOW) $(UNIT_BIN) $(CLI)

check-long: $(B)/pts $(B)/pts-bench $(UNIT_BIN) ## the same tests with more rounds, seeds and kills (PTS_LONG=1)
	$(Q)PTS_LONG=1 LIMIT=3600 bash tests/run --build $(B) $(SLOW) $(UNIT_BIN) $(CLI)

check check-long: $(RIGS) $(FUZZ)

check-vm: $(B)/pts ## device tests on virtual NVMe drives in a small VM, one after another (about 11 minutes)
	$(Q)JOBS=1 LIMIT=900 bash tests/run --build $(B) $(VM)

check-html: $(B)/pts ## reports in headless Chromium and LibreOffice: no error, no request, every formula anew, print (under 3 minutes)
	$(Q)LIMIT=600 bash tests/run --build $(B) $(sort $(wildcard tests/html/*.sh))

evidence: ## each clause of the PTS with its definition, its code and its tests; what has none of them
	$(Q)python3 tests/tools/evidence.py

check-unit: $(UNIT_BIN)
	$(Q)bash tests/run --build $(B) $(UNIT_BIN)

lint: ## include table, headers alone, lengths, banned calls, cppcheck, clang-format
	$(Q)bash tests/lint/lint.sh --build $(B)

format: ## rewrite the sources with clang-format
	$(Q)clang-format -i $(shell find $(FOLDERS) tests -name '*.[ch]' | sort -u)

demo: deps ## install what is missing (as root), build, run a real quick suite and a simulated test, write workbooks
	$(Q)$(MAKE) --no-print-directory all
	$(Q)bash tests/tools/demo.sh $(B)

deps: ## install missing Debian packages (as root), or name them
	$(Q)bash tests/tools/deps.sh $(PACKAGES)
test-deps: ## the same with what the tests need
	$(Q)bash tests/tools/deps.sh $(PACKAGES) $(TEST_PACKAGES)
bench-deps: ## what bench compares with and counts by
	$(Q)bash tests/tools/deps.sh $(BENCH_PACKAGES)
rig-deps: ## what the rigs and check-vm need
	$(Q)bash tests/tools/deps.sh $(RIG_PACKAGES)

html-deps: ## what check-html needs
	$(Q)bash tests/tools/deps.sh $(HTML_PACKAGES)

install: all ## install program and manual pages under PREFIX, DESTDIR honoured
	install -D -m 755 $(B)/pts "$(DESTDIR)$(BINDIR)/pts"
	install -D -m 644 pts/man/pts.1 "$(DESTDIR)$(MANDIR)/man1/pts.1"
	install -D -m 644 pts/man/pts-def.5 "$(DESTDIR)$(MANDIR)/man5/pts-def.5"
	install -D -m 644 pts/man/pts-capture.5 "$(DESTDIR)$(MANDIR)/man5/pts-capture.5"
	install -D -m 644 pts/man/pts-claims.5 "$(DESTDIR)$(MANDIR)/man5/pts-claims.5"
uninstall: ## remove what install put there
	rm -f "$(DESTDIR)$(BINDIR)/pts" "$(DESTDIR)$(MANDIR)/man1/pts.1" "$(DESTDIR)$(MANDIR)/man5/pts-def.5" "$(DESTDIR)$(MANDIR)/man5/pts-capture.5" "$(DESTDIR)$(MANDIR)/man5/pts-claims.5"

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | sort | awk -F'|' '{ printf "  %-12s %s\n", $$1, $$2 }'

FORCE:
.PHONY: all bench bench-import bench-replay bench-report check fuzz fuzz-smoke evidence check-long check-vm check-html check-unit bench-deps rig-deps html-deps lint format demo deps test-deps install uninstall clean help FORCE

-include $(shell find $(B) -name '*.d' 2>/dev/null)
