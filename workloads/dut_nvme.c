/* SPDX-License-Identifier: MIT */
/* An NVMe namespace by its controller's own words: who it is, what it can do, its write cache, its health, who shares it. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <libnvme.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "pts/base/units.h"
#include "workloads/dut_nvme_impl.h"
#include "workloads/dut_real.h"

/* ---- identify ---- */

/* Padded with blanks, not terminated. */
static void fixed_text(char *out, size_t n, const char *in, size_t len)
{
	char text[64];

	snprintf(text, sizeof text, "%.*s", (int)len, in);
	clean_text(out, n, text);
}

/* "" where all is zero: not told. */
static void hex_text(char *out, size_t n, const uint8_t *in, size_t len)
{
	bool any = false;

	for (size_t i = 0; i < len && 2 * i + 3 <= n; i++) {
		snprintf(out + 2 * i, 3, "%02x", in[i]);
		any |= in[i] != 0;
	}
	if (!any)
		out[0] = 0;
}

static void read_ctrl(struct nvme_caps *c, const struct nvme_id_ctrl *id)
{
	uint16_t oacs = le16toh(id->oacs);
	uint32_t sanicap = le32toh(id->sanicap);

	*c = (struct nvme_caps){
		.format = oacs & NVME_CTRL_OACS_FORMAT,
		.ns_management = oacs & NVME_CTRL_OACS_NS_MGMT,
		.format_reaches_all = id->fna & NVME_CTRL_FNA_FMT_ALL_NAMESPACES,
		.erase_reaches_all = id->fna & NVME_CTRL_FNA_SEC_ALL_NAMESPACES,
		.crypto = sanicap & NVME_CTRL_SANICAP_CES,
		.block = sanicap & NVME_CTRL_SANICAP_BES,
		.overwrite = sanicap & NVME_CTRL_SANICAP_OWS,
		.dsm = le16toh(id->oncs) & NVME_CTRL_ONCS_DSM,
		.write_cache = id->vwc & NVME_CTRL_VWC_PRESENT,
		.nn = le32toh(id->nn),
	};
	fixed_text(c->serial, sizeof c->serial, id->sn, sizeof id->sn);
	fixed_text(c->model, sizeof c->model, id->mn, sizeof id->mn);
	fixed_text(c->firmware, sizeof c->firmware, id->fr, sizeof id->fr);
}

/* The upper bits of FLBAS count only where there are more than 16 formats. */
static void read_ns(struct nvme_ns *ns, const struct nvme_id_ns *id)
{
	uint8_t f;

	nvme_id_ns_flbas_to_lbaf_inuse(id->flbas, &f);
	if (id->nlbaf + 1 + id->nulbaf <= 16)
		f &= NVME_NS_FLBAS_LOWER_MASK;
	*ns = (struct nvme_ns){
		.blocks = le64toh(id->nsze),
		.lba_bytes = id->lbaf[f].ds < 32 ? 1u << id->lbaf[f].ds : 0,
		.metadata_bytes = le16toh(id->lbaf[f].ms),
		.format = f,
		.extended = id->flbas & NVME_NS_FLBAS_META_EXT,
		.protection = id->dps & NVME_NS_DPS_PI_MASK,
		.protection_first = id->dps & NVME_NS_DPS_PI_FIRST,
	};
	hex_text(ns->eui, sizeof ns->eui, id->eui64, sizeof id->eui64);
	hex_text(ns->nguid, sizeof ns->nguid, id->nguid, sizeof id->nguid);
}

static bool differ(const char *a, const char *b)
{
	return a[0] && b[0] && strcmp(a, b);
}

/* What the kernel knows was read when it found the drive; another drive may answer now. */
static int agree(const struct nvme_drive *n, struct err *err)
{
	const struct nvme_place *p = &n->place;
	uint64_t bytes = n->ns.blocks * n->ns.lba_bytes;

	if (strcmp(n->caps.serial, p->serial))
		return err_set(err, -ENODEV, "%s says that its serial is '%s', the kernel has '%s'",
			       p->ctrl, n->caps.serial, p->serial);
	if (!n->ns.blocks || !n->ns.lba_bytes)
		return err_set(err, -ENODEV, "%s has no namespace %u", p->ctrl, p->nsid);
	if (differ(n->ns.nguid, p->nguid) || differ(n->ns.eui, p->eui))
		return err_set(err, -ENODEV,
			       "namespace %u of %s is another than %s: its identifier is %s",
			       p->nsid, p->ctrl, p->block,
			       differ(n->ns.nguid, p->nguid) ? n->ns.nguid : n->ns.eui);
	if (bytes != p->capacity_bytes)
		return err_set(err, -ENODEV,
			       "namespace %u of %s has %llu bytes, %s has %llu (rescan it: nvme "
			       "ns-rescan)",
			       p->nsid, p->ctrl, (unsigned long long)bytes, p->block,
			       (unsigned long long)p->capacity_bytes);
	return 0;
}

