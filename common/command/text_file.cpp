// SPDX-License-Identifier: MIT
// text_file: exceptions of command::Output -> codes and messages.
#include "text_file.h"

#include <cstdio>
#include <functional>
#include <string>

#include "output.hpp"

namespace
{
command_text_file caught(const std::function<void()> &run, char *why, size_t why_bytes)
{
    try {
        run();
        return COMMAND_TEXT_FILE_OK;
    } catch (const command::UsageError &error) {
        std::snprintf(why, why_bytes, "%s", error.what());
        return COMMAND_TEXT_FILE_MISUSED;
    } catch (const command::Interrupted &) {
        return COMMAND_TEXT_FILE_INTERRUPTED;
    } catch (const std::exception &error) {
        std::snprintf(why, why_bytes, "%s", error.what());
        return COMMAND_TEXT_FILE_UNWRITTEN;
    }
}
} // namespace

command_text_file command_check_text_file(const char *path, const char *input, char *why,
                                          size_t why_bytes)
{
    return caught([=] { command::check_outputs(input, {path}); }, why, why_bytes);
}

command_text_file command_write_text_file(const char *path, const char *text, size_t bytes,
                                          char *why, size_t why_bytes)
{
    return caught([=] { command::write_whole(path, std::string(text, bytes)); }, why, why_bytes);
}
