// SPDX-License-Identifier: MIT
// Request arguments: what a client says that a function's arguments are -> arguments that the engine may believe.
#include "daemon/request_arguments.hpp"

#include <algorithm>

#include "daemon/regular_file.hpp"
#include "ipc/channel.hpp"

namespace mapi::daemon
{
namespace
{
bool may_have_file(uint32_t kind)
{
    return kind == 'w' || kind == 'o';
}
} // namespace

void close_unwanted(const ipc::Request &request, std::vector<ipc::Descriptor> &descriptors)
{
    if (request.has_create_offline() || request.has_start_recording())
        return; // just one, or its connection ends
    const auto &arguments = request.apply().arguments();
    const auto wanted = std::count_if(arguments.begin(), arguments.end(), [](const auto &argument) { return may_have_file(argument.kind()); });
    if (int64_t(descriptors.size()) > wanted)
        descriptors.erase(descriptors.begin() + wanted, descriptors.end());
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
            throw ipc::ChannelError("arguments that the function does not have");
        arguments.push_back(read(call.arguments(position), letter));
    }
    return arguments;
}

engine::Argument ArgumentReader::read(const ipc::Argument &given, char letter)
{
    engine::Argument argument{char(given.kind()), given.number(), given.text(), {}};
    if (letter == 'u')
        argument.number = peer_.uid;
    if (letter == 'b' && argument.number != 0 && argument.number != 1)
        throw ipc::ChannelError("neither 0 nor 1");
    if ((letter == 'i' || letter == 'c') && argument.number != int32_t(argument.number))
        throw ipc::ChannelError("an int that is none");
    read_functions(given, letter, argument);
    if (given.kind() == 'F')
        read_flows(argument);
    if (may_have_file(given.kind()) && (given.kind() != 'o' || given.number() >= 0))
        take_file(argument);
    return argument;
}

void ArgumentReader::read_functions(const ipc::Argument &given, char letter, engine::Argument &argument) const
{
    for (const ipc::Target &target : given.targets()) {
        if (letter != 'f' && letter != 'S')
            throw ipc::ChannelError("a function as an argument that takes none");
        argument.targets.push_back(find_(target.flow())->target(target.function(), letter == 'S'));
    }
    if ((letter == 'f' && argument.targets.size() != 1) || (letter == 'S' && given.kind() != 0 && int64_t(argument.targets.size()) != argument.number))
        throw ipc::ChannelError("an argument without its functions");
}

void ArgumentReader::read_flows(engine::Argument &argument) const
{
    for (const int flow : engine::read_flow_list(argument.text))
        argument.flows.push_back(find_(flow)->begun());
    argument.number = int64_t(argument.flows.size());
}

void ArgumentReader::take_file(engine::Argument &argument)
{
    if (taken_ == descriptors_.size())
        throw ipc::ChannelError("an argument without its file");
    check_regular(descriptors_[taken_], MAPI_ERROR_FILE, argument.text);
    argument.file = std::make_shared<engine::OwnedFile>(descriptors_[taken_++].release(), "");
    argument.number = argument.file->descriptor();
}
} // namespace mapi::daemon
