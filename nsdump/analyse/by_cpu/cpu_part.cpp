// SPDX-License-Identifier: MIT
// analyse: the records of one CPU -> its slices' statistics, apart from all other CPUs.
#include "analyse/by_cpu/cpu_part.hpp"

#include <utility>

#include "analyse/pair/pair.hpp"

namespace nsdump
{
void CpuPart::merge(CpuPart &&other)
{
    statistics.merge(std::move(other.statistics));
    unpaired += other.unpaired;
    faults += other.faults;
    has_nested |= other.has_nested;
}

void read_cpu(const CpuReading &reading, uint32_t cpu_index, FasterWay *ahead,
              const std::function<bool(uint64_t)> &continues, CpuPart &part)
{
    const TraceFile &trace = reading.trace;
    ThreadOwners &owners = reading.owners;
    NameTable names = trace.names(); // ids without a site are added to it
    DamageLog damage;
    CpuStream stream(trace, trace.cpus()[cpu_index], damage);
    ThreadsOfCpu threads(owners, cpu_index);
    NestingSeen seen(part.statistics);
    Pairer<NestingSeen> pairer(
        names, {trace.counter_names().size(), trace.cpus().size(), false, {}, {}, names.has_ways()},
        seen);
    for (;;) {
        RecordCursor *const records = stream.next_payload(ahead);
        if (records)
            pairer.consume(*records, {cpu_index, stream.is_after_loss()},
                           [&](uint32_t thread_id) { threads.note(thread_id); });
        // Also after the last payload: the chunks behind it may be damaged.  A pause affects the
        // slices of all CPUs, at the first record after it on any of them.
        if (damage.chunks() > 0 || names.size() != trace.names().size() ||
            stream.left_out_so_far() > 0)
            owners.give_up();
        if (!records || !owners.are_apart() || !continues(records->decoded))
            break;
    }
    pairer.finish();
    part.unpaired = pairer.unpaired();
    part.faults = stream.faults();
    part.has_nested = seen.has_nested();
}
} // namespace nsdump
