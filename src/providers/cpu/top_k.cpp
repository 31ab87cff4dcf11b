// The largest or smallest elements of each line. Elements become integers in the wanted order, with their places in the
// low bits, so that equal ones come in the order of their places; most are left out by one comparison.
#include <bit>
#include <functional>

#include "ops/reduction.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/moved_elements.h"
#include "providers/cpu/ranks.h"
#include "providers/cpu/rows.h"
#include "providers/reference/element_access.h"
#include "providers/reference/elements.h"
#include "providers/reference/indexing.h"
#include "providers/scratch.h"

namespace tenon {

namespace {

constexpr int64_t kTopElements = 1 << 14;  // of a chunk, at least
constexpr int64_t kLeastCandidates = 64;

// Greater is better, and NaN best.
struct DoubleRank {
  using Type = int64_t;
  static int64_t of(double x, bool largest) {
    auto bits = std::bit_cast<uint64_t>(x);
    if (bits << 1 == 0) bits = 0;
    const auto order = static_cast<int64_t>(bits ^ (static_cast<uint64_t>(static_cast<int64_t>(bits) >> 63) >> 1));
    if ((bits & ~(uint64_t{1} << 63)) > uint64_t{0x7ff} << 52) return std::numeric_limits<int64_t>::max();
    return largest ? order : ~order;
  }
};
template <class T>
struct IntegerRank {
  using Type = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  static Type of(T x, bool largest) {
    auto order = static_cast<Type>(x);
    // Unsigned numbers that fill the type begin at its lowest.
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(Type))
      order = static_cast<Type>(x ^ T{T{1} << (8 * sizeof(T) - 1)});
    return largest ? order : ~order;
  }
};
struct NarrowFloatRank {
  using Type = int32_t;
  template <class T>
  static int32_t of(T x, bool largest) {
    return float_rank(static_cast<float>(x), largest);
  }
};

template <class T>
auto rank_of(T x, bool largest) {
  if constexpr (std::is_same_v<T, float>)
    return float_rank(x, largest);
  else if constexpr (std::is_same_v<T, double>)
    return DoubleRank::of(x, largest);
  else if constexpr (std::is_integral_v<T>)
    return IntegerRank<T>::of(x, largest);
  else
    return NarrowFloatRank::of(x, largest);
}

// A rank and a place, greater where the rank is and, of equal ranks, where the place is less.
struct SmallCandidate {
  int64_t both;
  SmallCandidate() = default;
  SmallCandidate(int32_t rank, int64_t place)
      : both(static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(rank)) << 32 |
                                  (0xffffffff - static_cast<uint64_t>(place)))) {}
  int32_t rank() const { return static_cast<int32_t>(both >> 32); }
  int64_t place() const { return static_cast<int64_t>(0xffffffff - (static_cast<uint64_t>(both) & 0xffffffff)); }
  bool operator>(const SmallCandidate& other) const { return both > other.both; }
};
struct LargeCandidate {
  int64_t rank_, place_;
  LargeCandidate() = default;
  LargeCandidate(int64_t rank, int64_t place) : rank_(rank), place_(place) {}
  int64_t rank() const { return rank_; }
  int64_t place() const { return place_; }
  bool operator>(const LargeCandidate& other) const {
    return rank_ != other.rank_ ? rank_ > other.rank_ : place_ < other.place_;
  }
};
template <class Rank>
using Candidate = std::conditional_t<sizeof(Rank) == 4, SmallCandidate, LargeCandidate>;

// Keeps the best of those it is shown, which come in the order of their places.
template <class C>
class Best {
 public:
  explicit Best(int64_t count) : count_(count), most_(count + std::max(count, kLeastCandidates)) {
    kept_.reserve(static_cast<size_t>(most_));
  }
  void clear() {
    kept_.clear();
    is_full_ = false;
  }
  // Whether a candidate of this rank is among the best so far; equal ones that come later are not.
  template <class Rank>
  bool wants(Rank rank) const {
    return !is_full_ || rank > least_.rank();
  }
  void add(const C& candidate) {
    kept_.push_back(candidate);
    if (static_cast<int64_t>(kept_.size()) == most_) leave_out();
  }
  // Best first.
  std::span<const C> sorted() {
    leave_out();
    std::sort(kept_.begin(), kept_.end(), std::greater<C>());
    return kept_;
  }

