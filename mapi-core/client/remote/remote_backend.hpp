// SPDX-License-Identifier: MIT
// Remote backend: mapid, which captures for many programs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "client/backend.hpp"
#include "client/remote/connection.hpp"
#include "client/remote/flow_recipe.hpp"

namespace mapi::client
{
class RemoteFlow;

class RemoteBackend final : public Backend
{
public:
    explicit RemoteBackend(std::shared_ptr<Connection> connection)
        : connection_(std::move(connection))
    {
    }

    bool is_alive() const { return connection_->is_alive(); }

    FunctionDescription function(const std::string &name) override;
    FunctionDescription function_at(int number) override;
    unsigned function_count() override;
    std::shared_ptr<Flow> create_flow(int fd, const std::string &device) override;
    std::shared_ptr<Flow> create_offline_flow(int fd, const std::string &path, int format) override;
    std::shared_ptr<Flow> create_again(const FlowRecipe &recipe) override;
    std::string create_offline(const std::string &path, int format) override;
    void append_offline(const std::string &device, const std::string &path) override;
    void start_offline(const std::string &device) override;
    void delete_offline(const std::string &device) override;
    void set_option(const std::string &device, const std::string &key,
                    const std::string &value) override;
    void describe_device(int id, mapi_device_info_t *info) override;
    int next_device(int id) override;
    void copy_stats(const std::string &device, mapi_stat_t *stats) override;

private:
    ipc::FunctionDescription ask_for_function(int number);
    static ipc::Request capture_request(int fd, const std::string &path, int format);
    ipc::Reply open_capture(const ipc::Request &request, const std::string &path);
    std::shared_ptr<RemoteFlow> make_flow(const ipc::Request &creation, const std::string &capture);

    const std::shared_ptr<Connection> connection_;
    std::mutex mutex_;
    std::map<std::string, FunctionDescription>
        described_; // mapid loads functions only at its start
};
} // namespace mapi::client
