/* SPDX-License-Identifier: MIT */
/* How the HTML report looks: screen, phone, print. The looks of cells come from the grid's own table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/grid_html.h"

#define NO_GROUND 0xffffffffu
#define AA 4.5

static double luminance(uint32_t rgb)
{
	static const double weight[3] = { 0.2126, 0.7152, 0.0722 };
	double sum = 0;

	for (unsigned i = 0; i < 3; i++) {
		double c = (double)(rgb >> (16 - 8 * i) & 255) / 255;
		sum += weight[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
	}
	return sum;
}

double html_contrast(uint32_t ink, uint32_t ground)
{
	double a = luminance(ink), b = luminance(ground);

	return (fmax(a, b) + 0.05) / (fmin(a, b) + 0.05);
}

static uint32_t toward(uint32_t rgb, double end, double k)
{
	uint32_t out = 0;

	for (unsigned i = 0; i < 3; i++) {
		double c = (double)(rgb >> (16 - 8 * i) & 255);
		out = out << 8 | (uint32_t)lrint(c + (end - c) * k);
	}
	return out;
}

uint32_t html_ink(uint32_t ink, uint32_t ground)
{
	double end = luminance(ground) > 0.18 ? 0 : 255;
	uint32_t at = ink;

	for (unsigned i = 1; i <= 20 && html_contrast(at, ground) < AA; i++)
		at = toward(ink, end, i / 20.0);
	return at;
}

const char *html_class(enum look look, char tmp[40])
{
	unsigned same = 0;

	for (enum look k = 0; k < look; k++)
		same += !strcmp(look_def(k)->name, look_def(look)->name);
	if (same)
		snprintf(tmp, 40, "%s-%u", look_def(look)->name, same + 1);
	else
		snprintf(tmp, 40, "%s", look_def(look)->name);
	return tmp;
}

static void look_rule(struct buf *out, enum look look)
{
	const struct look_def *d = look_def(look);
	uint32_t ground = d->bg == NO_GROUND ? 0xffffff : d->bg;
	char class[40];

	buf_fmt(out, ".%s{color:#%06x", html_class(look, class), html_ink(d->color, ground));
	if (d->bg != NO_GROUND)
		buf_fmt(out, ";background:#%06x", d->bg);
	if (d->bold)
		buf_str(out, ";font-weight:600");
	if (d->italic)
		buf_str(out, ";font-style:italic");
	if (d->mono)
		buf_str(out, ";font-family:ui-monospace,Consolas,monospace;overflow-wrap:anywhere");
	if (d->align)
		buf_fmt(out, ";text-align:%s",
			d->align == 'c'	  ? "center"
			: d->align == 'r' ? "right"
					  : "left");
	buf_str(out, "}\n");
}

static const char screen[] =
	"*{box-sizing:border-box}\n"
	"html{scroll-padding-top:3.4rem;-webkit-text-size-adjust:100%}\n"
	"body{margin:0;background:#eef1f6;color:#1b1f27;font:15px/1.45 Calibri,Carlito,\"Segoe "
	"UI\","
	"system-ui,\"Helvetica Neue\",Arial,sans-serif;overflow-wrap:break-word}\n"
	"a{color:#1f3fbf}\n"
	".top{background:#1f3864;color:#fff;padding:1.1rem 1.5rem}\n"
	".top h1{margin:0;font-size:1.55rem;line-height:1.2}\n"
	".top p{margin:.35rem 0 0;color:#d9e2f3}\n"
	".bar{position:sticky;top:0;z-index:2;background:#fff;border-bottom:1px solid #c9d1de;"
	"display:flex;align-items:center;gap:.4rem;overflow-x:auto;padding:.45rem 1.5rem;"
	"white-space:nowrap}\n"
	".bar a{text-decoration:none;font-weight:600;color:#1f3864;padding:.2rem .5rem;"
	"border-radius:4px}\n"
	".bar a:hover,.bar a:focus{background:#dee3ed}\n"
	".chip{display:inline-block;font-size:.8rem;font-weight:600;border-radius:4px;"
	"padding:.12rem .5rem;white-space:nowrap}\n"
	"main{max-width:1296px;margin:0 auto;padding:1rem}\n"
	".sheet{margin:0 0 1.6rem}\n"
	".sheet>h2,.card,.page{background:#fff;border:1px solid #d5dbe6;border-radius:6px}\n"
	".sheet>h2{margin:0 0 .7rem;padding:.6rem 1rem;background:#1f3864;color:#fff;"
	"font-size:1.25rem;line-height:1.3}\n"
	".sheet>h2.simulated{background:#7030a0;text-align:left}\n"
	".sheet>h2 small{display:block;font-weight:400;font-size:.85rem;color:#d9e2f3}\n"
	".card,.page{padding:.8rem 1rem;margin:0 0 .8rem}\n"
	".page-title{margin:-.8rem -1rem .8rem;padding:.45rem 1rem;background:#ffd966;color:#000;"
	"border-radius:5px 5px 0 0;font-size:1.05rem;display:flex;flex-wrap:wrap;gap:.3rem .6rem;"
	"justify-content:space-between;align-items:center}\n"
	".running{display:none}\n"
	".heading{margin:1rem 0 .4rem;padding:.3rem .7rem;background:#dee3ed;color:#1f3864;"
	"font-size:1rem;border-radius:4px}\n"
	".heading:first-child{margin-top:0}\n"
	".band{padding:.5rem .8rem;margin:0 0 .5rem;border-radius:4px;text-align:center;"
	"font-weight:600}\n"
	".bands{display:flex;flex-wrap:wrap;gap:.5rem;margin:0 0 .5rem}\n"
	".bands>.band{margin:0;flex:1 1 16rem;display:flex;align-items:center;"
	"justify-content:center}\n"
	".big{font-size:1.2rem}\n"
	"p.text{margin:.4rem 0}\n"
	"p.note{font-size:.88rem}\n"
	".subject-line{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;margin:0 0 .6rem;"
	"font-weight:600;color:#1f3864}\n"
	".facts{display:flex;flex-wrap:wrap;gap:.15rem 1.4rem;margin:0 0 .7rem;font-size:.88rem}\n"
	".facts div,.block div{display:flex;gap:.5rem}\n"
	"dl,dd{margin:0}dt{font-weight:600;color:#404040}\n"
	".blocks{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,15.5rem),1fr));"
	"gap:.6rem}\n"
	".block{border:1px solid #c9d1de;border-radius:4px;font-size:.82rem;overflow:hidden}\n"
	".block h4{margin:0;border-radius:0;font-size:.82rem;padding:.2rem "
	".5rem;text-align:center}\n"
	".block div{border-top:1px solid #e1e5ec}\n"
	".block dt{flex:0 0 43%;padding:.1rem .5rem}\n"
	".block dd{flex:1;min-width:0;padding:.1rem .5rem .1rem 0;overflow-wrap:anywhere}\n"
	".toc{margin:.7rem 0 0;padding:0;list-style:none;display:grid;gap:.1rem 1.2rem;"
	"grid-template-columns:repeat(auto-fill,minmax(min(100%,24rem),1fr));font-size:.88rem}\n"
	".cols{display:flex;flex-wrap:wrap;gap:.8rem 1rem;align-items:flex-start}\n"
	".cols{margin:0 0 .8rem}.cols:last-child{margin-bottom:0}.cols>*{min-width:0}\n"
	".scroll{overflow-x:auto;max-width:100%;margin:0 0 .8rem}\n"
	".scroll:last-child{margin-bottom:0}\n"
	"table{border-collapse:collapse;width:100%;font-size:.86rem;line-height:1.3}\n"
	"th,td{padding:.22rem .5rem;text-align:left;font-weight:400;vertical-align:middle}\n"
	"th{font-weight:600}.s{white-space:nowrap}td.anywhere{overflow-wrap:anywhere}\n"
	".b{border:1px solid #c3cad6}\n"
	".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
	"tr:hover>td:not([style]){box-shadow:inset 0 0 0 99px rgba(31,56,100,.06)}\n"
	"figure{margin:0 0 .8rem}figure:last-child{margin-bottom:0}\n"
	".plot{overflow-x:auto;border:1px solid #d5dbe6;border-radius:4px;background:#fff}\n"
	".plot>svg,.plot>img{display:block;width:100%;height:auto;max-width:77rem;"
	"margin:0 auto}\n"
	"svg text{font-family:Calibri,Carlito,\"Segoe UI\",system-ui,\"Helvetica Neue\",Arial,"
	"sans-serif}\n"
	"svg .t{font-size:12px;fill:#404040}svg .v{font-size:11px;fill:#404040}\n"
	"svg .a{font-size:12.5px;font-weight:600;fill:#404040}\n"
	"svg .h{font-size:14px;font-weight:600;fill:#1f3864}\n"
	"svg .g{stroke:#d9d9d9;stroke-width:.75}svg .e{stroke:#808080;fill:none}\n"
	"details{font-size:.88rem;margin:.3rem 0 0}\n"
	"summary{cursor:pointer;color:#1f3864;font-weight:600}\n"
	"details .scroll{max-height:26rem;overflow:auto;margin-top:.4rem}\n"
	"details table{width:auto;min-width:50%}\n"
	"footer{color:#404040;font-size:.85rem;padding:0 0 2rem}\n";

static const char phone[] =
	"@media (max-width:600px){\n"
	".top,.bar{padding-left:.8rem;padding-right:.8rem}main{padding:.5rem}\n"
	".card,.page{padding:.6rem}.page-title{margin:-.6rem -.6rem .6rem;padding:.4rem .6rem}\n"
	"svg .t,svg .v{font-size:14px}svg .a{font-size:14.5px}\n"
	"}\n";

/* A page of the report is a sheet of paper; each carries who, what and whether it counts. */
static const char print[] =
	"@media print{\n"
	"*{-webkit-print-color-adjust:exact;print-color-adjust:exact}\n"
	"html{font-size:13px}body{background:#fff;font-size:9.5px;line-height:1.3}\n"
	".bar,.toc,details{display:none}\n"
	"main{max-width:none;padding:0}.top{padding:.5rem 1rem}\n"
	".sheet{break-before:page;margin:0}.sheet:first-child{break-before:auto}\n"
	".page,.card{border:0;padding:0;margin:0 0 .6rem}\n"
	".page{break-before:page}.first{break-before:auto}\n"
	".page-title{margin:0 0 .5rem;border-radius:0}\n"
	".running{display:block;border-bottom:1px solid #808080;margin:0 0 .4rem;padding:0 0 "
	".2rem}\n"
	".first>.running{display:none}\n"
	"h2,h3,h4{break-after:avoid}figure,tr,.bands,.block{break-inside:avoid}\n"
	"thead{display:table-header-group}\n"
	".scroll,.plot{overflow:visible}.scroll>table{min-width:0!important}\n"
	".plot{border:0}.plot>svg,.plot>img{min-width:0!important;max-height:125mm}\n"
	".cols{flex-wrap:nowrap}.cols>*{flex-shrink:1!important}\n"
	".blocks{grid-template-columns:repeat(4,1fr)}\n"
	".first .plot>svg,.first .plot>img{max-height:48mm}\n"
	"th,td{padding:.06rem .3rem}.heading{margin:.4rem 0 .2rem;padding:.1rem "
	".5rem}.band{padding:.25rem .5rem}\n"
	"}\n";

