// SPDX-License-Identifier: MIT
// Config lines: the text of mapi.conf -> sections of keys and values, each with its line, without
// interpreting them.
#pragma once

#include <istream>
#include <string>
#include <vector>

namespace mapi::engine
{
// An error or warning about a line.  After an error the whole file is not used.
struct ConfigNote {
    unsigned line = 0;
    bool is_error = false;
    std::string text;          // begins with file and line
    bool loses_device = false; // a warning, since the other devices can be used
};

class ConfigNotes
{
public:
    explicit ConfigNotes(std::string file) : file_(std::move(file)) {}

    void error(unsigned line, const std::string &text) { add(line, true, text); }
    void warn(unsigned line, const std::string &text) { add(line, false, text); }
    void warn_of_lost_device(unsigned line, const std::string &text)
    {
        add(line, false, text, true);
    }
    std::string place(unsigned line) const { return file_ + ":" + std::to_string(line); }
    // In the order of the lines; notes on one line in the order in which they were added.
    std::vector<ConfigNote> take();

private:
    void add(unsigned line, bool is_error, const std::string &text, bool loses_device = false);

    const std::string file_;
    std::vector<ConfigNote> notes_;
    bool has_error_ = false;
};

struct ConfigKey {
    unsigned line = 0;
    std::string key, value;
};

struct ConfigSection {
    unsigned line = 0;
    std::string name; // empty: the part before the first section
    std::vector<ConfigKey> keys;

    // The last line with this key, or null.
    const ConfigKey *find(const std::string &key) const;
};

// The first section has no name.
std::vector<ConfigSection> split_config(std::istream &input, ConfigNotes &notes);
} // namespace mapi::engine
