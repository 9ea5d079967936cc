/* SPDX-License-Identifier: MIT */
/*
 * The report as one HTML document: inline SVG and CSS, no script, nothing asked for from elsewhere. The same cells as in
 * the workbook; what a device says stands in it as text only.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/grid_html.h"

#define ROW_DEFAULT_PX 18.0
#define COL_DEFAULT_PX 64.0
#define COLS_MAX 65

/* ---- boxes of a sheet ---- */

struct plane { /* where rows and columns begin, pixels */
	double *row, col[COLS_MAX];
	uint32_t n_rows;
};

static uint32_t rows_of(const struct grid_sheet *s)
{
	uint32_t n = s->n_rows;

	for (size_t i = 0; i < s->n_charts; i++)
		n = s->chart[i].row > n ? s->chart[i].row : n;
	for (size_t i = 0; i < s->n_pictures; i++)
		n = s->picture[i].row > n ? s->picture[i].row : n;
	return n + 2;
}

static void plane_init(struct plane *p, const struct grid_sheet *s, struct arena *a)
{
	p->n_rows = rows_of(s);
	p->row = arena_array(a, double, p->n_rows + 1);
	double *px = arena_array(a, double, p->n_rows + 1);
	for (uint32_t i = 0; i < p->n_rows; i++)
		px[i] = ROW_DEFAULT_PX;
	for (size_t i = 0; i < s->n_heights; i++)
		if (s->height[i].row < p->n_rows)
			px[s->height[i].row] = s->height[i].px;
	for (uint32_t i = 0; i < p->n_rows; i++)
		p->row[i + 1] = p->row[i] + px[i];
	p->col[0] = 0;
	for (uint32_t c = 0; c + 1 < COLS_MAX; c++) {
		double width = COL_DEFAULT_PX;
		for (size_t i = 0; i < s->n_widths; i++)
			if (c >= s->width[i].col && c <= s->width[i].col2)
				width = s->width[i].px;
		p->col[c + 1] = p->col[c] + width;
	}
}

static struct box box_placed(const struct plane *p, uint32_t row, uint32_t col, double dx,
			     double dy)
{
	struct box b = { .x0 = p->col[col < COLS_MAX ? col : COLS_MAX - 1] + dx,
			 .y0 = p->row[row < p->n_rows ? row : p->n_rows] + dy };

	return b;
}

static size_t take_boxes(const struct grid_sheet *s, const struct plane *p, struct box *b)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_cells; i++) {
		const struct cell *c = &s->cell[i];
		b[n++] = (struct box){
			p->col[c->at.col],	p->row[c->at.row], p->col[c->at.col2 + 1],
			p->row[c->at.row2 + 1], BOX_CELL,	   c
		};
	}
	for (size_t i = 0; i < s->n_charts; i++, n++) {
		const struct chart *c = &s->chart[i];
		b[n] = box_placed(p, c->row, c->col, c->dx_px, c->dy_px);
		b[n].x1 = b[n].x0 + c->width_px;
		b[n].y1 = b[n].y0 + c->height_px;
		b[n].kind = BOX_CHART;
		b[n].what = c;
	}
	for (size_t i = 0; i < s->n_pictures; i++, n++) {
		const struct picture *c = &s->picture[i];
		b[n] = box_placed(p, c->row, c->col, c->dx_px, c->dy_px);
		/* a PNG of 192 dpi says its size in its head; the SVG of the same drawing says it here */
		b[n].x1 = b[n].x0 + (c->svg_width ? c->svg_width / 2.0 : 1040);
		b[n].y1 = b[n].y0 + (c->svg_height ? c->svg_height / 2.0 : 400);
		b[n].kind = BOX_PICTURE;
		b[n].what = c;
	}
	return n;
}

/* ---- the PTS header block ---- */

static bool header_key(enum look k)
{
	return k >= LOOK_KEY_PLATFORM && k <= LOOK_KEY_TEST;
}

static const struct box *find_look(const struct box *b, size_t n, enum look look)
{
	for (size_t i = 0; i < n; i++)
		if (b[i].kind == BOX_CELL && box_look(&b[i]) == look)
			return &b[i];
	return NULL;
}

