/* SPDX-License-Identifier: MIT */
/* Fonts, colours and number formats. Colours never carry meaning alone: each coloured cell says it in words as well. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/grid.h"

#define NONE 0xffffffffu
#define NAVY 0x1F3864
#define SLATE 0x44546A
#define INK 0x000000
#define WHITE 0xFFFFFF
#define RED 0xC00000
#define GREEN_BG 0xC6EFCE
#define GREEN_FG 0x006100
#define AMBER_BG 0xFFEB9C
#define AMBER_FG 0x7F6000
#define GREY_BG 0xEDEDED
#define GREY_FG 0x808080

static const struct look_def looks[LOOK_MAX] = {
	[LOOK_PLAIN] = { "plain", 10, INK, NONE, .align = 'l' },
	[LOOK_CELL] = { "cell", 10, INK, NONE, .border = true },
	[LOOK_CENTER] = { "center", 10, INK, NONE, .align = 'c', .border = true },
	[LOOK_WRAP] = { "wrap", 10, INK, NONE, .align = 'l', .border = true, .wrap = true },
	[LOOK_MONO] = { "mono", 9, INK, NONE, .align = 'l', .border = true, .mono = true },
	[LOOK_NOTE] = { "note", 9, 0x595959, NONE, .align = 'l', .italic = true, .wrap = true },
	[LOOK_TITLE] = { "title", 20, WHITE, NAVY, .align = 'l', .bold = true, .indent = true },
	[LOOK_SUBTITLE] = { "subtitle", 11, 0xD9E2F3, NAVY, .align = 'l', .shrink = true,
			    .indent = true },
	[LOOK_SECTION] = { "section", 11, NAVY, 0xDEE3ED, .align = 'l', .bold = true,
			   .indent = true },
	[LOOK_HEAD] = { "head", 9, WHITE, SLATE, .align = 'c', .bold = true, .border = true,
			.wrap = true },
	[LOOK_HEAD_WINDOW] = { "head-window", 9, WHITE, 0x548235, .align = 'c', .bold = true,
			       .border = true },
	[LOOK_ROW_HEAD] = { "row-head", 9, NAVY, 0xDEE3ED, .align = 'c', .bold = true,
			    .border = true, .shrink = true },
	[LOOK_KEY] = { "key", 9, 0x404040, 0xEFF4FB, .align = 'l', .bold = true, .border = true },
	[LOOK_VALUE] = { "value", 9, INK, NONE, .align = 'l', .border = true, .shrink = true },
	[LOOK_WINDOW] = { "window", 10, INK, 0xE2EFDA, .border = true },
	[LOOK_FORMULA] = { "formula", 10, 0x1F3FBF, NONE, .border = true },
	[LOOK_STRONG] = { "strong", 10, INK, NONE, .bold = true, .border = true },
	[LOOK_LINK] = { "link", 10, 0x0000C0, NONE, .align = 'l', .border = true, .underline = true,
			.shrink = true },
	[LOOK_GOOD] = { "good", 9, GREEN_FG, GREEN_BG, .align = 'c', .bold = true, .border = true,
			.shrink = true },
	[LOOK_BAD] = { "bad", 9, WHITE, RED, .align = 'c', .bold = true, .border = true,
		       .shrink = true },
	[LOOK_WARN] = { "warn", 9, AMBER_FG, AMBER_BG, .align = 'c', .bold = true, .border = true,
			.shrink = true },
	[LOOK_NA] = { "na", 9, GREY_FG, GREY_BG, .align = 'c', .border = true, .shrink = true },
	[LOOK_UNSTEADY] = { "unsteady", 10, RED, 0xFBE5E5, .italic = true, .border = true },
	[LOOK_BIG_GOOD] = { "big-good", 15, GREEN_FG, GREEN_BG, .align = 'c', .bold = true,
			    .border = true, .shrink = true },
	[LOOK_BIG_BAD] = { "big-bad", 15, WHITE, RED, .align = 'c', .bold = true, .border = true,
			   .shrink = true },
	[LOOK_BIG_WARN] = { "big-warn", 15, AMBER_FG, AMBER_BG, .align = 'c', .bold = true,
			    .border = true, .shrink = true },
	[LOOK_SIMULATED] = { "simulated", 13, WHITE, 0x7030A0, .align = 'c', .bold = true,
			     .border = true, .shrink = true },
	[LOOK_BANNER_BAD] = { "banner-bad", 15, WHITE, RED, .align = 'c', .bold = true,
			      .border = true, .shrink = true },
	[LOOK_COUNTS] = { "counts", 11, 0x404040, 0xF2F2F2, .align = 'c', .bold = true,
			  .border = true, .shrink = true },
	[LOOK_PAGE_BAR] = { "page-bar", 11, INK, 0xFFD966, .align = 'c', .bold = true,
			    .border = true, .shrink = true },
	[LOOK_TEST_BAR] = { "test-bar", 13, WHITE, NAVY, .align = 'c', .bold = true,
			    .border = true },
	[LOOK_ORG] = { "org", 11, NAVY, NONE, .align = 'c', .bold = true, .border = true,
		       .wrap = true },
	[LOOK_SUBJECT] = { "subject", 12, WHITE, 0x7F7F7F, .align = 'c', .bold = true,
			   .border = true, .shrink = true },
	[LOOK_HEAD_PLATFORM] = { "block-head", 9, NAVY, 0xFBE4D5, .align = 'c', .bold = true,
				 .border = true },
	[LOOK_HEAD_DEVICE] = { "block-head", 9, NAVY, 0xDDEBF7, .align = 'c', .bold = true,
			       .border = true },
	[LOOK_HEAD_SETUP] = { "block-head", 9, NAVY, 0xE2EFDA, .align = 'c', .bold = true,
			      .border = true },
	[LOOK_HEAD_TEST] = { "block-head", 9, NAVY, 0xE4DFEC, .align = 'c', .bold = true,
			     .border = true },
	[LOOK_KEY_PLATFORM] = { "key", 9, 0x404040, 0xFDF1E8, .align = 'l', .bold = true,
				.border = true },
	[LOOK_KEY_DEVICE] = { "key", 9, 0x404040, 0xEDF4FB, .align = 'l', .bold = true,
			      .border = true },
	[LOOK_KEY_SETUP] = { "key", 9, 0x404040, 0xF0F7EC, .align = 'l', .bold = true,
			     .border = true },
	[LOOK_KEY_TEST] = { "key", 9, 0x404040, 0xF1EEF6, .align = 'l', .bold = true,
			    .border = true },
	[LOOK_INPUT] = { "input", 10, 0x1F3FBF, 0xFFF8DC, .border = true },
	[LOOK_DIFFERS] = { "differs", 9, 0x9C0006, 0xFBE5E5, .align = 'l', .border = true,
			   .wrap = true },
	[LOOK_SIGN] = { "sign", 9, 0x404040, NONE, .align = 'l', .thick = true },
};

const struct look_def *look_def(enum look look)
{
	return &looks[look];
}

static const struct {
	const char *code;
	int decimals;
	char kind; /* 'f' fixed, 'p' percent, 's' percent with its sign, 'e' exponent, 'g' general */
} formats[NUM_MAX] = {
	[NUM_GENERAL] = { "General", 0, 'g' },
	[NUM_INT] = { "0", 0, 'f' },
	[NUM_GROUP] = { "#,##0", 0, 'f' },
	[NUM_GROUP1] = { "#,##0.0", 1, 'f' },
	[NUM_GROUP2] = { "#,##0.00", 2, 'f' },
	[NUM_1] = { "0.0", 1, 'f' },
	[NUM_2] = { "0.00", 2, 'f' },
	[NUM_3] = { "0.000", 3, 'f' },
	[NUM_4] = { "0.0000", 4, 'f' },
	[NUM_6] = { "0.000000", 6, 'f' },
	[NUM_PCT1] = { "0.0%", 1, 'p' },
	[NUM_PCT2] = { "0.00%", 2, 'p' },
	[NUM_DELTA] = { "+0.0%;-0.0%;0.0%", 1, 's' },
	[NUM_EXP] = { "0.0E+00", 1, 'e' },
	[NUM_PAD] = { "#,##0\"       \"", 0, 'f' },
};

const char *numfmt_code(enum numfmt fmt)
{
	return formats[fmt].code;
}

const char *numfmt_text(char *out, size_t n, enum numfmt fmt, double v)
{
	int dec = formats[fmt].decimals;

	if (!isfinite(v))
		snprintf(out, n, "n/a");
	else if (formats[fmt].kind == 'p')
		snprintf(out, n, "%.*f%%", dec, v * 100);
	else if (formats[fmt].kind == 's')
		snprintf(out, n, "%s%.*f%%", v * 100 >= 0.05 ? "+" : "", dec, v * 100);
	else if (formats[fmt].kind == 'e')
		snprintf(out, n, "%.*E", dec, v);
	else if (formats[fmt].kind == 'g')
		snprintf(out, n, "%.10g", v);
	else
		snprintf(out, n, "%.*f", dec, v);
	return out;
}