int nvme_drive_identify(struct nvme_drive *n, struct err *err)
{
	union {
		struct nvme_id_ctrl ctrl;
		struct nvme_id_ns ns;
	} *id = calloc(1, sizeof *id);
	int rc;

	BUG_ON(!id);
	rc = nvme_result(n, nvme_identify_ctrl(n->fd, &id->ctrl), "identify controller", err);
	if (!rc) {
		read_ctrl(&n->caps, &id->ctrl);
		memset(id, 0, sizeof *id);
		rc = nvme_result(n, nvme_identify_ns(n->fd, n->place.nsid, &id->ns),
				 "identify namespace", err);
	}
	if (!rc)
		read_ns(&n->ns, &id->ns);
	free(id);
	return rc ? rc : agree(n, err);
}

int nvme_trusted(struct nvme_drive *n, struct err *err)
{
	int rc;

	if (!n->unknown)
		return 0;
	rc = nvme_drive_identify(n, err);
	if (!rc)
		n->unknown = false;
	return rc ? err_prefix(err, rc, "asked again after a command without an answer") : 0;
}

/* ---- opening ---- */

static void pause_ns(uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000),
			      .tv_nsec = (long)(ns % 1000000000) };

	nanosleep(&t, NULL); /* a signal ends it early: the stop flag is looked at then */
}

int nvme_attach(int fd, const struct nvme_place *p, struct nvme_drive **ret, struct err *err)
{
	struct nvme_drive *n = calloc(1, sizeof *n);
	struct purge_reach reach = { .n = 0 };
	int rc;

	BUG_ON(!n);
	*n = (struct nvme_drive){ .fd = fd, .place = *p, .now = clock_mono_ns, .pause = pause_ns };
	rc = nvme_drive_identify(n, err);
	if (!rc && n->caps.format)
		rc = nvme_reach(n, PURGE_NVME_FORMAT, &reach, err);
	if (rc) {
		nvme_drive_close(n);
		return rc;
	}
	n->alone = !reach.n;
	*ret = n;
	return 0;
}

/* By its number from sysfs: what lies in /dev under that name may be something else. */
static int open_controller(const struct nvme_place *p, int *ret_fd, struct err *err)
{
	char path[48], dev[32] = "";
	struct stat st;
	int fd;

	snprintf(path, sizeof path, "/dev/%s", p->ctrl);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, errno == EPERM || errno == ENOENT ? -EACCES : -errno, "%s: %s",
			       path,
			       errno == EAGAIN ? "the controller is being reset; try again"
					       : strerror(errno));
	if (!fstat(fd, &st) && S_ISCHR(st.st_mode))
		snprintf(dev, sizeof dev, "%u:%u", major(st.st_rdev), minor(st.st_rdev));
	if (strcmp(dev, p->dev)) {
		close(fd);
		return err_set(err, -ENODEV, "%s is not the controller of %s", path, p->block);
	}
	*ret_fd = fd;
	return 0;
}

int nvme_drive_open(unsigned major, unsigned minor, struct nvme_drive **ret, struct err *err)
{
	struct nvme_place p;
	int fd = -1, rc = nvme_place_find("/sys", major, minor, &p, err);

	if (!rc)
		rc = open_controller(&p, &fd, err);
	return rc ? rc : nvme_attach(fd, &p, ret, err);
}

void nvme_drive_close(struct nvme_drive *n)
{
	if (!n)
		return;
	close(n->fd);
	free(n);
}

/* ---- who else is erased ---- */

static void add_nsid(const struct nvme_drive *n, uint32_t nsid, const struct nvme_others *o,
		     struct purge_reach *r)
{
	char name[48];

	if (nsid == n->place.nsid)
		return;
	for (unsigned i = 0; i < o->n; i++)
		if (o->at[i].nsid == nsid)
			return; /* named by its disk */
	snprintf(name, sizeof name, "%.12s nsid %u", n->place.ctrl, nsid);
	purge_reach_add(r, name);
}