/* "IOPS TEST - REPORT PAGE", which says SIMULATED where no drive was measured. */
static const struct cell *test_bar(const struct box *b, size_t n)
{
	const struct box *bar = find_look(b, n, LOOK_TEST_BAR);

	bar = bar ? bar : find_look(b, n, LOOK_SIMULATED);
	return bar ? box_cell(bar) : NULL;
}

static void put_pair(struct html *h, const struct cell *key, const struct cell *value)
{
	enum look k = STYLE_LOOK(value->style);
	char tmp[80], class[40];

	buf_str(h->out, "<div><dt>");
	html_text(h->out, key->text);
	buf_str(h->out, "</dt><dd>");
	if (k == LOOK_GOOD || k == LOOK_BAD || k == LOOK_WARN)
		buf_fmt(h->out, "<span class=\"chip %s\">", html_class(k, class));
	html_text(h->out, html_shown(value, tmp));
	if (k == LOOK_GOOD || k == LOOK_BAD || k == LOOK_WARN)
		buf_str(h->out, "</span>");
	buf_str(h->out, "</dd></div>\n");
}

/* Pairs of key and value among the cells above (or, @below, under) the row of the block heads. */
static void put_facts(struct html *h, const struct box *b, size_t n, uint32_t above)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (header_key(box_look(&b[i])) && box_cell(&b[i])->at.row < above &&
		    box_cell(&b[i + 1])->at.row == box_cell(&b[i])->at.row)
			put_pair(h, box_cell(&b[i]), box_cell(&b[i + 1]));
}

static void put_block_of(struct html *h, const struct box *b, size_t n, const struct cell *head)
{
	char class[40];

	buf_fmt(h->out, "<div class=\"block\"><h4 class=\"%s\">",
		html_class(STYLE_LOOK(head->style), class));
	html_text(h->out, head->text);
	buf_str(h->out, "</h4><dl>\n");
	for (size_t i = 0; i + 1 < n; i++) {
		const struct cell *c = box_cell(&b[i]);
		if (header_key(STYLE_LOOK(c->style)) && c->at.row > head->at.row &&
		    c->at.col >= head->at.col && c->at.col2 <= head->at.col2)
			put_pair(h, c, box_cell(&b[i + 1]));
	}
	buf_str(h->out, "</dl></div>\n");
}

static uint32_t block_row(const struct box *b, size_t n)
{
	const struct box *head = find_look(b, n, LOOK_HEAD_PLATFORM);

	return head ? box_cell(head)->at.row : UINT32_MAX;
}

static void put_header(struct html *h, const struct box *b, size_t n)
{
	buf_str(h->out, "<div class=\"card\"><div class=\"subject-line\">");
	for (size_t i = 0; i < n; i++) {
		enum look k = box_look(&b[i]);
		if (k != LOOK_ORG && k != LOOK_SUBJECT)
			continue;
		buf_str(h->out, "<span>");
		html_text(h->out, box_cell(&b[i])->text);
		buf_str(h->out, "</span>\n");
	}
	buf_str(h->out, "</div><dl class=\"facts\">\n");
	put_facts(h, b, n, block_row(b, n));
	buf_str(h->out, "</dl><div class=\"blocks\">\n");
	for (size_t i = 0; i < n; i++)
		if (box_look(&b[i]) >= LOOK_HEAD_PLATFORM && box_look(&b[i]) <= LOOK_HEAD_TEST)
			put_block_of(h, b, n, box_cell(&b[i]));
	buf_str(h->out, "</div>");
}

/* ---- pages of a sheet ---- */

struct sheet_view {
	struct box *b;
	size_t n, n_header; /* the header block comes first */
	unsigned pages;
	bool test; /* has the PTS header block */
};

static unsigned page_of(const struct grid_sheet *s, const struct box *b, const struct plane *p)
{
	unsigned n = 0;

	for (size_t i = 0; i < s->n_breaks; i++) {
		uint32_t row = s->page_break[i] < p->n_rows ? s->page_break[i] : p->n_rows;
		n += b->y0 >= p->row[row] - 1;
	}
	return n;
}

