#include "providers/control/slices.h"
#include "providers/reference/kernel.h"

namespace tenon {

namespace {

Result<bool> truth_of(const Value& value) {
  const Tensor* t = value.tensor();
  if (!t || t->dtype() != DType::Bool || t->size() != 1)
    return invalid_argument("the condition must be a single boolean, but it is {}", value.type().to_string());
  return t->as<bool>()[0];
}

class LoopRun {
 public:
  explicit LoopRun(KernelContext& c) : c_(c) {}

  Status run() {
    TN_RETURN_IF_ERROR(read_inputs());
    for (int64_t i = 0; go_on_ && i < trips_; ++i) {
      TN_RETURN_IF_ERROR(c_.services().count_iterations(1));
      TN_RETURN_IF_ERROR(c_.services().check_cancelled());
      TN_RETURN_IF_ERROR(iterate(i));
    }
    return write_outputs();
  }

 private:
  Status read_inputs() {
    if (c_.has(0)) {
      if (c_.boxed(0) || c_.in(0).dtype != DType::Int64 || c_.in(0).size() != 1)
        return invalid_argument("the trip count must be a single int64");
      trips_ = c_.in(0).as<int64_t>()[0];
    }
    if (c_.has(1)) {
      TN_ASSIGN_OR_RETURN(condition_, c_.take(1));
      TN_ASSIGN_OR_RETURN(go_on_, truth_of(condition_));
    } else {
      TN_ASSIGN_OR_RETURN(Tensor always, Tensor::allocate(DType::Bool, {}, c_.budget()));
      always.as_mutable<bool>()[0] = true;
      condition_ = std::move(always);
    }
    for (size_t i = 2; i < c_.input_count(); ++i) {
      TN_ASSIGN_OR_RETURN(Value value, c_.take(i));
      carried_.push_back(std::move(value));
    }
    if (c_.services().body_input_count(0) != carried_.size() + 2)
      return invalid_argument("the body takes {} inputs, but it is given {}", c_.services().body_input_count(0),
                              carried_.size() + 2);
    scans_.resize(c_.output_count() > carried_.size() ? c_.output_count() - carried_.size() : 0);
    return {};
  }

  Status iterate(int64_t i) {
    std::vector<Value> inputs;
    inputs.reserve(carried_.size() + 2);
    inputs.emplace_back(numbered(i));
    inputs.push_back(std::move(condition_));
    // What the body replaces must not be kept alive while it runs.
    for (Value& value : carried_) inputs.push_back(std::move(value));
    TN_ASSIGN_OR_RETURN(auto results, c_.services().run_body(0, std::move(inputs)));
    if (results.size() < 1 + carried_.size() + scans_.size())
      return invalid_argument("the body returns {} values, but {} are needed", results.size(),
                              1 + carried_.size() + scans_.size());
    condition_ = std::move(results[0]);
    TN_ASSIGN_OR_RETURN(go_on_, truth_of(condition_));
    for (size_t k = 0; k < carried_.size(); ++k) carried_[k] = std::move(results[1 + k]);
    for (size_t k = 0; k < scans_.size(); ++k)
      if (c_.wants(carried_.size() + k)) TN_RETURN_IF_ERROR(scans_[k].add(std::move(results[1 + carried_.size() + k])));
    return {};
  }

  // The number of an iteration, where the last one was unless somebody kept it.
  const Tensor& numbered(int64_t i) {
    if (number_.owner().use_count() == 1)
      number_.as_mutable<int64_t>()[0] = i;
    else
      number_ = Tensor::scalar(i);
    return number_;
  }

  Status write_outputs() {
    for (size_t k = 0; k < carried_.size() && k < c_.output_count(); ++k) c_.set(k, std::move(carried_[k]));
    for (size_t k = 0; k < scans_.size(); ++k) {
      const size_t output = carried_.size() + k;
      if (!c_.wants(output)) continue;
      const Type expected = c_.services().body_output_type(0, output + 1);
      TN_ASSIGN_OR_RETURN(Tensor stacked, scans_[k].finish(scans_[k].size(), 0, expected, c_.budget()));
      c_.set(output, std::move(stacked));
    }
    return {};
  }

  KernelContext& c_;
  int64_t trips_ = std::numeric_limits<int64_t>::max();
  bool go_on_ = true;
  Value condition_;
  Tensor number_;
  std::vector<Value> carried_;
  std::vector<Stack> scans_;
};

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Loop>() {
  return [](KernelContext& c) -> Status { return LoopRun(c).run(); };
}

}  // namespace tenon
