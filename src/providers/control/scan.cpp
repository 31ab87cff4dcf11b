#include "ops/loop.h"

#include "base/checked_math.h"
#include "providers/control/slices.h"
#include "providers/reference/kernel.h"

namespace tenon {

namespace {

bool is_backward(const std::vector<int64_t>& directions, size_t i) {
  return i < directions.size() && directions[i] == 1;
}

// What both kinds of Scan do with their body.
class ScanRun {
 public:
  ScanRun(KernelContext& c, size_t first_input, int64_t scanned) : c_(c), first_input_(first_input) {
    const size_t inputs = c.input_count() - std::min(first_input, c.input_count());
    valid_ = scanned >= 1 && static_cast<size_t>(scanned) <= inputs && c.services().body_input_count(0) == inputs;
    if (!valid_) return;
    carried_count_ = inputs - static_cast<size_t>(scanned);
    scans_.resize(c.output_count() > carried_count_ ? c.output_count() - carried_count_ : 0);
  }

  Status check() const {
    if (!valid_)
      return invalid_argument("the inputs do not match the {} inputs of the body", c_.services().body_input_count(0));
    for (size_t i = first_input_; i < c_.input_count(); ++i)
      if (!c_.has(i) || c_.boxed(i)) return invalid_argument("input {} must be a tensor", i);
    return {};
  }
  size_t carried_count() const { return carried_count_; }

  // Sources of the scanned inputs, which must all be equally long.
  Result<std::vector<SliceSource>> sources(const std::vector<int64_t>& axes) {
    std::vector<SliceSource> result;
    for (size_t i = first_input_ + carried_count_; i < c_.input_count(); ++i) {
      const int64_t given = result.size() < axes.size() ? axes[result.size()] : 0, rank = c_.in(i).rank();
      if (given < -rank || given >= rank)
        return invalid_argument("axis {} is out of range for input {} of rank {}", given, i, rank);
      TN_ASSIGN_OR_RETURN(auto source, SliceSource::make(c_.in(i), given < 0 ? given + rank : given, c_.budget()));
      if (!result.empty() && source.count() != result.front().count())
        return invalid_argument("the scanned inputs have {} and {} steps; the numbers must be equal",
                                result.front().count(), source.count());
      result.push_back(std::move(source));
    }
    return result;
  }

  // One run of the body: replaces the carried values, returns what is to be stacked.
  Result<std::vector<Value>> step(std::vector<Value>& carried, std::vector<Value> slices) {
    TN_RETURN_IF_ERROR(c_.services().check_cancelled());
    std::vector<Value> inputs = std::move(carried);
    inputs.reserve(inputs.size() + slices.size());
    inputs.insert(inputs.end(), std::make_move_iterator(slices.begin()), std::make_move_iterator(slices.end()));
    TN_ASSIGN_OR_RETURN(auto results, c_.services().run_body(0, std::move(inputs)));
    if (results.size() < carried_count_ + scans_.size())
      return invalid_argument("the body returns {} values, but {} are needed", results.size(),
                              carried_count_ + scans_.size());
    const auto middle = results.begin() + static_cast<std::ptrdiff_t>(carried_count_);
    carried.assign(std::make_move_iterator(results.begin()), std::make_move_iterator(middle));
    return std::vector<Value>(std::make_move_iterator(middle), std::make_move_iterator(results.end()));
  }

  Status keep(Value result, size_t k, int64_t place) {
    return c_.wants(carried_count_ + k) ? scans_[k].add_at(place, std::move(result)) : Status();
  }

  // Tensors without elements can have any number of steps.
  Status check_steps(int64_t batch, int64_t steps) const {
    const auto total = checked_mul(std::max<int64_t>(batch, 1), std::max<int64_t>(steps, 1));
    if (!total) return error(Code::ResourceLimit, "{} x {} steps are too many", batch, steps);
    return c_.services().count_iterations(*total);
  }

