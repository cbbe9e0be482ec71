// SPDX-License-Identifier: MIT
// output_folder: files -> a folder, which is complete or absent.
#pragma once

#include <string>
#include <string_view>

namespace command
{
class OutputFolder
{
public:
    // The folder appears under its name only at finish(); it may exist if it is empty.  Throws
    // OutputError if it cannot be written.
    explicit OutputFolder(const std::string &path);
    // Without finish(), leaves nothing behind.
    ~OutputFolder();
    OutputFolder(const OutputFolder &) = delete;
    OutputFolder &operator=(const OutputFolder &) = delete;

    // Ends the current file and begins the next.
    void begin(const std::string &file);
    // Appends to the current file.
    void write(std::string_view bytes);
    void finish();

private:
    void close_file();

    std::string path_; // as given
    std::string target_;
    std::string temporary_;
    std::string file_; // name of the current one
    int fd_ = -1;
};
} // namespace command
