/* SPDX-License-Identifier: MIT */
/* Student's t: how wide the mean of a few samples is known, and whether two means differ (Welch). */
#ifndef REPORTS_STUDENT_H
#define REPORTS_STUDENT_H

/* Two-sided p of |t| at that many degrees of freedom (any above 0). NAN where there is none. */
double student_p(double t, double degrees);
/* Two-sided 95 % point of Student's t: TINV(0.05, degrees). NAN at 0 degrees or fewer. */
double student_t95(double degrees);

/* Difference of two means, variances not taken for equal (Welch; degrees after Satterthwaite). */
struct welch {
	double t, degrees, p; /* two-sided p; NAN: no statement possible (a sample of one) */
};
struct welch welch_test(const double *a, unsigned n_a, const double *b, unsigned n_b);

#endif