/* A list of namespaces, page by page: of the active ones, or (@all) of all that exist, attached or not. */
static int add_list(struct nvme_drive *n, bool all, const struct nvme_others *o,
		    struct purge_reach *r)
{
	struct nvme_ns_list *list = calloc(1, sizeof *list);
	uint32_t last = 0;
	int rc = 0;
	bool more = true;

	BUG_ON(!list);
	while (!rc && more) {
		rc = all ? nvme_identify_allocated_ns_list(n->fd, last, list)
			 : nvme_identify_active_ns_list(n->fd, last, list);
		more = !rc;
		for (unsigned i = 0; i < 1024 && more; i++) {
			uint32_t nsid = le32toh(list->ns[i]);

			more = nsid > last; /* in rising order, 0 ends it */
			if (more)
				add_nsid(n, nsid, o, r);
			last = more ? nsid : last;
		}
	}
	free(list);
	return rc;
}

/* Controllers of before NVMe 1.1 have no list. */
static int add_each(struct nvme_drive *n, const struct nvme_others *o, struct purge_reach *r)
{
	struct nvme_id_ns *id = calloc(1, sizeof *id);
	int rc = 0;

	BUG_ON(!id);
	for (uint32_t nsid = 1; nsid <= n->caps.nn && nsid <= 256 && rc >= 0; nsid++) {
		rc = nvme_identify_ns(n->fd, nsid, id);
		if (!rc && id->nsze)
			add_nsid(n, nsid, o, r);
	}
	free(id);
	return rc < 0 ? rc : 0;
}

static bool reaches_all(const struct nvme_drive *n, enum purge_method m)
{
	if (m == PURGE_NVME_FORMAT)
		return n->caps.format_reaches_all || n->caps.erase_reaches_all;
	return m == PURGE_NVME_SANITIZE_BLOCK || m == PURGE_NVME_SANITIZE_CRYPTO ||
	       m == PURGE_NVME_SANITIZE_OVERWRITE;
}

int nvme_reach(struct nvme_drive *n, enum purge_method m, struct purge_reach *ret, struct err *err)
{
	struct purge_reach r = { .n = 0 };
	struct nvme_others others;
	char path[48];
	int rc;

	if (!reaches_all(n, m)) {
		*ret = r;
		return 0;
	}
	rc = nvme_trusted(n, err);
	if (rc)
		return rc;
	nvme_place_others(&n->place, &others);
	for (unsigned i = 0; i < others.n; i++) {
		snprintf(path, sizeof path, "/dev/%.26s", others.at[i].block);
		purge_reach_add(&r, path);
	}
	rc = add_list(n, false, &others, &r);
	if (rc > 0)
		rc = add_each(n, &others, &r);
	if (!rc && n->caps.ns_management && add_list(n, true, &others, &r) < 0)
		rc = -1;
	rc = nvme_result(n, rc, "list of namespaces", err);
	if (!rc)
		*ret = r;
	return rc;
}

/* ---- facts ---- */

static uint32_t methods_of(const struct nvme_drive *n)
{
	return (n->caps.format ? 1u << PURGE_NVME_FORMAT : 0) |
	       (n->caps.block ? 1u << PURGE_NVME_SANITIZE_BLOCK : 0) |
	       (n->caps.crypto ? 1u << PURGE_NVME_SANITIZE_CRYPTO : 0) |
	       (n->caps.overwrite ? 1u << PURGE_NVME_SANITIZE_OVERWRITE : 0);
}

/* The gentlest of those that the PTS names; overwriting costs the drive a full write, so that it is taken only when named. */
static void choose_auto(const struct nvme_drive *n, struct dut_info *info)
{
	const struct nvme_caps *c = &n->caps;
	const char *no_format = !c->format ? "the controller has no Format NVM"
					   : "Format NVM would erase other namespaces, too",
		   *why;

	if (c->format && n->alone) {
		info->purge_auto = PURGE_NVME_FORMAT;
		why = "Format NVM with user data erase; it reaches this namespace only";
	} else if (c->block) {
		info->purge_auto = PURGE_NVME_SANITIZE_BLOCK;
		why = "sanitize by block erase, of all namespaces";
	} else if (c->crypto) {
		info->purge_auto = PURGE_NVME_SANITIZE_CRYPTO;
		why = "sanitize by crypto erase, of all namespaces; the drive has no block erase";
	} else if (c->format) {
		info->purge_auto = PURGE_NVME_FORMAT;
		why = "the drive has no sanitize that would be better";
	} else if (info->purge_methods & 1u << PURGE_BLKDISCARD) {
		info->purge_auto = PURGE_BLKDISCARD;
		why = c->overwrite ? "sanitize by overwriting is only done when named; a discard "
				     "is no purge of the PTS"
				   : "no sanitize either; a discard is no purge of the PTS";
	} else {
		info->purge_auto = PURGE_NONE;
		why = c->overwrite ? "sanitize by overwriting is only done when named"
				   : "nor sanitize, nor discard";
	}
	if (c->format && n->alone)
		snprintf(info->auto_why, sizeof info->auto_why, "%s", why);
	else
		snprintf(info->auto_why, sizeof info->auto_why, "%s: %s", no_format, why);
}

