/* SPDX-License-Identifier: MIT */
/* captures: a list of captures, or a device's name -> an open device. */
#include <stdio.h>
#include <stdlib.h>

#include <mapi/mapi.h>

#include "captures/captures.h"
#include "common/command/signals.h"

enum { LOOK_MS = 200 };

/* Whether the file is not a capture at all; a folder may contain such files. */
static int is_foreign(char *why)
{
    int number = 0;

    mapi_read_error(&number, why);
    return number == PCAP_OPEN_ERR;
}

char *captures_open(const struct captures *captures, int format, const char *program)
{
    char why[MAPI_ERROR_TEXT_BYTES] = "";
    char *device = NULL;
    int i;

    if (captures_have_stream(captures))
        setenv("MAPI_SOCKET", "none", 1);
    for (i = 0; i < captures->count; i++) {
        const struct capture *capture = &captures->list[i];
        int is_taken;
        if (device)
            is_taken = mapi_append_offline_device(device, capture->path) == 0;
        else
            is_taken = (device = mapi_create_offline_device(capture->path, format)) != NULL;
        if (is_taken)
            continue;
        if (!capture->is_of_folder || !is_foreign(why)) {
            if (device)
                mapi_delete_offline_device(device);
            return NULL;
        }
        if (program)
            fprintf(stderr, "%s: %s; skipped\n", program, why);
    }
    /* No file of the folder is a capture: the caller reports the last one's error. */
    if (!device && captures->count > 0)
        device = mapi_create_offline_device(captures->list[captures->count - 1].path, format);
    return device;
}

int captures_create_flow(const char *device, int wait, const char *program)
{
    char why[MAPI_ERROR_TEXT_BYTES] = "";
    int number = 0, flow, is_reported = 0;

    while ((flow = mapi_create_flow(device)) < 0 && wait && !command_was_interrupted()) {
        mapi_read_error(&number, why);
        if (number != MAPID_NO_DRIVER && number != MAPID_NO_DEVICE)
            break;
        if (program && !is_reported++)
            fprintf(stderr, "%s: %s: waiting for the device to appear\n", program, device);
        command_pause(LOOK_MS);
    }
    return flow;
}
