/* SPDX-License-Identifier: MIT */
/* BINOP: its argument. */
#ifndef MAPI_BINOP_H
#define MAPI_BINOP_H

enum binop { BINOP_ADD, BINOP_SUB };

#endif /* MAPI_BINOP_H */
