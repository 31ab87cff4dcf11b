#include "ops/einsum.h"

#include "base/checked_math.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/product.h"

namespace tenon {

namespace {

// The loops of an equation: one per label, those of the output first.
struct Loops {
  std::vector<int64_t> extents;
  std::vector<std::vector<int64_t>> strides;  // per operand and loop
  size_t output_rank = 0;
  int64_t output_count = 0, summed_count = 0;
};

Result<Loops> make_loops(KernelContext& c, const EinsumLabels& labels) {
  std::vector<size_t> order = labels.output;
  for (size_t label = 0; label < labels.label_count; ++label)
    if (std::ranges::find(labels.output, label) == labels.output.end()) order.push_back(label);
  Loops loops;
  loops.output_rank = labels.output.size();
  loops.extents.assign(order.size(), 1);
  for (size_t operand = 0; operand < labels.operands.size(); ++operand) {
    const Dims dims = c.in(operand).dims;
    const auto own = row_major_strides(dims);
    std::vector<int64_t> strides(order.size(), 0);
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const size_t loop = static_cast<size_t>(std::ranges::find(order, labels.operands[operand][axis]) - order.begin());
      if (dims[axis] == 1) continue;
      loops.extents[loop] = dims[axis];
      strides[loop] += own[axis];
    }
    loops.strides.push_back(std::move(strides));
  }
  if (!checked_product(loops.extents)) return error(Code::ResourceLimit, "the equation sums too many products");
  const Dims extents(loops.extents);
  loops.output_count = checked_product(extents.first(loops.output_rank)).value_or(0);
  loops.summed_count = checked_product(extents.subspan(loops.output_rank)).value_or(0);
  return loops;
}

// Counts through a range of loops while it keeps the offset of every operand.
void advance(const Loops& loops, size_t first, size_t last, std::vector<int64_t>& index,
             std::vector<int64_t>& offsets) {
  for (size_t i = last; i-- > first;) {
    const bool wraps = ++index[i] == loops.extents[i];
    const int64_t steps = wraps ? 1 - loops.extents[i] : 1;
    for (size_t operand = 0; operand < offsets.size(); ++operand) offsets[operand] += steps * loops.strides[operand][i];
    if (!wraps) return;
    index[i] = 0;
  }
}

template <class T>
Status contract(KernelContext& c, const Loops& loops) {
  const size_t operands = loops.strides.size();
  std::vector<const T*> data;
  for (size_t i = 0; i < operands; ++i) data.push_back(c.in(i).as<T>().data());
  std::vector<int64_t> index(loops.extents.size(), 0), offsets(operands, 0);
  T* out = c.out(0).as<T>().data();
  WorkMeter meter;
  for (int64_t o = 0; o < loops.output_count; ++o) {
    Sum<T> sum(0);
    for (int64_t s = 0; s < loops.summed_count; ++s) {
      meter.spend();
      Sum<T> product(1);
      for (size_t i = 0; i < operands; ++i) product *= to_sum(data[i][offsets[i]]);
      sum += product;
      advance(loops, loops.output_rank, loops.extents.size(), index, offsets);
    }
    out[o] = from_sum<T>(sum);
    advance(loops, 0, loops.output_rank, index, offsets);
  }
  return {};
}

Status run_einsum(KernelContext& c) {
  std::vector<size_t> ranks;
  for (size_t i = 0; i < c.input_count(); ++i) ranks.push_back(c.in(i).dims.size());
  TN_ASSIGN_OR_RETURN(auto labels, parse_einsum(c.params<EinsumParams>().equation, ranks));
  TN_ASSIGN_OR_RETURN(const Loops loops, make_loops(c, labels));
  return dispatch_numbers(c.out(0).dtype, [&](auto tag) { return contract<typename decltype(tag)::type>(c, loops); });
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Einsum>() {
  return run_einsum;
}

}  // namespace tenon
