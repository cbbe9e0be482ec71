// SPDX-License-Identifier: MIT
// Arguments: what a client passed to a function, owned.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mapi/function.h>
#include <unistd.h>

namespace mapi::engine
{
class Chain;

// A function of a flow, as an argument of another one.  Does not keep the flow alive.
struct Target {
    std::weak_ptr<Chain> chain;
    size_t position = 0;          // in the chain
    size_t bytes = 0;             // of its result
    bool is_count = false;        // its result is a count that only grows
    bool is_array = false;        // its result has no single value
    const void *device = nullptr; // of its flow
    int flow = 0, function = 0;   // the client's numbers
};

// Of a flow: 0 until it is connected and its device is running.
using FlowBegun = std::shared_ptr<const std::atomic<uint64_t>>;

// A file that a client opened; closed on destruction.
class OwnedFile
{
public:
    // created: the path of a file that did not exist before; it is removed unless a function calls
    // keep().
    OwnedFile(int descriptor, std::string created)
        : descriptor_(descriptor), created_(std::move(created))
    {
    }
    ~OwnedFile()
    {
        close(descriptor_);
        if (!created_.empty())
            unlink(created_.c_str());
    }
    OwnedFile(const OwnedFile &) = delete;
    OwnedFile &operator=(const OwnedFile &) = delete;
    void keep() { created_.clear(); }
    int descriptor() const { return descriptor_; }

private:
    const int descriptor_;
    std::string created_;
};

constexpr char kConfigLines = '='; // not a letter

struct Argument {
    char kind = 0; // enum mapi_argument_kind; 0: an omitted optional one; kConfigLines: not an
                   // argument but lines of mapi.conf, always last
    int64_t number = 0;
    std::string text;
    std::vector<Target> targets;          // of functions
    std::shared_ptr<OwnedFile> file = {}; // of files and outputs; number is its descriptor
    std::vector<FlowBegun> flows = {};    // of a list of flows
    std::vector<std::shared_ptr<OwnedFile>> files = {}; // of a rotation; number is their count
    std::vector<int> descriptors = {};                  // of these

    void add_file(std::shared_ptr<OwnedFile> one)
    {
        descriptors.push_back(one->descriptor());
        files.push_back(std::move(one));
        number = int64_t(files.size());
    }
    // Files created for the argument remain when it is destroyed.
    void keep_files() const
    {
        if (file)
            file->keep();
        for (const auto &one : files)
            one->keep();
    }

    // Arguments with a target, a flow or a file are never equal: a reference to a result starts
    // when it is applied, and each function writes its own file.
    bool operator==(const Argument &other) const
    {
        return kind == other.kind && targets.empty() && flows.empty() && !file && files.empty() &&
               number == other.number && text == other.text;
    }
};

using Arguments = std::vector<Argument>;

// The table's arguments as a text: the letter of each; those after '?' may be omitted, those after
// "??" also by a caller that cannot pass the number of its arguments.
std::string argument_letters(const mapi_function &function);

// "FLOW,FLOW" -> numbers; empty if the text is not such a list.
std::vector<int> read_flow_list(const std::string &text);
} // namespace mapi::engine
