// SPDX-License-Identifier: MIT
// export: results of random thinning -> JSON and text.
#include "export/thinning.hpp"

#include <fmt/format.h>

#include "common/command/counted.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
using command::counted;

Json value_json(const std::optional<Measured> &measured)
{
    return measured ? Json(measured->value) : Json(nullptr);
}

Json ci95_json(const std::optional<Measured> &measured)
{
    return measured ? Json(measured->ci95) : Json(nullptr);
}

std::string text_of(const Measured &measured)
{
    return fmt::format("{:.2f} ± {:.2f}", measured.value, measured.ci95);
}

std::string text_of(const std::optional<Measured> &measured)
{
    return measured ? text_of(*measured) : "none";
}

Json costs_json(const std::vector<ThinnedCost> &costs, bool is_whole)
{
    Json json = Json::array();
    for (const ThinnedCost &cost : costs) {
        json.push_back({{"name", cost.name},
                        {"kind", cost.kind},
                        {"per_slice", cost.per_slice},
                        {"per_record", value_json(cost.per_record)},
                        {"ci95", ci95_json(cost.per_record)}});
        if (is_whole) {
            json.back()["calibrated"] = cost.calibrated.value;
            json.back()["calibrated_ci95"] = cost.calibrated.ci95;
        }
    }
    return json;
}

Json cells_json(const std::vector<ThinnedCell> &cells)
{
    Json json = Json::array();
    for (const ThinnedCell &cell : cells)
        json.push_back({{"off", cell.off},
                        {"epochs", cell.epochs},
                        {"slices", cell.slices},
                        {"mean", cell.mean},
                        {"trimmed_mean", cell.trimmed_mean.value},
                        {"ci95", cell.trimmed_mean.ci95}});
    return json;
}
} // namespace

const char *source_name(NetSource source)
{
    switch (source) {
    case NetSource::kThinning: return "thinning";
    case NetSource::kBoth: return "both";
    default: return "calibration";
    }
}

Json slice_thinning_json(const SliceThinning &thinning)
{
    return {{"net", value_json(thinning.net)},
            {"ci95", ci95_json(thinning.net)},
            {"calibrated", value_json(thinning.calibrated)},
            {"calibrated_ci95", ci95_json(thinning.calibrated)},
            {"used", source_name(thinning.used)},
            {"contradiction", thinning.is_contradiction},
            {"epochs", thinning.epochs},
            {"slices", thinning.slices},
            {"costs", costs_json(thinning.costs, false)},
            {"reason", thinning.reason}};
}

Json thinning_json(const ThinningReport &thinning)
{
    Json json = {{"epochs", thinning.epochs}, {"slices", thinning.slices},
                 {"reason", thinning.reason}, {"distrusted_threads", thinning.distrusted_threads},
                 {"all_on", thinning.all_on}, {"not_all_on", thinning.not_all_on}};
    json["left_out"] = Json::object();
    for (size_t why = 0; why < thinning.left_out.size(); ++why)
        json["left_out"][left_out_name(LeftOut(why))] = thinning.left_out[why];
    json["units"] = Json::array();
    for (const ThinnedUnits &unit : thinning.units)
        json["units"].push_back({{"name", unit.name},
                                 {"epochs_on", unit.epochs_on},
                                 {"epochs_off", unit.epochs_off},
                                 {"per_second_on", unit.per_second_on.value},
                                 {"per_second_on_ci95", unit.per_second_on.ci95},
                                 {"per_second_off", unit.per_second_off.value},
                                 {"per_second_off_ci95", unit.per_second_off.ci95},
                                 {"ticks_on", unit.ticks_on.value},
                                 {"ticks_on_ci95", unit.ticks_on.ci95},
                                 {"ticks_off", unit.ticks_off.value},
                                 {"ticks_off_ci95", unit.ticks_off.ci95},
                                 {"cost", unit.cost.value},
                                 {"cost_ci95", unit.cost.ci95}});
    return json;
}

namespace
{
std::string side_text(const ThinningReport &all, bool is_kernel, const SliceList &slices)
{
    std::string text =
        fmt::format("\nthinning  {}{}, {} used", is_kernel ? "of BPF programs: " : "",
                    counted(all.epochs, "epoch"), counted(all.slices, "slice"));
    for (size_t why = 0; why < all.left_out.size(); ++why)
        if (all.left_out[why] > 0)
            text += fmt::format(", {} {}", left_out_name(LeftOut(why)), all.left_out[why]);
    text += all.reason.empty()
                ? "\n"
                : fmt::format("\n          nothing is estimated: {}\n", printable(all.reason));
    if (all.all_on + all.not_all_on > 0)
        text += fmt::format("          counts are those of {} with all probes on; {} left out\n",
                            counted(all.all_on, "slice"),
                            counted(all.not_all_on, "other is", "others are"));
    for (const SliceReport *slice : slices) {
        if (slice->is_kernel != is_kernel || !slice->thinning || !all.reason.empty())
            continue;
        const SliceThinning &one = *slice->thinning;
        if (one.net)
            text += fmt::format(
                "          {}: {} ticks by thinning ({}), {} by calibration; used: {}\n",
                printable(slice->name), text_of(one.net), counted(one.epochs, "epoch"),
                text_of(one.calibrated), source_name(one.used));
        else if (!one.costs.empty())
            text += fmt::format("          {}: by calibration: {}\n", printable(slice->name),
                                printable(one.reason));
    }
    for (const ThinnedUnits &unit : all.units)
        text +=
            fmt::format("          unit {}: {:.6g} per second with all probes, {:.6g} with most "
                        "of them off: the probes cost {:.2f} ± {:.2f} %\n",
                        printable(unit.name), unit.per_second_on.value, unit.per_second_off.value,
                        100 * unit.cost.value, 100 * unit.cost.ci95);
    return text;
}
} // namespace

