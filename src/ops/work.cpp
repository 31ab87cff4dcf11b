#include "ops/work.h"

#include <algorithm>
#include <numeric>

#include "ops/packed.h"
#include "ops/pointwise.h"

namespace tenon {

namespace {

// A step as its work is counted.
struct WorkRequest {
  OpId op;
  const Params& params;
  std::span<const TensorView> inputs, outputs;

  double input_size(size_t i) const {
    return i < inputs.size() && inputs[i].dtype != DType::Undefined ? static_cast<double>(inputs[i].size()) : 0;
  }
  double output_size() const {
    return std::accumulate(outputs.begin(), outputs.end(), 0.0, [](double sum, const TensorView& t) {
      return t.dtype == DType::Undefined ? sum : sum + static_cast<double>(t.size());
    });
  }
  // Counted from the last one.
  double input_extent(size_t i, size_t from_end) const {
    if (i >= inputs.size() || inputs[i].dims.size() < from_end) return 0;
    return static_cast<double>(inputs[i].dims[inputs[i].dims.size() - from_end]);
  }
};

double packed_product_flops(const WorkRequest& r) {
  return 2 * r.output_size() * static_cast<double>(r.params.get<PackedMatMulParams>().k);
}

double packed_conv_flops(const WorkRequest& r) {
  const auto& p = r.params.get<PackedConvParams>();
  if (r.inputs[0].dims.size() < 2) return -1;
  double terms = static_cast<double>(r.inputs[0].dims[1]) / static_cast<double>(std::max<int64_t>(p.conv.group, 1));
  for (const int64_t extent : p.conv.window.kernel_shape) terms *= static_cast<double>(extent);
  return 2 * r.output_size() * terms;
}

double pointwise_flops(const WorkRequest& r) {
  const auto& code = r.params.get<PointwiseParams>().code;
  const size_t instructions = code.size() / PointwiseInstruction::kWords;
  return r.outputs.empty() ? 0 : static_cast<double>(r.outputs[0].size()) * static_cast<double>(instructions);
}

// Products with the weights W and R at each position of each sequence.
double recurrent_flops(const WorkRequest& r) {
  const double positions = r.input_extent(0, 1) > 0 ? r.input_size(0) / r.input_extent(0, 1) : 0;
  return 2 * positions * (r.input_size(1) + r.input_size(2));
}

// Every query with every key, and every weight with a value. The cache, where it leaves the step, has all of them.
double attention_flops(const WorkRequest& r) {
  double keys = r.input_extent(1, 2);
  if (r.outputs.size() > 1 && r.outputs[1].dims.size() >= 2)
    keys = static_cast<double>(r.outputs[1].dims[r.outputs[1].dims.size() - 2]);
  return 2 * keys * (r.input_size(0) + static_cast<double>(r.outputs[0].size()));
}

// The same number of terms behind each element, as the op's rounding has it.
double product_flops(const WorkRequest& r, const Rounding& rounding) {
  std::vector<Type> types;
  for (const TensorView& t : r.inputs) {
    Shape shape;
    for (const int64_t extent : t.dims) shape.emplace_back(extent);
    types.push_back(Type::tensor(t.dtype, std::move(shape)));
  }
  std::vector<const Type*> known;
  for (const Type& type : types) known.push_back(type.dtype == DType::Undefined ? nullptr : &type);
  return 2 * r.output_size() * rounding.count_terms(known);
}

// One for each element that goes in or comes out, and for each result on the way.
double elementwise_flops(const WorkRequest& r, const Rounding& rounding) {
  return std::max(r.input_size(0), r.output_size()) * rounding.results;
}

double flops_of(const WorkRequest& r) {
  switch (r.op) {
    case OpId::PackedMatMul:
      return packed_product_flops(r);
    case OpId::PackedConv:
      return packed_conv_flops(r);
    case OpId::Pointwise:
      return pointwise_flops(r);
    case OpId::LSTM:
    case OpId::GRU:
    case OpId::RNN:
      return recurrent_flops(r);
    case OpId::Attention:
      return attention_flops(r);
    default:
      break;
  }
  const OpDef& op = op_def(r.op);
  const Rounding& rounding = op.rounding;
  if (op.in_place == InPlace::SameElements) return 0;
  if (rounding.count_terms == count_input_elements) return elementwise_flops(r, rounding);
  if (rounding.count_terms) return product_flops(r, rounding);
  return rounding.terms == kManyTerms ? -1 : elementwise_flops(r, rounding);
}

// Ops that read only the part of the first input that they give out.
bool reads_a_part(OpId op) {
  constexpr OpId kOps[] = {OpId::Gather, OpId::GatherElements, OpId::GatherND, OpId::Shape, OpId::Size, OpId::Slice};
  return std::ranges::find(kOps, op) != std::end(kOps);
}

double bytes_of(const WorkRequest& r) {
  if (op_def(r.op).in_place == InPlace::SameElements) return 0;
  double written = 0, read = 0;
  for (const TensorView& t : r.outputs)
    if (t.dtype != DType::Undefined) written += static_cast<double>(t.bytes());
  for (size_t i = 0; i < r.inputs.size(); ++i) {
    if (r.inputs[i].dtype == DType::Undefined) continue;
    const auto bytes = static_cast<double>(r.inputs[i].bytes());
    read += i == 0 && reads_a_part(r.op) ? std::min(bytes, written) : bytes;
  }
  return read + written;
}

}  // namespace

Work work_of(OpId op, const Params& params, std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  const WorkRequest request{op, params, inputs, outputs};
  return {flops_of(request), bytes_of(request)};
}

}  // namespace tenon
