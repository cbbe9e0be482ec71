// SPDX-License-Identifier: MIT
// A program started for a test: its output through a pipe, ended by a signal or by itself.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

class ChildProgram
{
public:
    // `before_exec` runs in the child between fork() and exec().
    explicit ChildProgram(std::vector<std::string> words,
                          const std::map<std::string, std::string> &environment = {},
                          const std::function<void()> &before_exec = {})
    {
        int ends[2];
        if (pipe(ends))
            return;
        pid_ = fork();
        if (pid_ == 0) {
            std::vector<char *> argv;
            for (auto &word : words)
                argv.push_back(word.data());
            argv.push_back(nullptr);
            dup2(ends[1], 1);
            dup2(ends[1], 2);
            close(ends[0]);
            close(ends[1]);
            for (const auto &[name, value] : environment)
                setenv(name.c_str(), value.c_str(), 1);
            if (before_exec)
                before_exec();
            execv(argv[0], argv.data());
            _exit(127);
        }
        close(ends[1]);
        out_ = fdopen(ends[0], "r");
    }
    ~ChildProgram()
    {
        if (pid_ > 0)
            end(SIGKILL);
        if (out_)
            fclose(out_);
    }
    ChildProgram(const ChildProgram &) = delete;
    ChildProgram &operator=(const ChildProgram &) = delete;

    int pid() const { return pid_; }

    std::string line()
    {
        char text[1024];
        if (!out_ || !fgets(text, sizeof text, out_))
            return "";
        std::string all = text;
        return all.substr(0, all.find('\n'));
    }
    // Sends the signal (0: waits for the program to end by itself) and returns the wait status.
    int end(int number)
    {
        int status = 0;
        if (pid_ <= 0)
            return status_;
        if (number)
            kill(pid_, number);
        waitpid(pid_, &status, 0);
        pid_ = -1;
        return status_ = status;
    }

private:
    pid_t pid_ = -1;
    int status_ = 0;
    FILE *out_ = nullptr;
};
