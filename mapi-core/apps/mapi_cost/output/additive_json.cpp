// SPDX-License-Identifier: MIT
// additive_json: the models of a run -> JSON.  Undetermined values are null.
#include "additive_json.hpp"

namespace mapi_cost
{
namespace
{
using Json = nlohmann::ordered_json;

Json estimate_json(const std::optional<Estimate> &estimate)
{
    return estimate ? Json{{"value", estimate->value}, {"ci95", estimate->ci95}} : Json(nullptr);
}

Json terms_json(const AdditiveModel &model)
{
    Json terms = Json::array();
    for (const ModelTerm &term : model.terms)
        terms.push_back({{"id", term_id(term.term)},
                         {"name", term_name(term.term)},
                         {"cost", estimate_json(term.cost)}});
    return terms;
}

Json row_json(const ModelRow &row)
{
    Json terms = Json::object();
    for (const auto &[term, times] : row.observed.terms)
        terms[term_id(term)] = times;
    const bool is_tested = row.model.has_value();
    return {{"id", row.observed.scenario.id},
            {"terms", std::move(terms)},
            {"net", row.observed.value},
            {"error", row.error},
            {"model", estimate_json(row.model)},
            {"residual", is_tested ? Json(row.residual) : Json(nullptr)},
            {"residual_ci95", is_tested ? Json(row.residual_ci95) : Json(nullptr)},
            {"verdict", verdict_id(row.verdict)},
            {"in_fit", row.is_in_fit}};
}

Json model_json(const AdditiveModel &model)
{
    Json rows = Json::array();
    for (const ModelRow &row : model.rows)
        rows.push_back(row_json(row));
    std::vector<std::string> left_out = model.unused;
    left_out.insert(left_out.end(), model.without_interval.begin(), model.without_interval.end());
    return {{"terms", terms_json(model)},
            {"scenarios", std::move(rows)},
            {"not_in_model", std::move(left_out)},
            {"spare", model.spare},
            {"holds", model.does_hold}};
}
} // namespace

Json additive_json(const AdditiveModels &models)
{
    const auto or_null = [](const std::optional<AdditiveModel> &model) {
        return model ? model_json(*model) : Json(nullptr);
    };
    return {{"least_error_share", kLeastErrorShare},
            {"least_error", kLeastError},
            {"instructions", or_null(models.instructions)},
            {"cycles", or_null(models.cycles)},
            {"paper",
             {{"scampi_instructions", terms_json(additive_model_2004(Card::kScampi))},
              {"intel_instructions", terms_json(additive_model_2004(Card::kIntel))}}}};
}
} // namespace mapi_cost
