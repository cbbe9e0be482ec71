// SPDX-License-Identifier: MIT
// mapi-qos: packets that pass two points -> delay, jitter, loss.
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/command/tell.hpp"
#include "qos/collect/collect.hpp"
#include "qos/options.hpp"
#include "qos/report.hpp"
#include "qos/store/store.hpp"

int main(int argc, char **argv)
{
    command_keep_standard_files();
    command_ignore_write_signals();
    qos::Options options;
    const auto location = [&options] {
        return qos::shown_store(options.is_report ? options.report.store : options.collect.store);
    };
    try {
        if (const auto code = qos::parse_options(argc, argv, options))
            return *code;
        return options.is_report ? qos::report(options.report) : qos::collect(options.collect);
    } catch (const qos::StoreAway &error) {
        command::tell("mapi-qos: {}: cannot be opened: {}\n", location(), error.what());
    } catch (const qos::StoreError &error) {
        command::tell("mapi-qos: {}: {}\n", location(), error.what());
    } catch (const command::UsageError &error) {
        command::tell("mapi-qos: {}\n", error.what());
        return qos::kExitUsage;
    } catch (const command::OutputClosed &) {
        return qos::kExitDone;
    } catch (const std::exception &error) {
        command::tell("mapi-qos: {}\n", error.what());
    }
    return qos::kExitRefused;
}
