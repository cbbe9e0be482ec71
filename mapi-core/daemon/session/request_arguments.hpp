// SPDX-License-Identifier: MIT
// Request arguments: a function's arguments as a client describes them -> arguments that the engine
// may trust.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/session/policy.hpp"
#include "engine/config/arguments.hpp"
#include "engine/flow.hpp"
#include "ipc/descriptor.hpp"
#include "ipc/mapi.pb.h"

namespace mapi::daemon
{
// Closes the descriptors that the request does not need, before it is handled.
void close_unwanted(const ipc::Request &request, std::vector<ipc::Descriptor> &descriptors);

// The file of a request that has exactly one.  Throws ipc::ChannelError.
ipc::Descriptor &only_file(std::vector<ipc::Descriptor> &descriptors, const char *whose);

class ArgumentReader
{
public:
    // Throws Error if the client has no such flow.
    using FindFlow = std::function<std::shared_ptr<engine::Flow>(int)>;

    // Takes the descriptors that arguments require, in order.
    ArgumentReader(const Peer &peer, FindFlow find, std::vector<ipc::Descriptor> &descriptors)
        : peer_(peer), find_(std::move(find)), descriptors_(descriptors)
    {
    }

    // letters: of the function's table.  Throws ipc::ChannelError for anything that libmapi never
    // sends, otherwise Error.
    engine::Arguments read(const ipc::Apply &call, const std::string &letters);

private:
    engine::Argument read(const ipc::Argument &given, char letter);
    void read_functions(const ipc::Argument &given, char letter, engine::Argument &argument) const;
    void read_flows(engine::Argument &argument) const;
    std::shared_ptr<engine::OwnedFile> take_file(const std::string &name);

    const Peer &peer_;
    const FindFlow find_;
    std::vector<ipc::Descriptor> &descriptors_;
    size_t taken_ = 0; // number of descriptors
};
} // namespace mapi::daemon
