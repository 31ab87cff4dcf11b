// Where the largest or smallest elements along an axis are: columns side by side, or a row at a time.
#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "ops/reduction.h"
#include "providers/cpu/extremes.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/rows.h"

namespace tenon {

namespace {

constexpr int64_t kSearchedElements = 1 << 14;  // of a chunk, at least
constexpr int64_t kSearchedColumns = 64;

struct SearchState {
  int64_t outer = 1, extent = 1, inner = 1;
  bool last = false;
  const RowFunctions* rows = nullptr;
  ColumnExtremesFunction columns = nullptr;

  int64_t rows_per_chunk() const { return std::max<int64_t>(1, kSearchedElements / extent); }
  int64_t groups() const { return ceil_div(inner, kSearchedColumns); }
  int64_t chunks() const { return inner == 1 ? ceil_div(outer, rows_per_chunk()) : outer * groups(); }
};

Result<KernelState> bind_search(const BindRequest& request) {
  const auto& p = request.params.get<ArgReductionParams>();
  const Dims dims = request.inputs[0].dims;
  if (request.inputs[0].dtype != DType::Float32) return error(Code::Unsupported, "its elements are not float32");
  if (count_of(dims) == 0 || dims.empty()) return error(Code::Unsupported, "it has no elements or no axes");
  auto state = std::make_shared<SearchState>();
  const auto rank = static_cast<int64_t>(dims.size()), axis = p.axis < 0 ? p.axis + rank : p.axis;
  for (int64_t i = 0; i < rank; ++i)
    (i < axis ? state->outer : i == axis ? state->extent : state->inner) *= dims[static_cast<size_t>(i)];
  if (state->extent > INT32_MAX)
    return error(Code::Unsupported, "its axis has {} elements; this kernel takes at most {}", state->extent, INT32_MAX);
  state->last = p.select_last_index;
  state->rows = &row_functions(request.isa);
  state->columns = column_extremes_function(request.isa);
  const int64_t chunks = state->chunks();
  return KernelState{std::move(state), 0, chunks};
}

// Where a row has its extreme: the reduction tells what to look for.
template <bool kLargest>
int64_t find_in_row(const SearchState& s, const float* x) {
  const float wanted = s.rows->reduce(kLargest ? Accumulation::Largest : Accumulation::Smallest, x, s.extent);
  const auto is_wanted = [wanted](float v) { return v == wanted || (std::isnan(v) && std::isnan(wanted)); };
  if (!s.last) return std::find_if(x, x + s.extent, is_wanted) - x;
  int64_t at = s.extent - 1;
  while (at > 0 && !is_wanted(x[at])) --at;
  return at;
}

template <bool kLargest>
Status run_search(KernelContext& c) {
  const auto& s = c.state<SearchState>();
  const float* x = c.in(0).as<float>().data();
  int64_t* y = c.out(0).as<int64_t>().data();
  if (s.inner == 1) {
    c.parallel_for(s.chunks(), [&](int64_t chunk) {
      const int64_t end = std::min(s.outer, (chunk + 1) * s.rows_per_chunk());
      for (int64_t i = chunk * s.rows_per_chunk(); i < end; ++i) y[i] = find_in_row<kLargest>(s, x + i * s.extent);
    });
    return {};
  }
  c.parallel_for(s.chunks(), [&](int64_t chunk) {
    const int64_t outer = chunk / s.groups(), first = chunk % s.groups() * kSearchedColumns;
    s.columns({.from = x + outer * s.extent * s.inner + first,
               .extent = s.extent,
               .stride = s.inner,
               .count = std::min(kSearchedColumns, s.inner - first),
               .largest = kLargest,
               .last = s.last,
               .to = y + outer * s.inner + first});
  });
  return {};
}

}  // namespace

std::span<const Variant> arg_max_variants() {
  static const auto variants = with_reference(OpId::ArgMax, {{"lines", run_search<true>, bind_search}});
  return variants;
}

std::span<const Variant> arg_min_variants() {
  static const auto variants = with_reference(OpId::ArgMin, {{"lines", run_search<false>, bind_search}});
  return variants;
}

}  // namespace tenon
