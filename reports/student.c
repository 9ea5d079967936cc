/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/student.h"

#define STEPS_MAX 100000 /* of the continued fraction: it needs about sqrt(max(a, b)) */

/* What must not be 0 in a quotient. */
static double kept_off_zero(double v)
{
	return fabs(v) < 1e-300 ? 1e-300 : v;
}

/* Continued fraction of the incomplete beta function, evaluated from the front; converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / kept_off_zero(1 - (a + b) * x / (a + 1)), h = d;

	for (int m = 1; m < STEPS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / kept_off_zero(1 + even * d);
		c = kept_off_zero(1 + even / c);
		h *= d * c;
		d = 1 / kept_off_zero(1 + odd * d);
		c = kept_off_zero(1 + odd / c);
		h *= d * c;
		if (fabs(d * c - 1) < 1e-15)
			break;
	}
	return h;
}

/* log(gamma(a + 1/2) / gamma(a)): where both are large their difference is lost, and the series (in 1 / a) is exact. */
static double log_gamma_step(double a)
{
	double r = 1 / a;

	if (a < 100)
		return lgamma(a + 0.5) - lgamma(a);
	return 0.5 * log(a) + r * (-1.0 / 8 + r * r * (1.0 / 192 - r * r / 640));
}

/*
 * Regularised incomplete beta function of a and 1/2; @y is 1 - x, given by itself so that it is exact where x is nearly 1.
 */
static double beta_half(double a, double x, double y)
{
	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	double log_x = x > 0.5 ? log1p(-y) : log(x);
	double front = exp(log_gamma_step(a) - 0.5 * log(M_PI) + a * log_x + 0.5 * log(y));
	if (x < (a + 1) / (a + 2.5))
		return front * beta_fraction(a, 0.5, x) / a;
	return 1 - front * beta_fraction(0.5, a, y) / 0.5;
}

double student_p(double t, double degrees)
{
	if (!(degrees > 0) || isnan(t))
		return NAN;
	if (isinf(t))
		return 0;
	double sum = degrees + t * t;
	return beta_half(degrees / 2, degrees / sum, t * t / sum);
}

double student_t95(double degrees)
{
	double low = 0, high = 2;

	if (!(degrees > 0))
		return NAN;
	while (student_p(high, degrees) > 0.05 && high < 1e300)
		high *= 2;
	for (int i = 0; i < 200 && low < high; i++) { /* until no double lies between */
		double mid = low + (high - low) / 2;
		if (mid == low || mid == high)
			break;
		if (student_p(mid, degrees) > 0.05)
			low = mid;
		else
			high = mid;
	}
	return high;
}

static double mean_of(const double *v, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += v[i];
	return sum / n;
}

/* Variance of the mean. */
static double mean_variance(const double *v, unsigned n)
{
	double mean = mean_of(v, n), sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sum / (n - 1) / n;
}

struct welch welch_test(const double *a, unsigned n_a, const double *b, unsigned n_b)
{
	struct welch w = { NAN, NAN, NAN };

	if (n_a < 2 || n_b < 2)
		return w;
	double u = mean_variance(a, n_a), v = mean_variance(b, n_b);
	double difference = mean_of(a, n_a) - mean_of(b, n_b);
	if (u + v > 0) {
		w.t = difference / sqrt(u + v);
		w.degrees = (u + v) * (u + v) / (u * u / (n_a - 1) + v * v / (n_b - 1));
	} else { /* no spread at all: equal, or different for certain */
		w.t = difference > 0 ? INFINITY : difference < 0 ? -INFINITY : 0;
		w.degrees = n_a + n_b - 2;
	}
	w.p = student_p(w.t, w.degrees);
	return w;
}
