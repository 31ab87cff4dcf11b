#include "ops/group_query_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/exact_math.h"
#include "providers/reference/cache_codec.h"
#include "providers/reference/doubles.h"
#include "providers/reference/kernel.h"
#include "providers/reference/rotary_embedding.h"
#include "providers/reference/work_meter.h"
#include "providers/scratch.h"
#include "tensor/value.h"

namespace tenon {

namespace {

// Where the positions of one sequence are.
struct Sequence {
  int64_t past = 0;            // rows that are taken from the past
  int64_t rows = 0;            // past and new rows
  int64_t valid = 0;           // rows that may be looked at
  int64_t first_query = 0;     // the row that query 0 stands at
  int64_t first_position = 0;  // the same in the whole text
  int64_t kept = 0;            // rows, the last ones, that the present keeps
};

// How far a cache that keeps the last positions is filled after so many: when it is full, all that no window reaches
// any more is dropped at once.
int64_t sliding_end(int64_t positions, int64_t capacity, int64_t window) {
  if (positions <= capacity) return positions;
  const int64_t gap = capacity - window + 1, dropped = (positions - capacity + gap - 1) / gap * gap;
  return positions - dropped;
}

constexpr int64_t kUnitsPerScore = 16;  // of the time that masks, codes and exponentials take

class GroupQueryAttention {
 public:
  explicit GroupQueryAttention(KernelContext& c) : c_(c), p_(c.params<GroupQueryAttentionParams>()) {}

  Status run() {
    TN_RETURN_IF_ERROR(read_inputs());
    for (size_t i : {1, 2})
      if (c_.wants(i) && c_.out(i).size() > 0)
        std::memset(c_.out(i).data, 0, static_cast<size_t>(c_.out(i).size()) * dtype_bits(c_.out(i).dtype) / 8);
    for (int64_t b = 0; b < batch_; ++b) {
      TN_ASSIGN_OR_RETURN(const Sequence sequence, plan(b));
      TN_ASSIGN_OR_RETURN(Doubles keys, join(b, sequence, true));
      TN_ASSIGN_OR_RETURN(Doubles values, join(b, sequence, false));
      if (c_.wants(1)) store_present(c_.out(1), b, sequence, keys, codec(kGqaKeyScale));
      if (c_.wants(2)) store_present(c_.out(2), b, sequence, values, codec(kGqaValueScale));
      for (int64_t s = 0; s < length_ && y_.size() > 0; ++s) {
        for (int64_t h = 0; h < p_.num_heads; ++h) TN_RETURN_IF_ERROR(attend(b, h, s, sequence, keys, values));
        TN_RETURN_IF_ERROR(c_.services().check_cancelled());
      }
    }
    y_.store(c_.out(0));
    if (c_.wants(3)) exposed_.store(c_.out(3));
    return {};
  }

 private:
  Status read_inputs() {
    const auto shape = [&](size_t i) { return c_.has(i) ? std::optional(to_shape(c_.in(i).dims)) : std::nullopt; };
    const auto query = shape(kGqaQuery), key = shape(kGqaKey), past = shape(kGqaPastKey);
    TN_ASSIGN_OR_RETURN(const auto s,
                        group_query_attention_sizes(p_, *query, key ? &*key : nullptr, past ? &*past : nullptr));
    batch_ = s.batch.value();
    length_ = s.length.value();
    new_keys_ = s.new_keys.value();
    head_ = s.head.value();
    capacity_ = s.past_capacity.value();
    total_ = c_.in(kGqaTotal).as<int32_t>()[0];
    is_prompt_ = length_ == total_;
    type_ = c_.in(kGqaQuery).dtype;
    TN_ASSIGN_OR_RETURN(q_, read_doubles(c_, kGqaQuery));
    TN_ASSIGN_OR_RETURN(k_, read_doubles(c_, kGqaKey));
    TN_ASSIGN_OR_RETURN(v_, read_doubles(c_, kGqaValue));
    TN_ASSIGN_OR_RETURN(cosines_, read_doubles(c_, kGqaCosines));
    TN_ASSIGN_OR_RETURN(sines_, read_doubles(c_, kGqaSines));
    TN_ASSIGN_OR_RETURN(bias_, read_doubles(c_, kGqaBias));
    TN_ASSIGN_OR_RETURN(sink_, read_doubles(c_, kGqaSink));
    TN_ASSIGN_OR_RETURN(q_norm_, read_doubles(c_, kGqaQueryNorm));
    TN_ASSIGN_OR_RETURN(k_norm_, read_doubles(c_, kGqaKeyNorm));
    TN_ASSIGN_OR_RETURN(y_, Doubles::filled(c_.out(0).size(), 0.0, c_.budget()));
    TN_ASSIGN_OR_RETURN(exposed_, Doubles::filled(c_.wants(3) ? c_.out(3).size() : 0, 0.0, c_.budget()));
    return {};
  }

