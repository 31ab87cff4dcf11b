#include "ops/pooling.h"

#include <cmath>
#include <limits>

#include "base/checked_math.h"
#include "base/exact_math.h"
#include "providers/reference/doubles.h"
#include "providers/reference/indexing.h"
#include "providers/reference/kernel.h"
#include "providers/reference/taps.h"
#include "providers/reference/work_meter.h"
#include "tensor/value.h"

namespace tenon {

namespace {

// A pooling of x [N, C, spatial...] into y, one channel ("plane") at a time.
struct Pool {
  Window window;
  Dims input, output;  // spatial extents
  int64_t planes = 0, input_plane = 0, output_plane = 0;
  Doubles x, y;

  static Result<Pool> of(KernelContext& c, const WindowParams& params, double initial) {
    Pool p;
    const TensorView &x = c.in(0), &y = c.out(0);
    p.input = x.dims.subspan(2);
    p.output = y.dims.subspan(2);
    p.planes = checked_product(x.dims.first(2)).value_or(0);
    p.input_plane = checked_product(p.input).value_or(0);
    p.output_plane = checked_product(p.output).value_or(0);
    TN_ASSIGN_OR_RETURN(Window window, make_window(params, p.input.size()));
    p.window = window.padded_for(p.input);
    TN_ASSIGN_OR_RETURN(p.x, read_doubles(c, 0));
    TN_ASSIGN_OR_RETURN(p.y, Doubles::filled(y.size(), initial, c.budget()));
    return p;
  }

  // Calls f(output element, input element) for every element in every window.
  template <class F>
  Status for_each_pair(const F& f) const {
    if (planes == 0) return {};  // extents may be anything then
    const int64_t step = window.axes.back().stride;
    WorkMeter meter;
    return for_each_tap(window, output, input, [&](int64_t, std::span<const TapRow> rows) -> Status {
      for (int64_t plane = 0; plane < planes; ++plane) {
        for (const TapRow& row : rows) {
          meter.spend(row.length);
          for (int64_t j = 0; j < row.length; ++j)
            f(plane * output_plane + row.dense + j, plane * input_plane + row.strided + j * step);
        }
      }
      return {};
    });
  }
};

Status run_average_pool(KernelContext& c) {
  const auto& params = c.params<AveragePoolParams>();
  TN_ASSIGN_OR_RETURN(Pool pool, Pool::of(c, params.window, 0.0));
  TN_RETURN_IF_ERROR(pool.for_each_pair([&](int64_t to, int64_t from) { pool.y[to] += pool.x[from]; }));
  for (Walker<0> w(pool.output, {}); pool.planes > 0 && w.more(); w.next()) {
    double count = 1.0;
    for (size_t i = 0; i < pool.input.size(); ++i) {
      const WindowAxis& a = pool.window.axes[i];
      const auto [first, last] = a.taps_inside(w.index()[i], pool.input[i]);
      count *=
          static_cast<double>(params.count_include_pad ? a.taps_in_padded(w.index()[i], pool.input[i]) : last - first);
    }
    if (count == 0.0) continue;  // a window that lies in the padding averages to 0
    for_each_index(pool.planes, [&](int64_t plane) { pool.y[plane * pool.output_plane + w.position()] /= count; });
  }
  pool.y.store(c.out(0));
  return {};
}

Status run_lp_pool(KernelContext& c) {
  const auto& params = c.params<LpPoolParams>();
  const double p = static_cast<double>(params.p);
  TN_ASSIGN_OR_RETURN(Pool pool, Pool::of(c, params.window, 0.0));
  TN_RETURN_IF_ERROR(
      pool.for_each_pair([&](int64_t to, int64_t from) { pool.y[to] += exact::pow(std::abs(pool.x[from]), p); }));
  for_each_index(c.out(0).size(), [&](int64_t i) { pool.y[i] = exact::pow(pool.y[i], 1.0 / p); });
  pool.y.store(c.out(0));
  return {};
}

// The flat number of a spatial element with the first axis fastest.
int64_t column_major(int64_t row_major, Dims dims) {
  int64_t result = 0;
  std::vector<int64_t> index(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    index[i] = row_major % dims[i];
    row_major /= dims[i];
  }
  for (size_t i = dims.size(); i-- > 0;) result = result * dims[i] + index[i];
  return result;
}

Status run_max_pool(KernelContext& c) {
  const auto& params = c.params<MaxPoolParams>();
  TN_ASSIGN_OR_RETURN(Pool pool, Pool::of(c, params.window, -std::numeric_limits<double>::infinity()));
  TN_ASSIGN_OR_RETURN(Tensor where, Tensor::allocate(DType::Int64, {c.out(0).size()}, c.budget()));
  auto best = where.as_mutable<int64_t>();
  std::ranges::fill(best, -1);
  const auto keep_largest = [&](int64_t to, int64_t from) {
    const double x = pool.x[from], y = pool.y[to];
    int64_t& index = best[static_cast<size_t>(to)];
    // The first of equals wins, and NaN wins over everything.
    if (index >= 0 && !(x > y) && !(std::isnan(x) && !std::isnan(y))) return;
    pool.y[to] = x;
    index = from;
  };
  TN_RETURN_IF_ERROR(pool.for_each_pair(keep_largest));
  pool.y.store(c.out(0));
  if (!c.wants(1)) return {};
  auto indices = c.out(1).as<int64_t>();
  for_each_index(c.out(1).size(), [&](int64_t element) {
    const auto i = static_cast<size_t>(element);
    const int64_t index = best[i];
    indices[i] = params.storage_order == 0 || index < 0
                     ? index
                     : index - index % pool.input_plane + column_major(index % pool.input_plane, pool.input);
  });
  return {};
}

// Reduces each plane to one element.
template <class Step, class Finish>
Status run_global_pool(KernelContext& c, double initial, const Step& step, const Finish& finish) {
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(c.out(0).size(), initial, c.budget()));
  const int64_t plane = checked_product(c.in(0).dims.subspan(2)).value_or(0);
  for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i) {
    for_each_index(plane, [&](int64_t j) { y[i] = step(y[i], x[i * plane + j]); });
    y[i] = finish(y[i], static_cast<double>(plane));
  }
  y.store(c.out(0));
  return {};
}