static const char *page_title(const struct box *b, size_t n, const char *fallback)
{
	const struct box *bar = find_look(b, n, LOOK_PAGE_BAR);

	return bar ? box_cell(bar)->text : fallback;
}

/* The state of the test beside the title of each of its pages. */
static void put_chips(struct html *h, const struct sheet_view *v)
{
	char class[40];

	for (size_t i = 0; i < v->n_header; i++) {
		enum look k = box_look(&v->b[i]);
		if (k != LOOK_GOOD && k != LOOK_BAD && k != LOOK_WARN)
			continue;
		buf_fmt(h->out, " <span class=\"chip %s\">", html_class(k, class));
		html_text(h->out, box_cell(&v->b[i])->text);
		buf_str(h->out, "</span>");
	}
	if (find_look(v->b, v->n_header, LOOK_SIMULATED))
		buf_fmt(h->out, " <span class=\"chip %s\">SIMULATED</span>",
			html_class(LOOK_SIMULATED, class));
}

/* Who and what, on paper at the head of each page after the first. */
static void put_running(struct html *h, const struct sheet_view *v)
{
	const struct cell *bar = test_bar(v->b, v->n_header);

	buf_str(h->out, "<div class=\"running\"><b>");
	if (bar)
		html_text(h->out, bar->text);
	buf_str(h->out, "</b><dl class=\"facts\">\n");
	put_facts(h, v->b, v->n_header, block_row(v->b, v->n_header));
	buf_str(h->out, "</dl></div>\n");
}

static void put_page(struct html *h, const struct sheet_view *v, struct box *b, size_t n,
		     unsigned page)
{
	const struct box *bar = find_look(b, n, LOOK_PAGE_BAR);

	h->page_name = page_title(b, n, h->sheet->name);
	buf_fmt(h->out, "<article class=\"page%s\" id=\"s%up%u\">\n", page ? "" : " first",
		h->sheet_no, page + 1);
	if (v->test)
		put_running(h, v);
	h->heading = bar ? '4' : '3';
	if (bar) {
		size_t at = (size_t)(bar - b);
		buf_str(h->out, "<h3 class=\"page-title\"><span>");
		html_text(h->out, h->page_name);
		buf_str(h->out, "</span><span>");
		put_chips(h, v);
		buf_str(h->out, "</span></h3>\n");
		memmove(b + at, b + at + 1, (n - at - 1) * sizeof *b);
		n--;
	}
	html_region(h, b, n);
	buf_str(h->out, "</article>\n");
}

static size_t pick_page(const struct html *h, const struct sheet_view *v, const struct plane *p,
			unsigned page, struct box *out)
{
	size_t n = 0;

	for (size_t i = v->n_header; i < v->n; i++)
		if (page_of(h->sheet, &v->b[i], p) == page)
			out[n++] = v->b[i];
	return n;
}

static void put_toc(struct html *h, const struct sheet_view *v, const struct plane *p)
{
	struct box *b = arena_array(&h->arena, struct box, v->n + 1);

	buf_str(h->out, "<ul class=\"toc\">\n");
	for (unsigned i = 0; i < v->pages; i++) {
		size_t n = pick_page(h, v, p, i, b);
		if (!n)
			continue;
		buf_fmt(h->out, "<li><a href=\"#s%up%u\">", h->sheet_no, i + 1);
		html_text(h->out, page_title(b, n, h->sheet->name));
		buf_str(h->out, "</a></li>\n");
	}
	buf_str(h->out, "</ul>\n");
}