/* Only what can stand in a string of CSS within <style>. */
static void plain_text(struct buf *out, const char *s)
{
	for (; *s; s++) {
		bool safe = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
			    (*s >= '0' && *s <= '9') || strchr(" ./_-:()", *s);
		buf_add(out, safe ? s : "_", 1);
	}
}

static void paper(struct buf *out, const struct grid *g)
{
	buf_str(out, "@page{size:A4 landscape;margin:10mm 10mm 13mm;\n@bottom-left{content:\"");
	plain_text(out, g->footer_left);
	buf_str(out, "\";font:9px Calibri,Carlito,Arial,sans-serif}\n"
		     "@bottom-center{content:\"page \" counter(page) \" of \" counter(pages);"
		     "font:9px Calibri,Carlito,Arial,sans-serif}\n@bottom-right{content:\"");
	plain_text(out, g->footer_right);
	buf_str(out, "\";font:9px Calibri,Carlito,Arial,sans-serif}}\n");
}

void html_style(struct buf *out, const struct grid *g)
{
	buf_str(out, "<style>\n");
	buf_str(out, screen);
	for (enum look k = 0; k < LOOK_MAX; k++)
		look_rule(out, k);
	buf_str(out, phone);
	buf_str(out, print);
	paper(out, g);
	buf_str(out, "</style>\n");
}