  Result<Sequence> plan(int64_t b) const {
    const int64_t last = c_.in(kGqaSeqlens).as<int32_t>()[static_cast<size_t>(b)], positions = last + 1;
    if (last < 0 || (!p_.sliding_window_cache && positions > total_))
      return invalid_argument("seqlens_k[{}] is {}, but total_sequence_length is {}", b, last, total_);
    const bool has_past = c_.has(kGqaPastKey), starts = is_prompt_ && !p_.sliding_window_cache;
    if (has_past && !starts && positions < length_)
      return invalid_argument("seqlens_k[{}] is {}, which is too small for {} new positions", b, last, length_);
    Sequence s;
    if (p_.sliding_window_cache) {
      s.past = sliding_end(positions - length_, capacity_, p_.local_window_size);
      s.first_query = s.past;
    } else if (has_past && new_keys_ == 0) {
      s.past = positions;
      s.first_query = starts ? 0 : positions - length_;
    } else if (has_past && !starts) {
      s.past = s.first_query = positions - length_;
    }
    s.rows = s.past + new_keys_;
    s.valid = p_.sliding_window_cache ? s.rows : positions;
    s.first_position = is_prompt_ ? 0 : positions - length_;
    s.kept = p_.sliding_window_cache ? sliding_end(positions, capacity_, p_.local_window_size) : s.rows;
    if (s.past > capacity_ || s.valid > s.rows)
      return invalid_argument("seqlens_k[{}] is {}, but there are {} past and {} new positions", b, last, capacity_,
                              new_keys_);
    return s;
  }

  // Past and new keys (or values) of a sequence: [kv heads, rows, head], as they look after a stay in the cache.
  Result<Doubles> join(int64_t b, const Sequence& s, bool keys) {
    TN_ASSIGN_OR_RETURN(Doubles joined, Doubles::filled({p_.kv_num_heads, s.rows, head_}, 0.0, c_.budget()));
    if (joined.size() == 0) return joined;
    const size_t past = keys ? kGqaPastKey : kGqaPastValue;
    const CacheCodec cache = codec(keys ? kGqaKeyScale : kGqaValueScale);
    const DType cached = c_.has(past) ? c_.in(past).dtype : c_.wants(1) ? c_.out(1).dtype : DType::Int8;
    for (int64_t h = 0; h < p_.kv_num_heads; ++h) {
      double* to = joined.data() + h * s.rows * head_;
      for (int64_t r = 0; r < s.past; ++r, meter_.spend(kUnitsPerScore * head_))
        for (int64_t i = 0; i < head_; ++i)
          to[r * head_ + i] = cache.read(c_.in(past), (b * p_.kv_num_heads + h) * capacity_ + r, h, i);
      for (int64_t t = 0; t < new_keys_; ++t) {
        meter_.spend(kUnitsPerScore * head_);
        std::span<double> row(to + (s.past + t) * head_, static_cast<size_t>(head_));
        std::copy_n(new_row(b, h, t, keys), head_, row.begin());
        if (keys) TN_RETURN_IF_ERROR(prepare(b, t, s, k_norm_, row));
        for (int64_t i = 0; i < head_; ++i)
          row[static_cast<size_t>(i)] = cache.rounded(cached, h, i, row[static_cast<size_t>(i)]);
      }
    }
    return joined;
  }

  const double* new_row(int64_t b, int64_t h, int64_t t, bool keys) const {
    if (c_.has(kGqaKey)) return (keys ? k_ : v_).data() + ((b * new_keys_ + t) * p_.kv_num_heads + h) * head_;
    const int64_t all = p_.num_heads + 2 * p_.kv_num_heads, first = p_.num_heads + (keys ? 0 : p_.kv_num_heads);
    return q_.data() + ((b * length_ + t) * all + first + h) * head_;
  }

  // Normalizes and turns the vector of one head at new position t.
  Status prepare(int64_t b, int64_t t, const Sequence& s, const Doubles& norm, std::span<double> x) const {
    if (norm.present()) {
      double sum = 0.0;
      for (double value : x) sum += value * value;
      const double root = std::sqrt(sum / static_cast<double>(head_) + static_cast<double>(p_.qk_norm_epsilon));
      for (size_t i = 0; i < x.size(); ++i) x[i] = round_to(type_, x[i] / root * norm[static_cast<int64_t>(i)]);
    }
    if (!p_.do_rotary) return {};
    TN_ASSIGN_OR_RETURN(const int64_t position, position_of(b, t, s));
    const int64_t half = c_.in(kGqaCosines).dims[1];
    rotate_head(x, x, {cosines_.data() + position * half, static_cast<size_t>(half)},
                {sines_.data() + position * half, static_cast<size_t>(half)}, p_.rotary_interleaved);
    for (double& value : x) value = round_to(type_, value);
    return {};
  }

  // A prompt counts on from the first of position_ids, later steps name every position.
  Result<int64_t> position_of(int64_t b, int64_t t, const Sequence& s) const {
    const int64_t rows = c_.in(kGqaCosines).dims[0];
    int64_t start = s.first_position, step = t;
    if (c_.has(kGqaPositions)) {
      const auto ids = c_.in(kGqaPositions).as<int64_t>();
      start = ids[static_cast<size_t>(is_prompt_ ? 0 : b * c_.in(kGqaPositions).dims[1] + t)];
      if (!is_prompt_) step = 0;
    }
    if (start >= 0 && start < rows - step) return start + step;
    return invalid_argument("token [{}, {}] is {} after position {}, but cos_cache has only {} rows", b, t, step, start,
                            rows);
  }

