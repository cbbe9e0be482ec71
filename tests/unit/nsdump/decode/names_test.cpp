// SPDX-License-Identifier: MIT
#include "decode/names.hpp"

#include "support/catch.hpp"

TEST_CASE("sites with the same name share its number, and the place is the START's",
          "[nsdump][names]")
{
    nsdump::NameTable names;
    names.add({1, NSLICE_KIND_STOP, 30, "rx", "a.c"});
    names.add({2, NSLICE_KIND_START, 10, "rx", "b.c"});
    names.add({3, NSLICE_KIND_START, 20, "tx", "a.c"});

    CHECK(names.of_slice(1) == names.of_slice(2));
    CHECK(names.of_slice(1) != names.of_slice(3));
    CHECK(names[names.of_slice(1)].file == "b.c");
    CHECK(names[names.of_slice(1)].line == 10);
}

TEST_CASE("a slice id without a site gets a name of its own", "[nsdump][names]")
{
    nsdump::NameTable names;
    CHECK(names[names.of_slice(65535)].text == "#65535");
    CHECK(names.of_slice(65535) == names.of_slice(65535));
    CHECK(names.of_slice(0) != names.of_slice(65535));
}

TEST_CASE("the kernel's sites have a prefix and cannot have the name of a program's",
          "[nsdump][names]")
{
    nsdump::NameTable names;
    nsdump::Site site{NSLICE_KERNEL_FIRST_ID, NSLICE_KIND_START,    0, "irq",
                      "irq_handler_entry",    NSLICE_SITE_INTERRUPT};
    CHECK(names.add_kernel(site));
    CHECK(names[names.of_slice(NSLICE_KERNEL_FIRST_ID)].text == "kernel:irq");
    CHECK(names[names.of_slice(NSLICE_KERNEL_FIRST_ID)].flags == NSLICE_SITE_INTERRUPT);
    site.slice_id = NSLICE_KERNEL_FIRST_ID - 1;
    CHECK_FALSE(names.add_kernel(site));
    CHECK(names[names.of_slice(NSLICE_KERNEL_FIRST_ID - 1)].text == "#61439");
}

TEST_CASE("what the kernel's rings have is its own, except functions of programs",
          "[nsdump][names]")
{
    nsdump::NameTable names;
    const uint16_t irq = NSLICE_KERNEL_FIRST_ID, function = irq + 1;
    names.add_kernel({irq, NSLICE_KIND_START, 0, "irq", "", NSLICE_SITE_INTERRUPT});
    names.add_kernel({function, NSLICE_KIND_START, 0, "parse()", "", 1 << NSLICE_WAY_SHIFT});
    names.add({1, NSLICE_KIND_START, 0, "rx", "a.c"});

    CHECK(nsdump::is_kernels_own(true, names[names.of_slice(irq)]));
    CHECK_FALSE(nsdump::is_kernels_own(true, names[names.of_slice(function)]));
    CHECK_FALSE(nsdump::is_kernels_own(false, names[names.of_slice(1)]));
}
