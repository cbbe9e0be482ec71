// SPDX-License-Identifier: MIT
// analyse: independent errors, estimated from few or many values -> the 95 % interval of their sum.
#pragma once

#include <cmath>

#include "analyse/correct/student.hpp"

namespace nsdump
{
// Variances add.  The degrees of freedom of the sum follow Welch and Satterthwaite, as in the Guide
// to the Expression of Uncertainty in Measurement (JCGM 100, G.4).  Adding half widths with few
// degrees of freedom would overestimate the sum.
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
    // Adds a half width that includes the quantile of these degrees.
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
    double variance() const { return variance_; }
    double standard_error() const { return std::sqrt(variance_); }
    double degrees() const
    {
        return squares_ > 0 ? variance_ * variance_ / squares_ : kManyDegrees;
    }
    double ci95() const { return student_t95(degrees()) * std::sqrt(variance_); }

private:
    double variance_ = 0;
    double squares_ = 0; // sum of squared variances, each divided by its degrees
};
} // namespace nsdump