  void store_present(const TensorView& present, int64_t b, const Sequence& s, const Doubles& rows,
                     const CacheCodec& cache) const {
    if (rows.size() == 0) return;
    for (int64_t h = 0; h < p_.kv_num_heads; ++h)
      for (int64_t r = 0; r < s.kept; ++r, WorkMeter().spend(kUnitsPerScore * head_))
        for (int64_t i = 0; i < head_; ++i)
          cache.write(present, (b * p_.kv_num_heads + h) * present.dims[2] + r, h, i,
                      rows[(h * s.rows + s.rows - s.kept + r) * head_ + i]);
  }

  Status attend(int64_t b, int64_t h, int64_t s, const Sequence& sequence, const Doubles& keys, const Doubles& values) {
    const int64_t all = p_.num_heads + (c_.has(kGqaKey) ? 0 : 2 * p_.kv_num_heads);
    const double* from = q_.data() + ((b * length_ + s) * all + h) * head_;
    Scratch<double> query(from, from + head_);
    TN_RETURN_IF_ERROR(prepare(b, s, sequence, q_norm_, query));
    const int64_t end = p_.causal ? std::min(sequence.first_query + s + 1, sequence.valid) : sequence.valid;
    const int64_t begin = p_.local_window_size >= 0 ? std::max<int64_t>(0, end - p_.local_window_size) : 0;
    const int64_t plane = h / (p_.num_heads / p_.kv_num_heads) * sequence.rows;
    Scratch<double> scores;
    for (int64_t t = begin; t < end; ++t) {
      meter_.spend(head_ + kUnitsPerScore);
      double sum = 0.0;
      for (int64_t i = 0; i < head_; ++i) sum += query[static_cast<size_t>(i)] * keys[(plane + t) * head_ + i];
      scores.push_back(bias_at(b, h, s, t) + capped(sum * scale()));
    }
    if (p_.qk_output == 1) expose(b, h, s, begin, scores);
    soften(h, scores);
    if (p_.qk_output == 2) expose(b, h, s, begin, scores);
    for (int64_t i = 0; i < head_; ++i) {
      meter_.spend(end - begin);
      double sum = 0.0;
      for (int64_t t = begin; t < end; ++t)
        sum += scores[static_cast<size_t>(t - begin)] * values[(plane + t) * head_ + i];
      y_[((b * length_ + s) * p_.num_heads + h) * head_ + i] = sum;
    }
    return {};
  }

  double scale() const {
    return p_.scale == 0.0f ? 1.0 / std::sqrt(static_cast<double>(head_)) : static_cast<double>(p_.scale);
  }
  double capped(double score) const {
    const double cap = static_cast<double>(p_.softcap);
    return cap > 0.0 ? cap * exact::tanh(score / cap) : score;
  }
  double bias_at(int64_t b, int64_t h, int64_t s, int64_t t) const {
    if (!bias_.present()) return 0.0;
    const auto& dims = c_.in(kGqaBias).dims;
    return bias_[(((dims[0] == 1 ? 0 : b) * dims[1] + (dims[1] == 1 ? 0 : h)) * length_ + s) * total_ + t];
  }

  // Softmax; a sink takes its share of the sum and gives nothing.
  void soften(int64_t h, Scratch<double>& scores) const {
    const bool sinks = sink_.present() || p_.smooth_softmax;
    const double sink = sink_.present() ? sink_[h] : 0.0;
    double largest = sinks ? sink : -std::numeric_limits<double>::infinity();
    for (double score : scores) largest = std::max(largest, score);
    if (std::isinf(largest) && largest < 0) largest = 0.0;
    double sum = sinks ? exact::exp(sink - largest) : 0.0;
    for (double& score : scores) sum += score = exact::exp(score - largest);
    for (double& score : scores) score = sum == 0.0 ? 0.0 : score / sum;
  }

  void expose(int64_t b, int64_t h, int64_t s, int64_t begin, const Scratch<double>& scores) {
    if (!c_.wants(3)) return;
    std::ranges::copy(scores, exposed_.data() + ((b * p_.num_heads + h) * length_ + s) * total_ + begin);
  }

  CacheCodec codec(size_t scales) const { return {p_, c_.has(scales) ? &c_.in(scales) : nullptr, head_}; }

  KernelContext& c_;
  const GroupQueryAttentionParams& p_;
  int64_t batch_ = 0, length_ = 0, new_keys_ = 0, head_ = 0, capacity_ = 0, total_ = 0;
  bool is_prompt_ = false;  // nothing came before
  DType type_ = DType::Undefined;
  WorkMeter meter_;
  Doubles q_, k_, v_, cosines_, sines_, bias_, sink_, q_norm_, k_norm_, y_, exposed_;
};

}  // namespace

template <>
KernelFunction reference_kernel<OpId::GroupQueryAttention>() {
  return [](KernelContext& c) -> Status { return GroupQueryAttention(c).run(); };
}

}  // namespace tenon
