// SPDX-License-Identifier: MIT
#include "qos/analyse/loss_interval.hpp"

#include "support/catch.hpp"

using qos::loss_interval;

namespace
{
bool is_near(double found, double wanted, double distance)
{
    return found > wanted - distance && found < wanted + distance;
}
} // namespace

TEST_CASE("the interval is Wilson's if few of the packets were selected", "[mapi-core][qos]")
{
    const auto interval = loss_interval(100, 10, 1e-6); // 0.0552 to 0.1744: Wilson (1927)
    CHECK(is_near(interval.low, 0.0552, 0.0001));
    CHECK(is_near(interval.high, 0.1744, 0.0001));
}

TEST_CASE("the interval has no width if all packets were selected", "[mapi-core][qos]")
{
    const auto interval = loss_interval(100, 10, 1);
    CHECK(interval.low == 0.1);
    CHECK(interval.high == 0.1);
    const auto almost = loss_interval(100, 10, 0.999999);
    CHECK(is_near(almost.low, 0.1, 0.001));
    CHECK(is_near(almost.high, 0.1, 0.001));
}

TEST_CASE("nothing lost and everything lost leave an interval of one side", "[mapi-core][qos]")
{
    const auto none = loss_interval(1000, 0, 0.01), all = loss_interval(1000, 1000, 0.01);
    CHECK(none.low == 0);
    CHECK(is_near(none.high, 0.0038, 0.0002)); // the rule of three gives 0.003
    CHECK(all.high == 1);
    CHECK(is_near(all.low, 1 - none.high, 1e-9));
    CHECK(loss_interval(0, 0, 0.01).low == 0);
    CHECK(loss_interval(0, 0, 0.01).high == 1);
}

TEST_CASE("Student's t is that of tables", "[mapi-core][qos]")
{
    CHECK(is_near(qos::student_95(2), 12.706, 0.001));
    CHECK(is_near(qos::student_95(11), 2.228, 0.001));
    CHECK(is_near(qos::student_95(12), 2.201, 0.001));
    CHECK(is_near(qos::student_95(31), 2.042, 0.001));
    CHECK(is_near(qos::student_95(1000000), 1.960, 0.001));
}