  std::vector<Stack>& scans() { return scans_; }
  Type expected(size_t k) { return c_.services().body_output_type(0, carried_count_ + k); }

 private:
  KernelContext& c_;
  size_t first_input_, carried_count_ = 0;
  bool valid_ = false;
  std::vector<Stack> scans_;
};

Status run_scan(KernelContext& c) {
  const auto& p = c.params<ScanParams>();
  ScanRun run(c, 0, p.num_scan_inputs);
  TN_RETURN_IF_ERROR(run.check());
  std::vector<Value> carried;
  for (size_t i = 0; i < run.carried_count(); ++i) {
    TN_ASSIGN_OR_RETURN(Value value, c.take(i));
    carried.push_back(std::move(value));
  }
  TN_ASSIGN_OR_RETURN(auto sources, run.sources(p.scan_input_axes));
  const int64_t length = sources.front().count();
  TN_RETURN_IF_ERROR(run.check_steps(1, length));
  for (int64_t t = 0; t < length; ++t) {
    std::vector<Value> slices;
    for (size_t i = 0; i < sources.size(); ++i) {
      TN_ASSIGN_OR_RETURN(Tensor slice, sources[i].slice(is_backward(p.scan_input_directions, i) ? length - 1 - t : t));
      slices.emplace_back(std::move(slice));
    }
    TN_ASSIGN_OR_RETURN(auto results, run.step(carried, std::move(slices)));
    for (size_t k = 0; k < run.scans().size(); ++k)
      TN_RETURN_IF_ERROR(
          run.keep(std::move(results[k]), k, is_backward(p.scan_output_directions, k) ? length - 1 - t : t));
  }
  for (size_t i = 0; i < carried.size(); ++i) c.set(i, std::move(carried[i]));
  for (size_t k = 0; k < run.scans().size(); ++k) {
    if (!c.wants(run.carried_count() + k)) continue;
    const int64_t axis = k < p.scan_output_axes.size() ? p.scan_output_axes[k] : 0;
    TN_ASSIGN_OR_RETURN(Tensor stacked, run.scans()[k].finish(length, axis, run.expected(k), c.budget()));
    c.set(run.carried_count() + k, std::move(stacked));
  }
  return {};
}

// The lengths of a batch of sequences: given ones within the extent, or the whole extent for all.
Result<std::vector<int64_t>> sequence_lengths(KernelContext& c, int64_t batch, int64_t extent) {
  std::vector<int64_t> lengths(static_cast<size_t>(batch), extent);
  if (!c.has(0)) return lengths;
  if (c.boxed(0) || c.in(0).dtype != DType::Int64 || c.in(0).size() != batch)
    return invalid_argument("sequence_lens must be {} integers of type int64", batch);
  for (size_t b = 0; b < lengths.size(); ++b) {
    lengths[b] = c.in(0).as<int64_t>()[b];
    if (lengths[b] < 0 || lengths[b] > extent)
      return invalid_argument("the length {} of sequence {} is outside 0..{}", lengths[b], b, extent);
  }
  return lengths;
}

class BatchScanRun {
 public:
  explicit BatchScanRun(KernelContext& c) : c_(c), p_(c.params<BatchScanParams>()), run_(c, 1, p_.num_scan_inputs) {}

  Status run() {
    TN_RETURN_IF_ERROR(run_.check());
    TN_RETURN_IF_ERROR(open_batches());
    for (int64_t b = 0; b < batch_; ++b) TN_RETURN_IF_ERROR(run_sequence(b));
    return write_outputs();
  }

