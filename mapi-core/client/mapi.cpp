// SPDX-License-Identifier: MIT
// libmapi: the calls of mapi.h -> flows and devices of this process.  Nothing throws to callers.
#include <mapi/mapi.h>

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "client/arguments.hpp"
#include "client/errors/last_error.hpp"
#include "client/library.hpp"
#include "engine/copy_text.hpp"
#include "engine/registry/function_name.hpp"

#undef mapi_apply_function
#undef mapi_read_results

using mapi::Error;
using mapi::client::Flow;
using mapi::client::guard;
using mapi::client::library;
using mapi::client::try_shortcut;
using mapi::engine::copy_text;

namespace
{
template <class Given>
Given *need(Given *given, int number, const char *what = "the pointer for the answer")
{
    if (!given)
        throw Error(number, std::string(what) + " is a null pointer");
    return given;
}

// A number that cannot be a descriptor has its own error number, as in MAPI 2.
void check_descriptors(int fd, int fid, int least_fid = 1)
{
    if (library().flows.is_used() && (fd < 1 || fid < least_fid))
        throw Error(MAPI_INVALID_FID_FUNCID, "there is no flow " + std::to_string(fd) +
                                                 " with a function " + std::to_string(fid) +
                                                 " (numbers start at 1)");
}

std::shared_ptr<Flow> hold(int fd, int fid)
{
    check_descriptors(fd, fid);
    return library().flows.hold(fd);
}

// The calls that describe have their own error numbers for missing objects, as in MAPI 2.
template <class Call> auto renumber(int from, int to, Call call)
{
    try {
        return call();
    } catch (const Error &error) {
        throw Error(error.number() == from ? to : error.number(), error.what());
    }
}

mapi::engine::Target find_target(int fd, int fid, bool is_whole)
{
    return library().flows.hold(fd)->target(fid, is_whole);
}

mapi::engine::FlowBegun find_flow(int fd)
{
    return library().flows.hold(fd)->begun();
}

constexpr uint64_t kUsPerSecond = 1000000;

void need_library(int id)
{
    if (id != 0)
        throw Error(MFUNCT_INVALID_ARGUMENT_1, "there is no library " + std::to_string(id));
}

constexpr int kCountUnknown = -1; // the full list that MAPI 2 had

int apply(int fd, const char *name, mapi::client::GivenArguments &given)
{
    return guard(-1, [&] {
        const auto flow = hold(fd, 1);
        need(name, MFUNCT_COULD_NOT_APPLY_FUNCT, "the function's name");
        if (flow->is_connected())
            throw Error(MFUNCT_COULD_NOT_APPLY_FUNCT,
                        std::string(name) +
                            ": the flow is connected (apply functions before mapi_connect())");
        const auto function = library().backend()->function(name);
        return flow->apply(function.name,
                           mapi::client::read_arguments(function, given, {find_target, find_flow}));
    });
}

[[gnu::noinline]] mapi_results_t *ask_for_results(int fd, int fid)
{
    return guard(static_cast<mapi_results_t *>(nullptr), [&] {
        mapi_results_t *results =
            library().flows.with(fd, [fid](Flow &flow) { return flow.read_results(fid); });
        mapi::client::own_reader->clock.look(); // for the following reads through the shortcut
        return results ? results : library().flows.hold(fd)->next_results(fid);
    });
}

[[gnu::noinline]] mapipkt *ask_for_packet(int fd, int fid)
{
    return guard(static_cast<mapipkt *>(nullptr),
                 [&] { return const_cast<mapipkt *>(hold(fd, fid)->next_packet(fid)); });
}
} // namespace

