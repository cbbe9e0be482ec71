/* SPDX-License-Identifier: MIT */
/* What unwinders call for a function whose return address was replaced: its slice ends. */
#include <unwind.h>

#include "inside.h"

/* Named in the unwind information of the slots: trampoline_x86_64.S. */
_Unwind_Reason_Code nsf_personality(int version, _Unwind_Action actions,
                                    _Unwind_Exception_Class exception_class,
                                    struct _Unwind_Exception *exception,
                                    struct _Unwind_Context *context);

_Unwind_Reason_Code nsf_personality(int version, _Unwind_Action actions,
                                    _Unwind_Exception_Class exception_class,
                                    struct _Unwind_Exception *exception,
                                    struct _Unwind_Context *context)
{
    (void)version;
    (void)exception_class;
    (void)exception;
    if (actions & _UA_CLEANUP_PHASE)
        nsf_unwound((uint32_t)((_Unwind_GetIP(context) - (uint64_t)nsf_slots) / NSF_SLOT_BYTES));
    return _URC_CONTINUE_UNWIND;
}
