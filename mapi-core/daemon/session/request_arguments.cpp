// SPDX-License-Identifier: MIT
// Request arguments: a function's arguments as a client describes them -> arguments that the engine
// may trust.
#include "daemon/session/request_arguments.hpp"

#include <algorithm>
#include <numeric>

#include "daemon/session/regular_file.hpp"
#include "ipc/channel.hpp"

namespace mapi::daemon
{
namespace
{
bool may_have_file(uint32_t kind)
{
    return kind == MAPI_ARGUMENT_FILE || kind == MAPI_ARGUMENT_OUTPUT;
}

// A rotation has the number of files that it specifies.
int64_t most_files(const ipc::Argument &argument)
{
    return argument.kind() == MAPI_ARGUMENT_ROTATION
               ? std::clamp<int64_t>(argument.number(), 0, ipc::kDescriptorsMax)
               : may_have_file(argument.kind());
}
} // namespace

void close_unwanted(const ipc::Request &request, std::vector<ipc::Descriptor> &descriptors)
{
    if (request.has_create_offline() || request.has_append_offline() ||
        request.has_start_recording())
        return; // exactly one, otherwise the connection is closed
    const auto &arguments = request.apply().arguments();
    const auto wanted = std::accumulate(
        arguments.begin(), arguments.end(), int64_t{0},
        [](int64_t sum, const auto &argument) { return sum + most_files(argument); });
    if (int64_t(descriptors.size()) > wanted)
        descriptors.erase(descriptors.begin() + wanted, descriptors.end());
}

ipc::Descriptor &only_file(std::vector<ipc::Descriptor> &descriptors, const char *whose)
{
    if (descriptors.size() != 1)
        throw ipc::ChannelError(std::string("malformed request: ") + whose + " without its file");
    return descriptors[0];
}

engine::Arguments ArgumentReader::read(const ipc::Apply &call, const std::string &letters)
{
    engine::Arguments arguments;
    bool is_optional = false;
    for (const char letter : letters) {
        if (letter == '?') {
            is_optional = true;
            continue;
        }
        const int position = int(arguments.size());
        const bool is_there = position < call.arguments_size();
        const uint32_t kind = is_there ? call.arguments(position).kind() : 0;
        if (!is_there || (kind == 0 ? !is_optional : kind != uint32_t(letter)))
            throw ipc::ChannelError("malformed request: wrong arguments for the function");
        arguments.push_back(read(call.arguments(position), letter));
    }
    return arguments;
}

engine::Argument ArgumentReader::read(const ipc::Argument &given, char letter)
{
    engine::Argument argument{char(given.kind()), given.number(), given.text(), {}};
    if (letter == MAPI_ARGUMENT_USER)
        argument.number = peer_.uid;
    if (letter == MAPI_ARGUMENT_BOOL && argument.number != 0 && argument.number != 1)
        throw ipc::ChannelError("malformed request: argument is neither 0 nor 1");
    if ((letter == MAPI_ARGUMENT_INT || letter == MAPI_ARGUMENT_CHARACTER) &&
        argument.number != int32_t(argument.number))
        throw ipc::ChannelError("malformed request: argument does not fit into an int");
    read_functions(given, letter, argument);
    if (given.kind() == MAPI_ARGUMENT_FLOWS)
        read_flows(argument);
    if (may_have_file(given.kind()) &&
        (given.kind() != MAPI_ARGUMENT_OUTPUT || given.number() >= 0))
        argument.file = take_file(argument.text);
    if (argument.file)
        argument.number = argument.file->descriptor();
    for (int64_t left = given.kind() == MAPI_ARGUMENT_ROTATION ? given.number() : 0; left > 0;
         --left)
        argument.add_file(take_file(argument.text));
    return argument;
}

void ArgumentReader::read_functions(const ipc::Argument &given, char letter,
                                    engine::Argument &argument) const
{
    for (const ipc::Target &target : given.targets()) {
        if (letter != MAPI_ARGUMENT_FUNCTION && letter != MAPI_ARGUMENT_FUNCTIONS)
            throw ipc::ChannelError("malformed request: argument does not take a function");
        argument.targets.push_back(
            find_(target.flow())->target(target.function(), letter == MAPI_ARGUMENT_FUNCTIONS));
    }
    if ((letter == MAPI_ARGUMENT_FUNCTION && argument.targets.size() != 1) ||
        (letter == MAPI_ARGUMENT_FUNCTIONS && given.kind() != 0 &&
         int64_t(argument.targets.size()) != argument.number))
        throw ipc::ChannelError("malformed request: argument lacks its functions");
}

void ArgumentReader::read_flows(engine::Argument &argument) const
{
    for (const int flow : engine::read_flow_list(argument.text))
        argument.flows.push_back(find_(flow)->begun());
    argument.number = int64_t(argument.flows.size());
}

std::shared_ptr<engine::OwnedFile> ArgumentReader::take_file(const std::string &name)
{
    if (taken_ == descriptors_.size())
        throw ipc::ChannelError("malformed request: argument lacks its file");
    check_regular(descriptors_[taken_], MAPI_ERROR_FILE, name);
    return std::make_shared<engine::OwnedFile>(descriptors_[taken_++].release(), "");
}
} // namespace mapi::daemon