extern "C" {

int mapi_create_flow(const char *device)
{
    return guard(-1, [&] {
        need(device, MAPI_DEVICE_INFO_ERR, "the device's name");
        const auto backend = library().backend();
        return library().flows.add([&](int fd) { return backend->create_flow(fd, device); });
    });
}

int mapi_create_offline_flow(const char *path, int format)
{
    return guard(-1, [&] {
        need(path, MAPI_ERROR_FILE, "the path");
        const auto backend = library().backend();
        return library().flows.add(
            [&](int fd) { return backend->create_offline_flow(fd, path, format); });
    });
}

int mapi_connect(int fd)
{
    return mapi_connect_flows(&fd, 1);
}

int mapi_connect_flows(const int *fds, int count)
{
    return guard(-1, [&] {
        const auto flows = library().flows.hold_unconnected(
            need(fds, MFUNCT_INVALID_ARGUMENT_1, "the list of flows"), count);
        flows.front()->connect(flows);
        return 0;
    });
}

int mapi_set_flow_option(int fd, int option, uint64_t value)
{
    return guard(-1, [&] {
        library().flows.hold(fd)->set_option(option, value);
        return 0;
    });
}

int mapi_get_flow_option(int fd, int option, uint64_t *value)
{
    return guard(-1, [&] {
        *need(value, MFUNCT_INVALID_ARGUMENT_3) = library().flows.hold(fd)->option(option);
        return 0;
    });
}

int mapi_reset_function(int fd, int fid)
{
    return guard(-1, [&] {
        hold(fd, fid)->reset(fid);
        return 0;
    });
}

int mapi_remove_function(int fd, int fid)
{
    return guard(-1, [&] {
        hold(fd, fid)->remove(fid);
        return 0;
    });
}

int mapi_reconnect(int fd)
{
    return guard(-1, [&] {
        const auto old = library().flows.hold(fd);
        const auto recipe = old->recipe_if_gone();
        if (!recipe)
            return 0;
        const auto flow = library().backend()->create_again(*recipe);
        try {
            library().flows.replace(fd, old, flow);
        } catch (const Error &) { // another thread has closed it
            flow->close();
            throw;
        }
        return 0;
    });
}

int mapi_close_flow(int fd)
{
    return mapi_close_flows(&fd, 1);
}

int mapi_close_flows(const int *fds, int count)
{
    return guard(-1, [&] {
        library().flows.remove(need(fds, MFUNCT_INVALID_ARGUMENT_1, "the list of flows"), count,
                               [](const auto &flows) { flows.front()->close(flows); });
        return 0;
    });
}

int mapi_apply_function(int fd, const char *function, ...)
{
    va_list list;
    va_start(list, function);
    mapi::client::GivenArguments given(nullptr, kCountUnknown, list);
    va_end(list);
    return apply(fd, function, given);
}

int mapi_apply_function_counted(int argument_count, int fd, const char *function, ...)
{
    va_list list;
    va_start(list, function);
    mapi::client::GivenArguments given(nullptr, argument_count, list);
    va_end(list);
    return apply(fd, function, given);
}

int mapi_apply_function_typed(const char *types, int fd, const char *function, ...)
{
    va_list list;
    va_start(list, function);
    mapi::client::GivenArguments given(types, kCountUnknown, list);
    va_end(list);
    return apply(fd, function, given);
}

mapi_results_t *mapi_read_results(int fd, int fid)
{
    const auto read = [](const auto &shortcut, const auto &clock) {
        return shortcut.read_word(clock);
    };
    mapi_results_t *const results = try_shortcut(fd, fid, read);
    return results ? results : ask_for_results(fd, fid);
}

// MAPI_COPY and MAPI_REF are equivalent here: the memory belongs to the flow, and only a read
// changes it.
void *mapi_read_results_pointer(int fd, int fid, int)
{
    const mapi_results_t *results = mapi_read_results(fd, fid);
    return results ? results->res : nullptr;
}

mapipkt *mapi_get_next_pkt(int fd, int fid)
{
    const auto take = [](const auto &shortcut, const auto &) { return shortcut.next_packet(); };
    const mapipkt *const packet = try_shortcut(fd, fid, take);
    return packet ? const_cast<mapipkt *>(packet) : ask_for_packet(fd, fid);
}

int mapi_get_next_pkts(int fd, int fid, mapipkt **packets, int most, int timeout_ms)
{
    return guard(-1, [&] {
        if (most < 1)
            throw Error(MFUNCT_INVALID_ARGUMENT_4, "the number of packets is less than 1");
        return hold(fd, fid)->next_packets(
            fid, const_cast<const mapipkt **>(need(packets, MFUNCT_INVALID_ARGUMENT_3)), most,
            timeout_ms);
    });
}

int mapi_get_poll_descriptor(int fd, int fid)
{
    return guard(-1, [&] { return hold(fd, fid)->poll_descriptor(fid); });
}

int mapi_loop(int fd, int fid, int count, mapi_handler handler)
{
    return guard(-1, [&] {
        const auto flow = hold(fd, fid);
        if (!flow->is_connected())
            throw Error(MAPI_FLOW_NOT_CONNECTED, "the flow is not connected");
        if (!handler)
            throw Error(MFUNCT_INVALID_ARGUMENT_4, "the handler is a null pointer");
        for (int done = 0; count <= 0 || done<count; done += count> 0) {
            const mapipkt *packet = flow->next_packet(fid);
            if (!packet)
                break;
            handler(packet);
        }
        return 0;
    });
}

char *mapi_create_offline_device(const char *path, int format)
{
    return guard(static_cast<char *>(nullptr), [&] {
        return strdup(library()
                          .backend()
                          ->create_offline(need(path, MAPI_ERROR_FILE, "the path"), format)
                          .c_str());
    });
}

int mapi_append_offline_device(const char *device, const char *path)
{
    return guard(-1, [&] {
        library().backend()->append_offline(need(device, MAPID_NO_DEVICE, "the device's name"),
                                            need(path, MAPI_ERROR_FILE, "the path"));
        return 0;
    });
}

int mapi_start_offline_device(const char *device)
{
    return guard(-1, [&] {
        library().backend()->start_offline(need(device, MAPID_NO_DEVICE, "the device's name"));
        return 0;
    });
}

int mapi_delete_offline_device(char *device)
{
    return guard(-1, [&] {
        library().backend()->delete_offline(need(device, MAPID_NO_DEVICE, "the device's name"));
        free(device);
        return 0;
    });
}

int mapi_set_device_option(const char *device, const char *key, const char *value)
{
    return guard(-1, [&] {
        library().backend()->set_option(
            need(device, MFUNCT_INVALID_ARGUMENT_1, "the device's name"),
            need(key, MFUNCT_INVALID_ARGUMENT_2, "the key"),
            need(value, MFUNCT_INVALID_ARGUMENT_3, "the value"));
        return 0;
    });
}

int mapi_wait_flow(int fd, int timeout_ms)
{
    return guard(-1, [&] {
        if (!library().flows.hold(fd)->wait_for_end(timeout_ms))
            throw Error(MAPI_TIMED_OUT,
                        "the flow has not ended within " + std::to_string(timeout_ms) + " ms");
        return 0;
    });
}

int mapi_read_error(int *number, char *text)
{
    return mapi::client::take_last_error(number, text) ? 0 : -1;
}

int mapi_get_flow_info(int fd, mapi_flow_info_t *info)
{
    return guard(-1, [&] {
        if (fd > 0) // an invalid descriptor is reported first, as in MAPI 2
            *need(info, MFUNCT_INVALID_ARGUMENT_2) = {};
        library().flows.hold(fd)->describe(info);
        info->uid = geteuid();
        info->fd = fd;
        info->start = time_t(info->start_us / kUsPerSecond);
        info->end = time_t(info->end_us / kUsPerSecond);
        return 0;
    });
}

int mapi_get_next_flow_info(int fd, mapi_flow_info_t *info)
{
    return guard(-1, [&] {
        need(info, MFUNCT_INVALID_ARGUMENT_2);
        const int next = library().flows.next(fd);
        if (next == 0)
            throw Error(MAPI_FLOW_INFO_ERR, "there is no flow after " + std::to_string(fd));
        return mapi_get_flow_info(next, info);
    });
}

int mapi_get_function_info(int fd, int fid, mapi_function_info_t *info)
{
    return guard(-1, [&] {
        check_descriptors(fd, fid);
        *need(info, MFUNCT_INVALID_ARGUMENT_3) = {};
        const auto flow =
            renumber(MAPI_INVALID_FLOW, MAPI_INIT_ERROR, [&] { return library().flows.hold(fd); });
        renumber(MAPI_INVALID_FID_FUNCID, MAPI_FUNCTION_INFO_ERR,
                 [&] { flow->describe(fid, info); });
        copy_text(info->libname, mapi::engine::kOwnLibrary);
        copy_text(info->devtype, MAPI_DEVTYPE_ALL);
        return 0;
    });
}

// Skips functions that were removed.
int mapi_get_next_function_info(int fd, int fid, mapi_function_info_t *info)
{
    return guard(-1, [&] {
        check_descriptors(fd, fid, 0);
        need(info, MFUNCT_INVALID_ARGUMENT_3);
        const auto flow = renumber(MAPI_INVALID_FLOW, MAPI_FUNCTION_INFO_ERR,
                                   [&] { return library().flows.hold(fd); });
        const int next = flow->next_function(fid);
        if (next == 0)
            throw Error(MAPI_FUNCTION_INFO_ERR,
                        "the flow has no function after " + std::to_string(fid));
        return mapi_get_function_info(fd, next, info);
    });
}

int mapi_get_device_info(int devid, mapi_device_info_t *info)
{
    return guard(-1, [&] {
        *need(info, MFUNCT_INVALID_ARGUMENT_2) = {};
        library().backend()->describe_device(devid, info);
        return 0;
    });
}

int mapi_get_next_device_info(int devid, mapi_device_info_t *info)
{
    return guard(-1, [&] {
        need(info, MFUNCT_INVALID_ARGUMENT_2);
        const int next = library().backend()->next_device(devid);
        if (next == 0)
            throw Error(MAPI_DEVICE_INFO_ERR, "there is no device after " + std::to_string(devid));
        return mapi_get_device_info(next, info);
    });
}

int mapi_get_library_info(int libid, mapi_lib_info_t *info)
{
    return guard(-1, [&] {
        need_library(libid);
        *need(info, MFUNCT_INVALID_ARGUMENT_2) = {};
        copy_text(info->libname, mapi::engine::kOwnLibrary);
        info->functs = library().backend()->function_count();
        return 0;
    });
}

int mapi_get_next_library_info(int libid, mapi_lib_info_t *info)
{
    return mapi_get_library_info(libid < 0 ? 0 : libid + 1, info);
}

int mapi_get_libfunct_info(int libid, int number, mapi_libfunct_info_t *info)
{
    return guard(-1, [&] {
        need_library(libid);
        *need(info, MFUNCT_INVALID_ARGUMENT_3) = {};
        const auto function = library().backend()->function_at(number);
        copy_text(info->name, function.name);
        copy_text(info->descr, function.description);
        copy_text(info->argdescr, function.args);
        // MAPI 2 has no letter for it
        std::replace(info->argdescr, info->argdescr + strlen(info->argdescr), 'b', 'i');
        copy_text(info->devtype, MAPI_DEVTYPE_ALL);
        return 0;
    });
}

int mapi_get_next_libfunct_info(int libid, int number, mapi_libfunct_info_t *info)
{
    return mapi_get_libfunct_info(libid, number < 0 ? 0 : number + 1, info);
}

int mapi_stats(const char *device, mapi_stat *stats)
{
    return guard(-1, [&] {
        library().backend()->copy_stats(need(device, MAPI_DEVICE_INFO_ERR, "the device's name"),
                                        need(stats, MFUNCT_INVALID_ARGUMENT_2));
        return 1;
    });
}

int mapi_get_scope_size(int fd)
{
    return guard(-1, [&] { return library().flows.with(fd, [](Flow &) { return 1; }); });
}

int mapi_is_remote(int fd)
{
    return guard(-1, [&] { return library().flows.with(fd, [](Flow &) { return 0; }); });
}

} // extern "C"
