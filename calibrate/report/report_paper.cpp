// SPDX-License-Identifier: MIT
// report: run -> the NetSlice paper's tables as text, with the figures of 2001.
#include "paper.hpp"
#include "report_lines.hpp"

namespace calibrate
{
namespace
{
class PaperReport : Lines
{
public:
    explicit PaperReport(const Report &report)
        : report_(report), paper_(paper_of(report.run.results, instruction_variants(),
                                           is_virtual(report.environment))),
          ns_per_tick_(1e9 / report.run.facts.hz)
    {
    }

    std::string text()
    {
        add(context_text(report_));
        line("2001       {}", kPaperSource);
        instructions();
        macros();
        kernel();
        events();
        add(warnings_text(report_));
        return take();
    }

private:
    // ns, interval, ticks, ratio
    std::string figures(const std::optional<Estimate> &cost, std::optional<double> ns_2001) const
    {
        if (!cost)
            return fmt::format("{:>9} {:>7} {:>10} {:>7}", "-", "-", "-", "-");
        const double ns = cost->mean * ns_per_tick_;
        return fmt::format("{:>9.2f} {:>7.2f} {:>10.2f} {:>7}", ns, cost->ci95 * ns_per_tick_,
                           cost->mean, ns_2001 ? fmt::format("{:.3f}", ns / *ns_2001) : "-");
    }

    void instructions()
    {
        line("\nTable 1: machine instructions");
        line("{:<12} {:>7} {:>9} {:>7} {:>10} {:>7}", "", "2001 ns", "ns", "+-95%", "ticks",
             "x 2001");
        for (const InstructionLine &one : paper_.instructions)
            line("{:<12} {:>7} {}{}{}", one.name,
                 one.ns_2001 ? fmt::format("{:.0f}", *one.ns_2001) : "-",
                 figures(one.ticks, one.ns_2001), one.note.empty() ? "" : "  ", one.note);
    }

    void macros()
    {
        line("\nTable 2: macro-instructions, ring {}, no counters", paper_.ring);
        line("{:<24} {:>7} {:>9} {:26} {:>9}", "clock mode", "", "fast", "", "ordered");
        line("{:<24} {:>7} {:>9} {:>7} {:>10} {:>7} {:>9} {:>7} {:>10} {:>7}", "", "2001 ns", "ns",
             "+-95%", "ticks", "x 2001", "ns", "+-95%", "ticks", "x 2001");
        for (const MacroLine &one : paper_.macros)
            line("{:<3} {:<20} {:>7.0f} {} {}{}", one.macro->acronym, one.macro->name,
                 one.macro->ns_2001, figures(one.fast, one.macro->ns_2001),
                 figures(one.ordered, one.macro->ns_2001),
                 one.fast && one.ordered ? "" : "  -: not in the calibration");
        line("macros back to back: NSO: what an empty slice reads; others: cost added to the "
             "enclosing code");
        line("not the inner and outer of the other tables, which are costs between work that hides "
             "a part of them");
        line("the macros of 2001 ran in the kernel, these run in a program");
    }

    void kernel()
    {
        line("\nTables 1 and 2 in the kernel, by nsmod");
        if (!paper_.why_no_kernel.empty())
            line("not measured: {}", paper_.why_no_kernel);
        if (paper_.kernel_instructions.empty() && paper_.kernel_macros.empty())
            return;
        line("{:<24} {:>7} {:>9} {:>7} {:>10} {:>7}", "", "2001 ns", "ns", "+-95%", "ticks",
             "x 2001");
        for (const InstructionLine &one : paper_.kernel_instructions)
            line("{:<24} {:>7} {}{}{}", one.name,
                 one.ns_2001 ? fmt::format("{:.0f}", *one.ns_2001) : "-",
                 figures(one.ticks, one.ns_2001), one.note.empty() ? "" : "  ", one.note);
        for (const KernelMacroLine &one : paper_.kernel_macros)
            line("{:<3} {:<20} {:>7.0f} {}  {}", one.macro->acronym, one.macro->name,
                 one.macro->ns_2001, figures(one.recorded, one.macro->ns_2001),
                 one.idle ? fmt::format("no recorder: {:.2f} ns", one.idle->mean * ns_per_tick_)
                          : "");
        line("macros: ring with room, no counters; the inner cost is in each trace that has kernel "
             "records");
    }

    void events()
    {
        line("\nFigure 4: events in each macro");
        if (paper_.events.empty()) {
            line("unavailable: {}", paper_.why_no_events);
            return;
        }
        std::string head = fmt::format("{:<16} {:<10} {:<8}", "counter", "source", "clock");
        for (const Macro &macro : kMacros)
            head += fmt::format(" {:>8}", macro.acronym);
        line("{}", head);
        bool has_2001 = false, has_step = false;
        for (const EventLine &one : paper_.events) {
            std::string text =
                fmt::format("{:<16} {:<10} {:<8}", one.counter, one.source, one.mode);
            for (const auto &count : one.counts)
                text += count ? fmt::format(" {:>8.1f}", count->mean) : fmt::format(" {:>8}", "-");
            line("{}", text);
            has_2001 = has_2001 || one.counter == kEvent2001.counter;
            has_step = has_step || one.source == "step";
        }
        if (has_2001)
            events_of_2001();
        line("measured with probes that read the counter, whose code path is longer than that of "
             "Table 2");
        if (has_step)
            line("step: instructions of a macro counted by a stepped slice; stepping is off while "
                 "the macro writes its record");
    }

    void events_of_2001()
    {
        std::string text = fmt::format("{:<16} {:<10} {:<8}", kEvent2001.counter,
                                       fmt::format("2001, {}", kEvent2001.event), "-");
        for (const Macro &macro : kMacros)
            text += macro.acronym == std::string_view(kEvent2001.acronym)
                        ? fmt::format(" {:>8.0f}", kEvent2001.count)
                        : fmt::format(" {:>8}", "-");
        line("{}", text);
    }

    const Report &report_;
    const Paper paper_;
    const double ns_per_tick_;
};
} // namespace

std::string as_paper_text(const Report &report)
{
    return PaperReport(report).text();
}
} // namespace calibrate
