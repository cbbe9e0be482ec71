// SPDX-License-Identifier: MIT
// Client: state shared by the flows of one program.
#include "engine/client.hpp"

namespace mapi::engine
{
namespace
{
// An object and the memory charged for it.
struct CommonObject {
    CommonObject(const mapi_common_object &k, QuotaUse c)
        : kind(k), charge(std::move(c)), object(kind.create())
    {
    }
    ~CommonObject()
    {
        if (object)
            kind.destroy(object);
    }
    CommonObject(const CommonObject &) = delete;
    CommonObject &operator=(const CommonObject &) = delete;

    const mapi_common_object &kind;
    const QuotaUse charge;
    void *const object;
};
} // namespace

std::shared_ptr<void> Client::common_object(const mapi_common_object &kind)
{
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(&kind);
    if (found != objects_.end())
        return found->second;
    auto made = make(kind);
    if (made)
        objects_[&kind] = made;
    return made;
}

std::shared_ptr<void> Client::watching_object(const mapi_common_object &kind,
                                              const std::shared_ptr<DeviceTotals> &device)
{
    const std::lock_guard lock(mutex_);
    auto &objects = watching_[&kind];
    std::erase_if(objects, [](const auto &known) { return known.second.expired(); });
    if (const auto found = objects.find(device); found != objects.end()) {
        if (auto held = found->second.lock()) // its last holder may have released it by now
            return held;
    }
    auto made = make(kind);
    if (made)
        objects[device] = made;
    return made;
}

// Under the lock.
std::shared_ptr<void> Client::make(const mapi_common_object &kind)
{
    QuotaUse charge(quota_);
    if (!charge.add(kind.bytes))
        return nullptr;
    const auto made = std::make_shared<CommonObject>(kind, std::move(charge));
    if (!made->object)
        throw std::bad_alloc();
    return {made, made->object};
}

std::shared_ptr<FlowDrops> Client::drops_of(const std::shared_ptr<DeviceTotals> &device)
{
    const std::lock_guard lock(mutex_);
    if (const auto found = drops_.find(device); found != drops_.end())
        return found->second;
    std::erase_if(drops_, [](const auto &known) { return known.first.expired(); });
    return drops_[device] = std::make_shared<FlowDrops>();
}
} // namespace mapi::engine