/* Title of a section, from the header block or the band at the top of a plain sheet. */
static void put_title(struct html *h, struct sheet_view *v)
{
	const struct cell *bar = v->test ? test_bar(v->b, v->n_header) : NULL;
	const struct box *title = find_look(v->b, v->n, LOOK_TITLE);
	const struct box *more = find_look(v->b, v->n, LOOK_SUBTITLE);
	const char *main_text = bar ? bar->text : h->sheet->name;
	char class[40];

	buf_fmt(h->out, "<section class=\"sheet\" id=\"s%u\">\n<h2", h->sheet_no);
	if (bar && STYLE_LOOK(bar->style) == LOOK_SIMULATED)
		buf_fmt(h->out, " class=\"%s\"", html_class(LOOK_SIMULATED, class));
	buf_str(h->out, ">");
	html_text(h->out, main_text);
	if (!bar && title && h->sheet_no > 1) {
		buf_str(h->out, " - ");
		html_text(h->out, box_cell(title)->text);
	}
	if (!bar && more && h->sheet_no > 1) {
		buf_str(h->out, "<small>");
		html_text(h->out, box_cell(more)->text);
		buf_str(h->out, "</small>");
	}
	buf_str(h->out, "</h2>\n");
	size_t kept = v->n_header;
	for (size_t i = v->n_header; i < v->n; i++) {
		bool titled = v->b[i].kind == BOX_CELL && (box_look(&v->b[i]) == LOOK_TITLE ||
							   box_look(&v->b[i]) == LOOK_SUBTITLE);
		if (!titled)
			v->b[kept++] = v->b[i];
	}
	v->n = kept;
}

static void put_sheet(struct html *h, const struct grid_sheet *s)
{
	struct sheet_view v = { .pages = (unsigned)s->n_breaks + 1 };
	struct plane p;

	h->sheet = s;
	plane_init(&p, s, &h->arena);
	v.b = arena_array(&h->arena, struct box, s->n_cells + s->n_charts + s->n_pictures + 1);
	v.n = take_boxes(s, &p, v.b);
	boxes_sort(v.b, v.n, CUT_DOWN);
	while (v.n_header < v.n && v.b[v.n_header].kind == BOX_CELL &&
	       box_cell(&v.b[v.n_header])->at.row < s->repeat_rows)
		v.n_header++;
	v.test = find_look(v.b, v.n_header, LOOK_HEAD_PLATFORM) && test_bar(v.b, v.n_header);
	if (!v.test)
		v.n_header = 0;
	put_title(h, &v);
	h->width = fmax(boxes_width(v.b, v.n), 1);
	if (v.test) {
		put_header(h, v.b, v.n_header);
		put_toc(h, &v, &p);
		buf_str(h->out, "</div>\n");
	}
	struct box *page = arena_array(&h->arena, struct box, v.n + 1);
	for (unsigned i = 0; i < v.pages; i++) {
		size_t n = pick_page(h, &v, &p, i, page);
		if (n)
			put_page(h, &v, page, n, i);
	}
	buf_str(h->out, "</section>\n");
}

/* ---- the document ---- */

static void put_head(struct html *h)
{
	const struct grid *g = h->grid;

	buf_str(h->out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
		"<meta name=\"generator\" content=\"");
	html_text(h->out, g->author);
	buf_str(h->out, "\">\n<title>");
	html_text(h->out, g->title);
	buf_str(h->out, " - ");
	html_text(h->out, g->subject);
	buf_str(h->out, "</title>\n");
	html_style(h->out, g);
	buf_str(h->out, "</head>\n<body>\n");
}

static const struct cell *sheet_look(const struct grid_sheet *s, enum look look)
{
	for (size_t i = 0; s && i < s->n_cells; i++)
		if (STYLE_LOOK(s->cell[i].style) == look)
			return &s->cell[i];
	return NULL;
}

static void put_top(struct html *h)
{
	const struct cell *title = sheet_look(h->grid->first, LOOK_TITLE);
	const struct cell *more = sheet_look(h->grid->first, LOOK_SUBTITLE);

	buf_str(h->out, "<header class=\"top\"><h1>");
	html_text(h->out, title ? title->text : h->grid->title);
	buf_str(h->out, "</h1><p>");
	html_text(h->out, more ? more->text : h->grid->subject);
	buf_str(h->out, "</p></header>\n");
}

