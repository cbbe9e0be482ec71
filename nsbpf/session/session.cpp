// SPDX-License-Identifier: MIT
// Session: the recorder of the group `programs`, of this process, as a source of its own session.
#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#include <nslice/bpf_site.h>
#include <nsprobe/bpf_session.h>
#include <nsprobe/recorder.h>

#include "nsbpf/recorder.hpp"

namespace
{
using Tell = void (*)(const char *warning);

void tell_on_standard_error(const char *warning)
{
    fprintf(stderr, "netslice: warning: %s\n", warning);
}

nsbpf::Request request_of(const char *slices, uint32_t thin_permille, Tell tell)
{
    nsbpf::Request request;
    request.groups = NSLICE_BPF_GROUP;
    request.slices = slices;
    request.thin_permille = thin_permille;
    request.programs_of = nsbpf::Whose::kOwn;
    request.reason = "the program records its own BPF programs";
    request.tell = [tell](const std::string &words) { tell(words.c_str()); };
    return request;
}

// Exceptions do not leave the library: callers may be C.  Returns 0 or -errno with the reason in
// `words`.
template <class Run> int guard(const Run &run, char *words, size_t room) noexcept
{
    const auto fail = [&](int number, const char *reason) {
        snprintf(words, room, "%s", reason);
        return -number;
    };
    try {
        run();
        return 0;
    } catch (const nsbpf::Refusal &refusal) {
        return fail(refusal.number(), refusal.what());
    } catch (const std::system_error &error) {
        return fail(error.code().value(), error.what());
    } catch (const std::bad_alloc &) {
        return fail(ENOMEM, "out of memory");
    } catch (const std::exception &error) {
        return fail(EINVAL, error.what());
    }
}

void end(void *of)
{
    static_cast<nsbpf::Recorder *>(of)->end();
}

int select(void *of, const char *rules)
{
    char ignored[64];
    return guard([&] { static_cast<nsbpf::Recorder *>(of)->select(rules); }, ignored,
                 sizeof(ignored));
}

void release(void *of)
{
    delete static_cast<nsbpf::Recorder *>(of);
}

int begin(void *given, const char *slices, uint32_t thin_permille, nsp_kernel_source *source,
          char *words, size_t room)
{
    const auto start = [&] {
        auto recorder = std::make_unique<nsbpf::Recorder>(
            request_of(slices, thin_permille, *static_cast<Tell *>(given)));
        *source = {recorder->descriptor(), end, select, nullptr};
        source->of = recorder.release(); // release() deletes it
    };
    return guard(start, words, room);
}
} // namespace

int nsp_bpf_record(Tell tell)
{
    if (!tell)
        tell = tell_on_standard_error;
    const nsp_session_kernel kernel = {sizeof(kernel), begin, &tell, release};
    return nsp_session_add_kernel(&kernel);
}

int nsp_bpf_record_end(nsp_session_counts *counts)
{
    return nsp_session_end_kernel(counts);
}