 private:
  // Every input is cut along its batch axis first.
  Status open_batches() {
    for (size_t i = 1; i < c_.input_count(); ++i) {
      const bool is_scanned = i > run_.carried_count();
      if (c_.in(i).rank() < (is_scanned ? 2 : 1))
        return invalid_argument("input {} must have a batch{} axis", i, is_scanned ? " and a sequence" : "");
      TN_ASSIGN_OR_RETURN(auto source, SliceSource::make(c_.in(i), 0, c_.budget()));
      if (!batches_.empty() && source.count() != batches_.front().count())
        return invalid_argument("the inputs have batches of {} and {}; the extents must be equal",
                                batches_.front().count(), source.count());
      if (is_scanned && steps_ >= 0 && source.dims()[1] != steps_)
        return invalid_argument("the scanned inputs have {} and {} steps; the numbers must be equal", steps_,
                                source.dims()[1]);
      if (is_scanned) steps_ = source.dims()[1];
      batches_.push_back(std::move(source));
    }
    batch_ = batches_.front().count();
    TN_RETURN_IF_ERROR(run_.check_steps(batch_, steps_));
    TN_ASSIGN_OR_RETURN(lengths_, sequence_lengths(c_, batch_, steps_));
    finals_.resize(run_.carried_count());
    return {};
  }

  Status run_sequence(int64_t b) {
    std::vector<Value> carried;
    std::vector<Tensor> rows;
    for (size_t i = 0; i < batches_.size(); ++i) {
      TN_ASSIGN_OR_RETURN(Tensor row, batches_[i].slice(b));
      if (i < run_.carried_count())
        carried.emplace_back(std::move(row));
      else
        rows.push_back(std::move(row));
    }
    std::vector<SliceSource> sources;
    for (const Tensor& row : rows) {
      TN_ASSIGN_OR_RETURN(auto source, SliceSource::make(row.view(), 0, c_.budget()));
      sources.push_back(std::move(source));
    }
    const int64_t length = lengths_[static_cast<size_t>(b)];
    for (int64_t t = 0; t < length; ++t) {
      std::vector<Value> slices;
      for (size_t i = 0; i < sources.size(); ++i) {
        TN_ASSIGN_OR_RETURN(Tensor slice, sources[i].slice(is_backward(p_.directions, i) ? length - 1 - t : t));
        slices.emplace_back(std::move(slice));
      }
      TN_ASSIGN_OR_RETURN(auto results, run_.step(carried, std::move(slices)));
      for (size_t k = 0; k < run_.scans().size(); ++k)
        TN_RETURN_IF_ERROR(run_.keep(std::move(results[k]), k, b * steps_ + t));
    }
    for (size_t i = 0; i < carried.size(); ++i) TN_RETURN_IF_ERROR(finals_[i].add(std::move(carried[i])));
    return {};
  }

  Status write_outputs() {
    for (size_t i = 0; i < finals_.size() && i < c_.output_count(); ++i) {
      TN_ASSIGN_OR_RETURN(Tensor all, finals_[i].finish(batch_, 0, c_.services().body_output_type(0, i), c_.budget()));
      c_.set(i, std::move(all));
    }
    for (size_t k = 0; k < run_.scans().size(); ++k) {
      if (!c_.wants(run_.carried_count() + k)) continue;
      TN_ASSIGN_OR_RETURN(Tensor flat, run_.scans()[k].finish(batch_ * steps_, 0, run_.expected(k), c_.budget()));
      std::vector<int64_t> dims = flat.dims();
      dims[0] = steps_;
      dims.insert(dims.begin(), batch_);
      c_.set(run_.carried_count() + k, flat.reshaped(std::move(dims)));
    }
    return {};
  }

  KernelContext& c_;
  const BatchScanParams& p_;
  ScanRun run_;
  std::vector<SliceSource> batches_;
  std::vector<int64_t> lengths_;
  std::vector<Stack> finals_;
  int64_t batch_ = 0, steps_ = -1;
};

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Scan>() {
  return run_scan;
}

template <>
KernelFunction reference_kernel<OpId::BatchScan>() {
  return [](KernelContext& c) -> Status { return BatchScanRun(c).run(); };
}

}  // namespace tenon
