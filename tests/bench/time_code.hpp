// SPDX-License-Identifier: MIT
// Kinds of code that the time benchmark measures.  A unit takes about three cycles, or the kind
// says how many units do what three-cycle units would.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bench
{
// Dependent multiplications: code that waits for its own results.
class Chain
{
public:
    static constexpr int kUnitsPer100 = 100;
    static constexpr int kLongestStraight = 64;
    static constexpr int unrolled(int /*units*/) { return 16; }

    template <int kUnits> __attribute__((always_inline)) void straight()
    {
        __asm__ volatile(".rept %c[units]\n\timul %[x], %[x]\n\t.endr"
                         : [x] "+r"(x_)
                         : [units] "i"(kUnits));
    }

private:
    uint64_t x_ = 3;
};

// Eight units of Additions.  The registers are those that a probe does not change.
__asm__(".pushsection .text\n\t"
        ".p2align 6\n"
        "bench_eight_units:\n\t"
        ".rept 2 * 8\n\t"
        "inc %r10\n\tinc %r11\n\tinc %r12\n\tinc %r13\n\tinc %r14\n\tinc %r15\n\t"
        ".endr\n\t"
        "ret\n\t"
        ".popsection");

// Independent additions: code that saturates the execution units.  Most of them are in one function
// that is called: a slice of 1 us has 25,000, far more than a cache of decoded instructions holds,
// and what the end of a short loop takes depends on where the code lies.
class Additions
{
public:
    static constexpr int kUnitsPer100 = 100;
    static constexpr int kLongestStraight = 1200;
    static constexpr int unrolled(int /*units*/) { return 64; }

    template <int kUnits> __attribute__((always_inline)) void straight()
    {
        register uint64_t a __asm__("r10") = a_, b __asm__("r11") = b_, c __asm__("r12") = c_;
        register uint64_t d __asm__("r13") = d_, e __asm__("r14") = e_, f __asm__("r15") = f_;
        __asm__ volatile(
            ".rept %c[calls]\n\tcall bench_eight_units\n\t.endr\n\t"
            ".rept 2 * %c[units]\n\t"
            "inc %[a]\n\tinc %[b]\n\tinc %[c]\n\tinc %[d]\n\tinc %[e]\n\tinc %[f]\n\t"
            ".endr"
            : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [e] "+r"(e), [f] "+r"(f)
            : [calls] "i"(kUnits / 8), [units] "i"(kUnits % 8)
            : "cc");
        a_ = a, b_ = b, c_ = c, d_ = d, e_ = e, f_ = f;
    }

private:
    uint64_t a_ = 0, b_ = 0, c_ = 0, d_ = 0, e_ = 0, f_ = 0;
};

// A pointer chase in the first-level cache: code that waits for loads.
class Chase
{
public:
    static constexpr int kUnitsPer100 = 70;
    static constexpr int kLongestStraight = 64;
    static constexpr int unrolled(int /*units*/) { return 16; }

    Chase() : at_(ring()) {}
    template <int kUnits> __attribute__((always_inline)) void straight()
    {
        __asm__ volatile(".rept %c[units]\n\tmov (%[at]), %[at]\n\t.endr"
                         : [at] "+r"(at_)
                         : [units] "i"(kUnits)
                         : "memory");
    }

private:
    static constexpr size_t kLines = 128; // 8 KiB
    struct alignas(64) Line {
        void *next;
    };
    // Visits the lines in an order that no prefetcher follows: 37 is coprime to their number.
    static void *ring()
    {
        static std::array<Line, kLines> lines;
        for (size_t i = 0; i < kLines; ++i)
            lines[i].next = &lines[(i + 37) % kLines];
        return lines.data();
    }

    void *at_;
};

// Branches on random bits, half of them mispredicted.  Each object continues the sequence of
// the one before: one that comes again would be predicted.  Each branch has its own 64 bytes, as
// the cost of a misprediction depends on where in its line it lies.
class Branches
{
public:
    static constexpr int kUnitsPer100 = 25;
    static constexpr int kLongestStraight = 16;
    static constexpr int unrolled(int /*units*/) { return 8; }

    Branches() : x_(state_) {}
    ~Branches() { state_ = x_; }
    Branches(const Branches &) = delete;
    Branches &operator=(const Branches &) = delete;
    template <int kUnits> __attribute__((always_inline)) void straight()
    {
        __asm__ volatile(".rept %c[units]\n\t"
                         ".p2align 6\n\t"
                         "imul %[factor], %[x]\n\tinc %[x]\n\tbt $40, %[x]\n\tjc 1f\n\t"
                         "inc %[y]\n\t1:\n\t.endr"
                         : [x] "+r"(x_), [y] "+r"(y_)
                         : [factor] "r"(kFactor), [units] "i"(kUnits)
                         : "cc");
    }

private:
    static constexpr uint64_t kFactor = 6364136223846793005; // of Knuth's MMIX generator
    static inline uint64_t state_ = 1;
    uint64_t x_, y_ = 0;
};

// Independent packed multiplications, more than the units can have in flight: with fewer, latency
// and throughput limit the code alike, and its time changes with the order of execution.
class Vectors
{
public:
    static constexpr int kUnitsPer100 = 50;
    static constexpr int kLongestStraight = 6;
    static constexpr int unrolled(int /*units*/) { return 4; }

    template <int kUnits> __attribute__((always_inline)) void straight()
    {
        __asm__ volatile(
            ".rept %c[units]\n\t"
            "mulps %[a], %[a]\n\tmulps %[b], %[b]\n\tmulps %[c], %[c]\n\t"
            "mulps %[d], %[d]\n\tmulps %[e], %[e]\n\tmulps %[f], %[f]\n\t"
            "mulps %[g], %[g]\n\tmulps %[h], %[h]\n\tmulps %[i], %[i]\n\t"
            "mulps %[j], %[j]\n\tmulps %[k], %[k]\n\tmulps %[l], %[l]\n\t.endr"
            : [a] "+x"(a_), [b] "+x"(b_), [c] "+x"(c_), [d] "+x"(d_), [e] "+x"(e_), [f] "+x"(f_),
              [g] "+x"(g_), [h] "+x"(h_), [i] "+x"(i_), [j] "+x"(j_), [k] "+x"(k_), [l] "+x"(l_)
            : [units] "i"(kUnits));
    }

private:
    using Vector = float __attribute__((vector_size(16)));
    Vector a_ = {1, 1, 1, 1}, b_ = a_, c_ = a_, d_ = a_, e_ = a_, f_ = a_;
    Vector g_ = a_, h_ = a_, i_ = a_, j_ = a_, k_ = a_, l_ = a_;
};
} // namespace bench
