/* SPDX-License-Identifier: MIT */
/*
 * The frame of printed pages: 16 columns of 78 px, rows of 18 px, A4 landscape at 76 %. Sheets of tests carry the PTS
 * header block in rows 1-15, repeated on each printed page (spec 19).
 */
#ifndef REPORTS_PAGE_H
#define REPORTS_PAGE_H

#include "reports/dataset.h"
#include "reports/grid.h"

#define PAGE_COLS 16
#define PAGE_COL_PX 78
#define ROW_PX 18
#define HEADER_ROWS 15
#define BODY_ROWS 33 /* a title bar and 32 rows of content */

/* Set-up and test parameters of the header block, nine lines each. */
#define HEADER_LINES 9
struct header {
	const char *subject; /* "IOPS - Block Size x R/W Mix Matrix" */
	const char *rev; /* "RWSW-PTS 1.0.7"; NULL: that of the run */
	struct pair setup[HEADER_LINES], test[HEADER_LINES];
};

struct page {
	struct grid_sheet *s;
	const struct dataset *d;
	const struct test *t;
	uint32_t row; /* first row of the page's content, below its title bar */
	uint32_t next; /* first row of the next page */
	unsigned n; /* pages begun */
	const char *steady; /* "NOT REACHED", for each page's banner; NULL */
	const char *number; /* "P6": of the pages begun from here on; "" none; NULL: A.1, A.2 ... */
	char letter; /* of these numbers; 0: A */
};

/* A sheet with columns, no header: Summary, Warnings. Title band in rows 1-2; returns the next free row. */
struct grid_sheet *page_plain(struct grid *g, const char *name, const char *title,
			      const char *subtitle);

/* A sheet of a test with its header block; @pages is printed there. */
void page_open(struct page *p, struct grid *g, const struct dataset *d, const struct test *t,
	       const struct header *h);
/* The count of pages in the header block, when all are made. */
void page_close(struct page *p);
/* Begins a printed page: title bar "Plot A.1 - @title"; @kind "Plot" or "Table". */
void page_begin(struct page *p, const char *kind, const char *title);
/* Red banner over the page when the section is not steady; moves p->row below it. */
void page_banner(struct page *p, const struct section *s);

/* The common lines of the header block of a test; the sheet may change some afterwards. */
void header_fill(struct header *h, const struct dataset *d, const struct test *t, struct arena *a);

/* State of the write cache in the test: "disabled (WCD)"; @brief "WCD", "WCE", "no VWC", "WC not known". */
const char *cache_text(const struct test *t, bool brief);

/* Number formats of a unit: for tables, and for axes. */
enum numfmt unit_fmt(enum unit u);
enum numfmt ms_fmt(double ms); /* 4 decimals below 0.1, else 3 */
enum numfmt axis_fmt(double top);

/* Fixed colours of R/W mixes (write red to read blue) and of series in order. */
uint32_t mix_color(double read_pct);
uint32_t series_color(unsigned i);

/* Look of numbers of a section: plain, or for information only when it is not steady. */
enum look result_look(const struct section *s, enum look good);

#endif