 private:
  void leave_out() {
    if (static_cast<int64_t>(kept_.size()) <= count_) return;
    poll_cancelled();
    const auto last = kept_.begin() + (count_ - 1);
    std::nth_element(kept_.begin(), last, kept_.end(), std::greater<C>());
    kept_.resize(static_cast<size_t>(count_));
    least_ = kept_.back();
    is_full_ = true;
  }

  int64_t count_, most_;
  Scratch<C> kept_;
  C least_{};
  bool is_full_ = false;
};

// Ranks of some elements, and the best of them.
template <class T, class Rank>
Rank rank_elements(RankFloatsFunction rank_floats, const T* from, int64_t count, int64_t stride, bool largest,
                   Rank* ranks) {
  if constexpr (std::is_same_v<T, float>)
    if (stride == 1) return rank_floats(from, count, largest, ranks);
  Rank top = std::numeric_limits<Rank>::min();
  for (int64_t j = 0; j < count; ++j) {
    ranks[j] = rank_of(from[j * stride], largest);
    top = std::max(top, ranks[j]);
  }
  return top;
}

template <class T, class C>
void find_best(RankFloatsFunction rank_floats, const T* line, int64_t extent, int64_t stride, bool largest,
               Best<C>& best) {
  using Rank = decltype(rank_of(T(), largest));
  best.clear();
  std::array<Rank, kRankedBlock> ranks;
  for (int64_t k = 0; k < extent; k += kRankedBlock) {
    const int64_t count = std::min(kRankedBlock, extent - k);
    const Rank top = rank_elements(rank_floats, line + k * stride, count, stride, largest, ranks.data());
    if (!best.wants(top)) continue;
    for (int64_t j = 0; j < count; ++j)
      if (best.wants(ranks[static_cast<size_t>(j)])) best.add(C(ranks[static_cast<size_t>(j)], k + j));
  }
}

struct TopState {
  RankFloatsFunction rank_floats = nullptr;
};

template <class T>
void take_best(KernelContext& c, const AxisSplit& split, int64_t count) {
  using C = Candidate<decltype(rank_of(T(), true))>;
  const bool largest = c.params<TopKParams>().largest;
  const RankFloatsFunction rank_floats = c.state<TopState>().rank_floats;
  const T* in = static_cast<const T*>(c.in(0).data);
  T* values = c.wants(0) ? static_cast<T*>(c.out(0).data) : nullptr;
  int64_t* places = c.wants(1) ? c.out(1).as<int64_t>().data() : nullptr;
  in_chunks(c, split.outer * split.inner, kTopElements / split.extent, [&](int64_t first, int64_t end) {
    Best<C> best(count);
    WorkMeter meter;
    for (int64_t i = first; i < end; ++i) {
      meter.spend(split.extent);
      const int64_t outer = i / split.inner, inner = i % split.inner;
      const T* line = in + outer * split.extent * split.inner + inner;
      find_best(rank_floats, line, split.extent, split.inner, largest, best);
      int64_t to = outer * count * split.inner + inner;
      for (const C& candidate : best.sorted()) {
        if (values) values[to] = line[candidate.place() * split.inner];
        if (places) places[to] = candidate.place();
        to += split.inner;
      }
    }
  });
}

Result<KernelState> bind_top(const BindRequest& request) {
  const Dims dims = request.inputs[0].dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = request.params.get<TopKParams>().axis, at = axis < 0 ? axis + rank : axis;
  if (dims[static_cast<size_t>(at)] > std::numeric_limits<uint32_t>::max())
    return error(Code::Unsupported, "its axis is too long");
  return KernelState{std::make_shared<TopState>(rank_floats_function(request.isa))};
}

Status run_top(KernelContext& c) {
  if (c.in(0).size() == 0) return {};
  const int64_t axis = c.params<TopKParams>().axis;
  const AxisSplit split(c.in(0).dims, axis < 0 ? axis + c.in(0).rank() : axis);
  // Either output may be unwanted, so the count comes from the input.
  const int64_t count = std::min(any_integer_at(c.in(1), 0), split.extent);
  if (count <= 0) return {};
  return dispatch_numbers(c.in(0).dtype, [&](auto tag) {
    take_best<typename decltype(tag)::type>(c, split, count);
    return Status();
  });
}

}  // namespace

std::span<const Variant> top_k_variants() {
  static const auto variants = with_reference(OpId::TopK, {{"selection", run_top, bind_top, true}});
  return variants;
}

}  // namespace tenon