void nvme_facts(const struct nvme_drive *n, struct dut_info *info)
{
	const struct nvme_caps *c = &n->caps;

	snprintf(info->model, sizeof info->model, "%s", c->model);
	snprintf(info->serial, sizeof info->serial, "%s", c->serial);
	snprintf(info->firmware, sizeof info->firmware, "%s", c->firmware);
	info->nsid = n->place.nsid;
	info->has_write_cache = c->write_cache;
	info->cache_known = true;
	info->purge_methods |= methods_of(n);
	choose_auto(n, info);
}

/* ---- the volatile write cache ---- */

static int cache_state(struct nvme_drive *n, bool *ret, struct err *err)
{
	uint32_t v = 0;
	int rc = nvme_result(
		n, nvme_get_features_volatile_wc(n->fd, NVME_GET_FEATURES_SEL_CURRENT, &v),
		"get feature 06h, volatile write cache", err);

	if (!rc)
		*ret = v & 1;
	return rc;
}

/*
 * The kernel goes on to call the queue "write back" (it knows only that there is a cache), and to flush where it is asked to. That
 * is left so: telling it "write through" would make it drop flushes also when the cache is on again. Writes of the engine are
 * O_DIRECT without O_DSYNC; nothing is flushed while a cell is measured, so that nothing measured depends on it.
 */
int nvme_write_cache(struct nvme_drive *n, bool on, bool *ret_was, struct err *err)
{
	bool was = false, now = false;
	uint32_t result = 0;
	int rc;

	if (!n->caps.write_cache)
		return err_set(err, -EOPNOTSUPP, "%s: the drive has no volatile write cache",
			       n->place.block);
	rc = nvme_trusted(n, err);
	if (!rc)
		rc = cache_state(n, &was, err);
	if (!rc && was != on) {
		rc = nvme_result(n, nvme_set_features_volatile_wc(n->fd, on, false, &result),
				 "set feature 06h, volatile write cache", err);
		if (rc && rc != -ETIMEDOUT && rc != -ENODEV)
			return -EOPNOTSUPP; /* it cannot be switched: no reason to stop a run */
	}
	if (!rc)
		rc = cache_state(n, &now, err);
	if (!rc && now != on)
		rc = err_set(err, -EOPNOTSUPP,
			     "%s: the write cache was to be %s, and the drive says that it is %s",
			     n->place.block, on ? "on" : "off", now ? "on" : "off");
	if (!rc)
		*ret_was = was;
	return rc;
}

/* ---- health ---- */

static bool throttled(struct nvme_drive *n, const struct nvme_smart_log *log)
{
	struct nvme_heat h = {
		{ le32toh(log->thm_temp1_trans_count), le32toh(log->thm_temp2_trans_count),
		  le32toh(log->thm_temp1_total_time), le32toh(log->thm_temp2_total_time) }
	};
	bool rose = false;

	for (unsigned i = 0; i < 4; i++)
		rose |= n->have_heat && h.count[i] > n->heat.count[i];
	n->heat = h;
	n->have_heat = true;
	return rose;
}

int nvme_health(struct nvme_drive *n, struct health *ret, struct err *err)
{
	struct nvme_smart_log log;
	struct health h;
	int rc;

	memset(&log, 0, sizeof log);
	rc = nvme_trusted(n, err);
	if (!rc)
		rc = nvme_result(n, nvme_get_log_smart(n->fd, NVME_NSID_ALL, false, &log),
				 "SMART / Health log", err);
	if (rc)
		return rc;
	health_smart((const uint8_t *)&log, &h);
	h.throttled = throttled(n, &log);
	memcpy(h.link, ret->link, sizeof h.link);
	if (!h.have_temperature) {
		h.have_temperature = ret->have_temperature;
		h.temperature_c = ret->temperature_c;
	}
	*ret = h;
	return 0;
}
