// SPDX-License-Identifier: MIT
// Backend: captures for this process: an engine of its own, or mapid.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <mapi/results.h>

#include "client/shortcut.hpp"
#include "engine/config/arguments.hpp"
#include "engine/error.hpp"

namespace mapi::client
{
struct FlowRecipe;

// Description of a function before it is applied.
struct FunctionDescription {
    std::string name;
    std::string args; // as in mapi_function
    std::string description;
};

// Any thread.  All functions throw Error.
class Flow : public std::enable_shared_from_this<Flow>
{
public:
    // How long describe() waits to find out whether the last packet that was read is the last of
    // the trace.
    static constexpr int kWhetherOverMs = 2000;

    virtual ~Flow() = default;

    // Without a shortcut, the calls below are used.
    bool has_shortcut(int fid) const
    {
        return unsigned(fid) - 1 < shortcut_count_.load(std::memory_order_acquire);
    } // pairs with make_shortcuts()
    Shortcut &shortcut(int fid) const { return shortcuts_[unsigned(fid) - 1]; }
    // Permanently: from now on the calls below are used.  Neither locks nor waits.
    void close_shortcuts()
    {
        are_shortcuts_closed_ = true;
        for (unsigned i = 0; i < shortcut_count_.load(std::memory_order_acquire); ++i)
            shortcuts_[i].close();
    }

    virtual int apply(const std::string &function, engine::Arguments arguments) = 0;
    // A function of the flow, as another function's argument; is_whole: results of any size are
    // accepted.
    virtual engine::Target target(int fid, bool is_whole) = 0;
    // Whether the flow has begun, for another flow's function.
    virtual engine::FlowBegun begun() = 0;
    virtual bool is_connected() = 0;
    virtual void set_option(int option, uint64_t value) = 0;
    virtual uint64_t option(int option) = 0;
    // Connects flows in one step, `this` among them.  All are of one device; after an error none is
    // connected.
    virtual void connect(const std::vector<std::shared_ptr<Flow>> &flows) = 0;
    virtual void reset(int fid) = 0;
    virtual void remove(int fid) = 0;
    // Closes flows in one step, `this` among them, which no other thread closes.
    virtual void close(const std::vector<std::shared_ptr<Flow>> &flows) = 0;
    void close() { close({shared_from_this()}); }

    // Does not wait.  Null: use next_results().
    virtual mapi_results_t *read_results(int fid) = 0;
    // The next result of a function that returns them one by one.
    virtual mapi_results_t *next_results(int fid) = 0;
    // Null: the end, or the buffer is empty and does not wait.
    virtual const mapipkt *next_packet(int fid) = 0;
    // Returns all available packets, at most `most`; waits for the first one, timeout_ms < 0
    // forever.  0: none arrived in time, or no more will arrive.
    virtual int next_packets(int fid, const mapipkt **packets, int most, int timeout_ms) = 0;
    // Becomes readable when there is something to read, or at the end, after a read that found
    // nothing.  Belongs to the flow.
    virtual int poll_descriptor(int fid) = 0;
    // False if the time is up.
    virtual bool wait_for_end(int timeout_ms) = 0;

    // Reports FLOW_FINISHED after the last packet of a trace has been read.
    virtual void describe(mapi_flow_info_t *info) = 0;
    virtual void describe(int fid, mapi_function_info_t *info) = 0;
    // 0: there is none after it.
    virtual int next_function(int fid) = 0;

    // The requests that recreate the flow if its mapid has ended; null: the flow is still running.
    virtual std::shared_ptr<const FlowRecipe> recipe_if_gone() { return nullptr; }

protected:
    // Throws Error if one of the flows is another kind's.
    template <class Kind>
    static std::vector<Kind *> of_one_kind(const std::vector<std::shared_ptr<Flow>> &flows)
    {
        std::vector<Kind *> own;
        for (const auto &flow : flows) {
            own.push_back(dynamic_cast<Kind *>(flow.get()));
            if (!own.back())
                throw Error(MFUNCT_INVALID_ARGUMENT_1, "the flows are not of one mapid");
        }
        return own;
    }
    // Once, when the flow has all its functions.
    void make_shortcuts(size_t functions)
    {
        shortcuts_ = std::make_unique<Shortcut[]>(functions);
        shortcut_count_.store(unsigned(functions), std::memory_order_release);
    }
    bool are_shortcuts_closed() const { return are_shortcuts_closed_; }
    // Place: a WordPlace or a RecordSource.  A concurrent removal of the function, or closing of
    // all shortcuts, either finds the shortcut open and closes it, or is noticed here.
    template <class Place, class IsRemoved>
    void open_shortcut(int fid, Place &&place, IsRemoved is_removed)
    {
        if (!has_shortcut(fid))
            return;
        shortcut(fid).lead_to(place);
        if (is_removed() || are_shortcuts_closed_)
            shortcut(fid).close();
    }
    void close_shortcut(int fid)
    {
        if (has_shortcut(fid))
            shortcut(fid).close();
    }

private:
    std::unique_ptr<Shortcut[]> shortcuts_;
    std::atomic<unsigned> shortcut_count_ = 0;
    std::atomic<bool> are_shortcuts_closed_ = false;
};

class Backend
{
public:
    virtual ~Backend() = default;

    virtual FunctionDescription function(const std::string &name) = 0;
    // All functions, numbered from 0.
    virtual FunctionDescription function_at(int number) = 0;
    virtual unsigned function_count() = 0;
    // fd: the flow's descriptor in the program.
    virtual std::shared_ptr<Flow> create_flow(int fd, const std::string &device) = 0;
    virtual std::shared_ptr<Flow> create_offline_flow(int fd, const std::string &path,
                                                      int format) = 0;
    virtual std::shared_ptr<Flow> create_again(const FlowRecipe &recipe) = 0;
    virtual std::string create_offline(const std::string &path, int format) = 0;
    virtual void append_offline(const std::string &device, const std::string &path) = 0;
    virtual void start_offline(const std::string &device) = 0;
    virtual void delete_offline(const std::string &device) = 0;
    virtual void set_option(const std::string &device, const std::string &key,
                            const std::string &value) = 0;
    virtual void describe_device(int id, mapi_device_info_t *info) = 0;
    // 0: there is none after it.
    virtual int next_device(int id) = 0;
    virtual void copy_stats(const std::string &device, mapi_stat_t *stats) = 0;
};
} // namespace mapi::client
