// SPDX-License-Identifier: MIT
// BINOP: results of two functions -> uint64 sum or difference.  Lets every packet pass.
//
// The difference is taken modulo 2^64, as in MAPI 2.
#include <bit>

#include <mapi/binop.h>
#include <mapi/errors.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/refuse.hpp"

namespace mapi::functions
{
namespace
{
constexpr int64_t kDifferenceToo = 2; // BINOP_SUB in libmapi before it adopted MAPI 2's numbers

struct Binop {
    uint64_t *result;
    const mapi_reference *left, *right;
    bool is_sum;

    uint64_t after(unsigned i) const
    {
        uint64_t a, b;
        mapi_reference_read(left, i, &a);
        mapi_reference_read(right, i, &b);
        return is_sum ? a + b : a - b;
    }
};

int create(const mapi_function_setup *setup, void **instance)
{
    const int64_t operation = setup->arguments[0].number;
    if (operation != BINOP_ADD && operation != BINOP_SUB && operation != kDifferenceToo)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1,
                      "operation " + std::to_string(operation) +
                          " is neither 0 (BINOP_ADD) nor 1 (BINOP_SUB)");
    return create_object<Binop>(setup, instance, static_cast<uint64_t *>(setup->result),
                                setup->arguments[2].references[0],
                                setup->arguments[4].references[0], operation == BINOP_ADD);
}

uint64_t process(void *instance, const mapi_batch *, uint64_t mask)
{
    const auto *binop = static_cast<Binop *>(instance);
    *binop->result = binop->after(63);
    return mask;
}

uint64_t values(const void *instance, const mapi_batch *, uint64_t mask, uint64_t *values)
{
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        values[i] = static_cast<const Binop *>(instance)->after(unsigned(i));
    }
    return mask;
}

constexpr mapi_function_result kResult = {
    .struct_size = sizeof(mapi_function_result),
    .values = values,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_binop = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "BINOP",
    .description = "sum or difference of the results of two functions",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_EVERY_BATCH,
    .result_bytes = sizeof(uint64_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Binop>,
    .arguments = {MAPI_ARGUMENT_INT, MAPI_ARGUMENT_FLOW, MAPI_ARGUMENT_FUNCTION, MAPI_ARGUMENT_FLOW,
                  MAPI_ARGUMENT_FUNCTION},
    .result = &mapi::functions::kResult,
};
