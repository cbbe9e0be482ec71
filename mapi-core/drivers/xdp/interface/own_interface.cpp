// SPDX-License-Identifier: MIT
// Indexes of the interfaces with an attachment of this process.
#include "drivers/xdp/interface/own_interface.hpp"

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <set>

#include "drivers/xdp/kernel_object.hpp"

namespace mapi::drivers::xdp
{
namespace
{
struct Taken {
    std::mutex mutex;
    std::condition_variable left;
    std::set<uint32_t> indexes;
};

Taken &taken()
{
    static Taken all;
    return all;
}
} // namespace

OwnInterface::OwnInterface(const std::string &name, uint32_t index,
                           std::chrono::milliseconds patience)
    : index_(index)
{
    Taken &all = taken();
    std::unique_lock lock(all.mutex);
    if (!all.left.wait_for(lock, patience, [&] { return !all.indexes.contains(index); }))
        throw KernelRefusal(name + ": another device of this process has a program on it, or flows "
                                   "with earlier settings of this device have; close these flows, "
                                   "or use that device",
                            EBUSY);
    all.indexes.insert(index);
}

OwnInterface::~OwnInterface()
{
    Taken &all = taken();
    const std::lock_guard lock(all.mutex);
    all.indexes.erase(index_);
    all.left.notify_all();
}
} // namespace mapi::drivers::xdp
