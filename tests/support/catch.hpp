// SPDX-License-Identifier: MIT
// Catch2 2.13 or 3.x through one include.
#pragma once

#ifdef NETSLICE_CATCH3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
