// SPDX-License-Identifier: MIT
// Table: rules and their counts -> text, for a file or for a screen.
#pragma once

#include <string>
#include <vector>

#include "common/command/terminal.hpp"
#include "sids/run/rule_table.hpp"

namespace sids
{
// Columns separated by tabs: id, packets, bytes, time of the last packet, message.
std::string table_text(const Entries &entries, bool are_all_shown);

// The same in aligned columns, at most `rows` lines of at most `columns` letters: the rules that
// matched last, under a head line.
std::string screen_text(const Entries &entries, bool are_all_shown, const std::string &head,
                        const command::TerminalSize &screen);
} // namespace sids
