// SPDX-License-Identifier: MIT
// Local backend: the engine in this process.
#pragma once

#include "client/backend.hpp"
#include "engine/client.hpp"
#include "engine/devices.hpp"
#include "engine/registry/registry.hpp"

namespace mapi::client
{
class LocalBackend final : public Backend
{
public:
    LocalBackend();

    FunctionDescription function(const std::string &name) override;
    FunctionDescription function_at(int number) override;
    unsigned function_count() override { return unsigned(registry_.functions().size()); }
    std::shared_ptr<Flow> create_flow(int fd, const std::string &device) override;
    std::shared_ptr<Flow> create_offline_flow(int fd, const std::string &path, int format) override;
    std::shared_ptr<Flow> create_again(const FlowRecipe &recipe) override;
    std::string create_offline(const std::string &path, int format) override
    {
        return devices_.create_offline(path, format);
    }
    void append_offline(const std::string &device, const std::string &path) override
    {
        devices_.append_offline(device, path);
    }
    void start_offline(const std::string &device) override { devices_.start_offline(device); }
    void delete_offline(const std::string &device) override { devices_.delete_offline(device); }
    void set_option(const std::string &device, const std::string &key,
                    const std::string &value) override
    {
        devices_.set_option(device, key, value);
    }
    void describe_device(int id, mapi_device_info_t *info) override { devices_.describe(id, info); }
    int next_device(int id) override { return devices_.next(id); }
    void copy_stats(const std::string &device, mapi_stat_t *stats) override
    {
        devices_.copy_stats(device, stats);
    }

private:
    engine::Registry registry_;
    engine::Devices devices_;
    const std::shared_ptr<engine::Client> client_ =
        std::make_shared<engine::Client>(); // this program
};
} // namespace mapi::client
