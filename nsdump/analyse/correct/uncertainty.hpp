// SPDX-License-Identifier: MIT
// analyse: independent errors, each known from few or many values -> their sum's 95 % interval.
#pragma once

#include <cmath>

#include "analyse/correct/student.hpp"

namespace nsdump
{
// Variances add; the degrees of freedom of the sum after Welch and Satterthwaite, as the Guide to the Expression of
// Uncertainty in Measurement (JCGM 100, G.4) has it.  Adding half widths that were made for few degrees would be too
// much.
class Uncertainty
{
public:
    void add(double standard_error, double degrees)
    {
        const double variance = standard_error * standard_error;
        variance_ += variance;
        if (degrees > 0)
            squares_ += variance * variance / degrees;
    }
    // A half width that has the quantile of these degrees in it.
    void add_ci95(double ci95, double degrees)
    {
        if (ci95 > 0)
            add(ci95 / student_t95(degrees), degrees);
    }
    Uncertainty scaled(double factor) const
    {
        const double square = factor * factor;
        Uncertainty out;
        out.variance_ = variance_ * square;
        out.squares_ = squares_ * square * square;
        return out;
    }
    double degrees() const { return squares_ > 0 ? variance_ * variance_ / squares_ : kManyDegrees; }
    double ci95() const { return student_t95(degrees()) * std::sqrt(variance_); }

private:
    double variance_ = 0;
    double squares_ = 0; // of variances, by degrees
};
} // namespace nsdump
