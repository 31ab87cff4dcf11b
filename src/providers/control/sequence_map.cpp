#include "providers/reference/kernel.h"

namespace tenon {

namespace {

// How many elements the sequences among the inputs have, which must agree.
Result<size_t> element_count_of(KernelContext& c, const std::vector<Value>& inputs) {
  const Sequence* first = inputs.empty() ? nullptr : inputs[0].sequence();
  if (!first) return invalid_argument("input 0 must be a sequence");
  for (size_t i = 1; i < inputs.size(); ++i)
    if (const Sequence* s = inputs[i].sequence(); s && s->items.size() != first->items.size())
      return invalid_argument("sequences 0 and {} have {} and {} elements; the lengths must be equal", i,
                              first->items.size(), s->items.size());
  if (c.services().body_input_count(0) != inputs.size())
    return invalid_argument("the body takes {} inputs, but it is given {}", c.services().body_input_count(0),
                            inputs.size());
  return first->items.size();
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::SequenceMap>() {
  return [](KernelContext& c) -> Status {
    std::vector<Value> inputs;
    for (size_t i = 0; i < c.input_count(); ++i) {
      TN_ASSIGN_OR_RETURN(Value value, c.take(i));
      inputs.push_back(std::move(value));
    }
    TN_ASSIGN_OR_RETURN(const size_t count, element_count_of(c, inputs));
    std::vector<Sequence> outputs(c.output_count());
    for (size_t k = 0; k < outputs.size(); ++k) outputs[k].element = without_shape(c.services().body_output_type(0, k));
    TN_RETURN_IF_ERROR(c.services().count_iterations(static_cast<int64_t>(count)));
    for (size_t n = 0; n < count; ++n) {
      TN_RETURN_IF_ERROR(c.services().check_cancelled());
      std::vector<Value> elements;
      for (const Value& input : inputs) elements.push_back(input.sequence() ? input.sequence()->items[n] : input);
      TN_ASSIGN_OR_RETURN(auto results, c.services().run_body(0, std::move(elements)));
      if (results.size() < outputs.size())
        return invalid_argument("the body returns {} values, but {} are needed", results.size(), outputs.size());
      for (size_t k = 0; k < outputs.size(); ++k) outputs[k].items.push_back(std::move(results[k]));
    }
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (!outputs[k].items.empty()) outputs[k].element = without_shape(outputs[k].items[0].type());
      c.set(k, std::move(outputs[k]));
    }
    return {};
  };
}

}  // namespace tenon
