// SPDX-License-Identifier: MIT
// Remote backend: mapid, which captures for many programs.
#include "client/remote/remote_backend.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "client/remote/remote_flow.hpp"
#include "common/file_error/file_error.h"
#include "engine/copy_text.hpp"
#include "engine/error.hpp"

namespace mapi::client
{
using engine::copy_text;

FunctionDescription RemoteBackend::function(const std::string &name)
{
    const std::lock_guard lock(mutex_);
    if (const auto known = described_.find(name); known != described_.end())
        return known->second;
    ipc::Request request;
    request.mutable_describe_name()->set_name(name);
    const ipc::FunctionDescription reply = connection_->ask(request).function();
    return described_[name] = {reply.name(), reply.arguments(), reply.description()};
}

ipc::FunctionDescription RemoteBackend::ask_for_function(int number)
{
    ipc::Request request;
    request.mutable_function_at()->set_number(number);
    return connection_->ask(request).function();
}

FunctionDescription RemoteBackend::function_at(int number)
{
    const ipc::FunctionDescription reply = ask_for_function(number);
    return {reply.name(), reply.arguments(), reply.description()};
}

unsigned RemoteBackend::function_count()
{
    return ask_for_function(0).functions();
}

std::shared_ptr<Flow> RemoteBackend::create_flow(int fd, const std::string &device)
{
    ipc::Request request;
    request.mutable_create_flow()->set_flow(fd);
    request.mutable_create_flow()->set_device(device);
    return make_flow(request, "");
}

namespace
{
// Opens with the permissions of this process.  "-": standard input.
ipc::Descriptor open_file(const std::string &path)
{
    ipc::Descriptor file(path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                     : open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open())
        throw Error(MAPI_ERROR_FILE, path + ": " + nslice_read_error(errno));
    return file;
}
} // namespace

ipc::Reply RemoteBackend::open_capture(const ipc::Request &request, const std::string &path)
{
    const ipc::Descriptor file = open_file(path);
    return connection_->ask(request, {file.number()});
}

ipc::Request RemoteBackend::capture_request(int fd, const std::string &path, int format)
{
    ipc::Request request;
    request.mutable_create_offline()->set_path(path);
    request.mutable_create_offline()->set_format(format);
    request.mutable_create_offline()->set_flow(fd);
    return request;
}

std::shared_ptr<RemoteFlow> RemoteBackend::make_flow(const ipc::Request &creation,
                                                     const std::string &capture)
{
    const ipc::Reply reply =
        capture.empty() ? connection_->ask(creation) : open_capture(creation, capture);
    return std::make_shared<RemoteFlow>(connection_, FlowRecipe{creation, capture, {}, {}},
                                        reply.flow());
}

std::shared_ptr<Flow> RemoteBackend::create_offline_flow(int fd, const std::string &path,
                                                         int format)
{
    return make_flow(capture_request(fd, path, format), path);
}

// If a request fails, nothing of the flow remains at mapid.
std::shared_ptr<Flow> RemoteBackend::create_again(const FlowRecipe &recipe)
{
    if (!recipe.writer.empty())
        throw Error(MFUNCT_NOT_SUPPORTED,
                    recipe.writer + ": its file would be overwritten (close the flow and create "
                                    "one with another file)");
    const std::shared_ptr<RemoteFlow> flow = make_flow(recipe.creation, recipe.capture);
    try {
        for (const ipc::Request &call : recipe.calls)
            flow->ask_again(call);
        if (recipe.is_connected)
            flow->connect({flow});
    } catch (const Error &) {
        flow->close();
        throw;
    }
    return flow;
}

std::string RemoteBackend::create_offline(const std::string &path, int format)
{
    return open_capture(capture_request(0, path, format), path).device().device();
}

void RemoteBackend::append_offline(const std::string &device, const std::string &path)
{
    const ipc::Descriptor file = open_file(path);
    ipc::Request request;
    request.mutable_append_offline()->set_device(device);
    request.mutable_append_offline()->set_path(path);
    connection_->ask(request, {file.number()});
}

void RemoteBackend::start_offline(const std::string &device)
{
    ipc::Request request;
    request.mutable_start_offline()->set_device(device);
    connection_->ask(request);
}

void RemoteBackend::delete_offline(const std::string &device)
{
    ipc::Request request;
    request.mutable_delete_offline()->set_device(device);
    connection_->ask(request);
}

void RemoteBackend::set_option(const std::string &device, const std::string &key,
                               const std::string &value)
{
    ipc::Request request;
    request.mutable_set_option()->set_device(device);
    request.mutable_set_option()->set_key(key);
    request.mutable_set_option()->set_value(value);
    connection_->ask(request);
}

void RemoteBackend::describe_device(int id, mapi_device_info_t *info)
{
    ipc::Request request;
    request.mutable_describe_device()->set_id(id);
    const ipc::DeviceInfo reply = connection_->ask(request).device_info();
    info->id = reply.id();
    copy_text(info->device, reply.device());
    copy_text(info->name, reply.driver());
    copy_text(info->alias, reply.alias());
    copy_text(info->description, reply.description());
    info->link_speed = reply.link_speed_mbit();
    info->link_type = reply.link_type();
    info->mpls = reply.mpls();
    info->vlan = reply.vlan();
    copy_text(info->server, connection_->path());
}

int RemoteBackend::next_device(int id)
{
    ipc::Request request;
    request.mutable_next_device()->set_id(id);
    return connection_->ask(request).device_info().id();
}

void RemoteBackend::copy_stats(const std::string &device, mapi_stat_t *stats)
{
    ipc::Request request;
    request.mutable_statistics()->set_device(device);
    const ipc::Statistics reply = connection_->ask(request).statistics();
    *stats = {};
    stats->ps_recv = reply.received();
    stats->ps_drop = reply.dropped();
    stats->ps_ifdrop = reply.interface_drops();
    copy_text(stats->hostname, reply.host());
    copy_text(stats->dev, reply.device());
    stats->bytes_recv = reply.received_bytes();
    stats->drop_bad_record = reply.bad_record();
    stats->drop_truncated = reply.truncated();
    stats->drop_buffer_full = reply.buffer_full();
    stats->drop_link_type = reply.link_type();
    stats->drop_not_written = reply.not_written();
    stats->drop_kernel = reply.kernel();
    stats->drop_no_flow = reply.no_flow();
    stats->unread_bytes = reply.unread_bytes();
    // an older mapid only returns the drops of all programs
    stats->device_drop = std::max(reply.device_dropped(), reply.dropped());
    copy_text(stats->message, reply.message());
    stats->kernel_unreadable = reply.kernel_unreadable();
    stats->kernel_late = reply.kernel_late();
    stats->undecided = reply.undecided();
    copy_text(stats->remark, reply.remark());
}
} // namespace mapi::client