std::string thinning_text(const StatsReport &report, const SliceList &slices)
{
    return (report.thinning ? side_text(*report.thinning, false, slices) : "") +
           (report.program_thinning ? side_text(*report.program_thinning, true, slices) : "");
}

namespace
{
// That a slice executes while everything inside is off.
double probes_off(const SliceThinning &one)
{
    double probes = 0;
    for (const ThinnedCost &cost : one.costs)
        probes += cost.per_slice * (cost.kind == "mark" ? 1 : 2);
    return probes;
}
} // namespace

std::string explain_json(const SliceReport &slice)
{
    const SliceThinning &one = *slice.thinning;
    Json json = {{"schema", "netslice-explain-1"}, {"name", slice.name}, {"count", slice.count}};
    json["raw"] = slice.values.at(0).raw.trimmed_mean;
    json["own_reads"] = {{"ticks", one.inner.value},
                         {"ci95", one.inner.ci95},
                         {"from", source_name(one.inner_from)}};
    json["inside"] = costs_json(one.costs, true);
    json["inits"] = one.inits;
    json["exits"] = one.exits;
    json["calibrated"] = value_json(one.calibrated);
    json["calibrated_ci95"] = ci95_json(one.calibrated);
    json["thinned"] = value_json(one.net);
    json["thinned_ci95"] = ci95_json(one.net);
    json["thinned_raw"] = one.net ? Json(one.raw.value) : Json(nullptr);
    json["probes_off"] = one.net ? Json(probes_off(one)) : Json(nullptr);
    json["net"] = value_json(one.combined);
    json["net_ci95"] = ci95_json(one.combined);
    json["used"] = source_name(one.used);
    json["contradiction"] = one.is_contradiction;
    json["reason"] = one.reason;
    json["cells"] = cells_json(one.cells);
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace
{
std::string inside_text(const SliceThinning &one)
{
    std::string text;
    for (const ThinnedCost &cost : one.costs)
        text += fmt::format("inside      {:.2f} x {} ({}): {} by thinning, {} by calibration\n",
                            cost.per_slice, printable(cost.name), cost.kind,
                            text_of(cost.per_record), text_of(cost.calibrated));
    if (one.inits + one.exits > 0)
        text += fmt::format("inside      {:.2f} x INIT, {:.2f} x EXIT: by calibration\n", one.inits,
                            one.exits);
    return text;
}

std::string cells_text(const SliceThinning &one)
{
    std::string text;
    for (const ThinnedCell &cell : one.cells) {
        std::string off;
        for (const std::string &name : cell.off)
            off += (off.empty() ? "" : ", ") + printable(name);
        text += fmt::format("cell        off: {}: {}, {}, raw {}\n", off.empty() ? "nothing" : off,
                            counted(cell.epochs, "epoch"), counted(cell.slices, "slice"),
                            text_of(cell.trimmed_mean));
    }
    return text;
}
} // namespace

std::string explain_text(const SliceReport &slice)
{
    const SliceThinning &one = *slice.thinning;
    std::string text = fmt::format("slice       {}: {}; ticks, trimmed means with 95 % intervals\n",
                                   printable(slice.name), counted(slice.count, "slice"));
    text += fmt::format("raw         {:.2f}\n", slice.values.at(0).raw.trimmed_mean);
    text += fmt::format("own reads   {} by {}\n", text_of(one.inner), source_name(one.inner_from));
    text += inside_text(one);
    text += fmt::format("calibrated  {}\n", text_of(one.calibrated));
    if (one.net)
        text += fmt::format("thinned     {}: raw {} with everything inside off ({}, {})\n",
                            text_of(one.net), text_of(one.raw), counted(one.epochs, "epoch"),
                            counted(one.slices, "slice"));
    else
        text += fmt::format("thinned     none: {}\n", printable(one.reason));
    if (const double probes = probes_off(one); one.net && probes > 0)
        text += fmt::format(
            "still there {:.2f} probes that are off, an instruction or a few each: part of net, "
            "and not of its interval\n",
            probes);
    text += fmt::format("net         {}: used: {}", text_of(one.combined), source_name(one.used));
    if (one.net && one.calibrated)
        text += fmt::format("; they differ by {:.2f}{}", one.net->value - one.calibrated->value,
                            one.is_contradiction ? ", which is a contradiction" : "");
    return text + "\n" + cells_text(one);
}
} // namespace nsdump
