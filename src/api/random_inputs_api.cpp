#include "api/model_handle.h"
#include "trials/inputs/random_inputs.h"

using namespace tenon;

extern "C" {

tn_status* tn_model_random_inputs(const tn_model* model, const tn_options* options, tn_value** inputs,
                                  size_t input_count) {
  return api::guarded([&]() -> Status {
    if (!model || (!inputs && input_count)) return invalid_argument("model and inputs must not be NULL");
    RandomInputOptions settings;
    int64_t seed = 0;
    api::OptionReader reader(options);
    reader.integer("seed", seed, std::numeric_limits<int64_t>::min());
    reader.integer("memory_limit", settings.memory_bytes, 1);
    int64_t sizes = 0;
    reader.integer("sizes", sizes, 0);
    reader.integers_by_name("dim", settings.dims);
    reader.integer_lists_by_name("shape", settings.shapes);
    TN_RETURN_IF_ERROR(reader.finish());
    settings.sizes = static_cast<size_t>(sizes);
    settings.seed = static_cast<uint64_t>(seed);
    TN_RETURN_IF_ERROR(api::check_dim_names(*model, settings.dims));
    std::vector<Value> given(input_count);
    for (size_t i = 0; i < input_count; ++i)
      if (inputs[i]) given[i] = inputs[i]->value;
    TN_ASSIGN_OR_RETURN(std::vector<Value> made, random_inputs(model->model->graph, settings, std::move(given)));
    std::vector<std::unique_ptr<tn_value>> handles(input_count);
    for (size_t i = 0; i < input_count; ++i)
      if (!inputs[i] && !made[i].empty()) handles[i] = std::make_unique<tn_value>(tn_value{std::move(made[i])});
    for (size_t i = 0; i < input_count; ++i)
      if (handles[i]) inputs[i] = handles[i].release();
    return {};
  });
}

}  // extern "C"