Status run_max_unpool(KernelContext& c) {
  const auto& p = c.params<MaxUnpoolParams>();
  TN_ASSIGN_OR_RETURN(Shape inner_shape, unpooled_shape(p, to_shape(c.in(0).dims)));
  std::vector<int64_t> inner;
  for (const Dim& d : inner_shape) inner.push_back(d.value());
  TN_ASSIGN_OR_RETURN(Doubles x, read_doubles(c, 0));
  TN_ASSIGN_OR_RETURN(Doubles y, Doubles::filled(c.out(0).size(), 0.0, c.budget()));
  const auto indices = c.in(1).as<int64_t>();
  const auto strides = row_major_strides(c.out(0).dims);
  // Indices count in the tensor the attributes imply; a larger output keeps it in its first corner.
  const int64_t count = element_count(inner_shape).value();
  WorkMeter meter;
  for (size_t i = 0; i < indices.size(); ++i) {
    meter.spend();
    int64_t index = indices[i], offset = 0;
    if (index < 0 || index >= count)
      return invalid_argument("index {} at position {} is outside the {} elements of {}", index, i, count,
                              shape_text(inner_shape));
    for (size_t axis = inner.size(); axis-- > 0; index /= inner[axis]) offset += index % inner[axis] * strides[axis];
    y[offset] = x[static_cast<int64_t>(i)];
  }
  y.store(c.out(0));
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::AveragePool>() {
  return run_average_pool;
}
template <>
KernelFunction reference_kernel<OpId::MaxPool>() {
  return run_max_pool;
}
template <>
KernelFunction reference_kernel<OpId::LpPool>() {
  return run_lp_pool;
}
template <>
KernelFunction reference_kernel<OpId::MaxUnpool>() {
  return run_max_unpool;
}
template <>
KernelFunction reference_kernel<OpId::GlobalAveragePool>() {
  return [](KernelContext& c) -> Status {
    return run_global_pool(c, 0.0, [](double sum, double x) { return sum + x; }, std::divides<>());
  };
}
template <>
KernelFunction reference_kernel<OpId::GlobalMaxPool>() {
  return [](KernelContext& c) -> Status {
    return run_global_pool(
        c, -std::numeric_limits<double>::infinity(),
        [](double best, double x) { return x > best || std::isnan(x) ? x : best; },
        [](double best, double) { return best; });
  };
}
template <>
KernelFunction reference_kernel<OpId::GlobalLpPool>() {
  return [](KernelContext& c) -> Status {
    const double p = static_cast<double>(c.params<GlobalLpPoolParams>().p);
    return run_global_pool(
        c, 0.0, [p](double sum, double x) { return sum + exact::pow(std::abs(x), p); },
        [p](double sum, double) { return exact::pow(sum, 1.0 / p); });
  };
}

}  // namespace tenon