/* What must never scroll out of sight: the verdict, and that no drive was measured. */
static void put_states(struct html *h)
{
	static const enum look loud[] = { LOOK_BIG_BAD, LOOK_BIG_WARN, LOOK_BIG_GOOD,
					  LOOK_SIMULATED };
	char class[40];

	if (*h->grid->prefix) /* several runs: each says it on its own pages */
		return;
	for (unsigned i = 0; i < 4; i++) {
		const struct cell *c = sheet_look(h->grid->first, loud[i]);
		if (!c)
			continue;
		buf_fmt(h->out, "<span class=\"chip %s\">", html_class(loud[i], class));
		html_text(h->out, i < 3 ? c->text : "SIMULATED");
		buf_str(h->out, "</span>\n");
	}
}

static void put_bar(struct html *h)
{
	unsigned no = 0;
	bool data = false;

	buf_str(h->out, "<nav class=\"bar\" aria-label=\"Sections\">\n");
	put_states(h);
	for (const struct grid_sheet *s = h->grid->first; s; s = s->next) {
		no++;
		data |= s->role == ROLE_DATA;
		if (s->role == ROLE_DATA)
			continue;
		buf_fmt(h->out, "<a href=\"#s%u\">", no);
		html_text(h->out, s->name);
		buf_str(h->out, "</a>\n");
	}
	if (data)
		buf_str(h->out, "<a href=\"#data\">Data</a>\n");
	buf_str(h->out, "</nav>\n");
}

/* Long tables stay out; here is where each of their rows is. */
static void put_data(struct html *h)
{
	buf_fmt(h->out,
		"<section class=\"sheet\" id=\"data\"><h2>Data</h2>\n<div class=\"card\">\n"
		"<p class=\"text\">The rows behind this report are not in this document. All"
		" of them are in the workbook (<code>%s -o FILE.xlsx</code>), as"
		" one CSV file a sheet (<code>%s -o DIR/</code>) and in the"
		" database, which is the evidence.</p>\n<div class=\"scroll\" tabindex=\"0\">"
		"<table style=\"max-width:26rem\"><thead><tr>"
		"<th scope=\"col\" class=\"head b\">Sheet</th>"
		"<th scope=\"col\" class=\"head b\">Rows</th></tr></thead><tbody>\n",
		h->grid->command, h->grid->command);
	for (const struct grid_sheet *s = h->grid->first; s; s = s->next) {
		char tmp[80];
		if (s->role != ROLE_DATA)
			continue;
		buf_str(h->out, "<tr><td class=\"cell b\">");
		html_text(h->out, s->name);
		buf_fmt(h->out, "</td><td class=\"cell b n\">%s</td></tr>\n",
			html_num(tmp, sizeof tmp, NUM_GROUP, s->n_rows ? s->n_rows - 1 : 0));
	}
	buf_str(h->out, "</tbody></table></div></div></section>\n");
}

/* As a block of data, which no browser runs: "<" is written as JSON allows, so that nothing ends it early. */
static void put_json(struct html *h, const char *json)
{
	buf_str(h->out, "<script type=\"application/json\" id=\"report\">");
	for (const char *p = json; *p; p++) {
		if (*p == '<')
			buf_str(h->out, "\\u003c");
		else
			buf_add(h->out, p, 1);
	}
	buf_str(h->out, "</script>\n");
}

void grid_write_html(const struct grid *g, const char *json, struct buf *out)
{
	struct html h = { .grid = g, .index = grid_index_new(g), .out = out, .page_name = "" };
	bool data = false;

	put_head(&h);
	put_top(&h);
	put_bar(&h);
	buf_str(out, "<main>\n");
	for (const struct grid_sheet *s = g->first; s; s = s->next) {
		h.sheet_no++;
		data |= s->role == ROLE_DATA;
		if (s->role == ROLE_PAGE)
			put_sheet(&h, s);
		arena_release(&h.arena);
		h.arena = (struct arena)ARENA_INIT;
	}
	if (data)
		put_data(&h);
	buf_str(out, "<footer>");
	html_text(out, g->footer_left);
	buf_str(out, " - ");
	html_text(out, g->footer_right);
	buf_str(out, "</footer>\n</main>\n");
	if (json)
		put_json(&h, json);
	buf_str(out, "</body>\n</html>\n");
	grid_index_free(h.index);
}
