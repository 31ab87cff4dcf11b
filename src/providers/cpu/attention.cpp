// Attention by blocks of keys: the scores of some queries and keys stay in a cache from the product that makes them to
// the one that uses them. What has been summed is scaled down when a later block has a larger score.
#include <algorithm>
#include <cmath>

#include "base/checked_math.h"
#include "ops/packed.h"
#include "providers/cpu/attention_rows.h"
#include "providers/cpu/attention_scores.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/pack.h"
#include "providers/cpu/rows.h"
#include "providers/cpu/tiles.h"

namespace tenon {

namespace {

// Queries that share packed keys and values, and those whose scores are in a cache together.
constexpr int64_t kMostQueries = 504, kQueryBlock = 70;
// With fewer queries, packing keys costs more than it brings.
constexpr int64_t kLeastPackedQueries = 8;
// Chunks that let threads end together.
constexpr int64_t kEnoughAttentionChunks = 12, kEnoughPlanes = 4;

struct AttentionState {
  const TileTable* tiles = nullptr;
  const PackKernels* pack = nullptr;
  ScoreFunctions functions;
};

int64_t whole_panels(int64_t columns) { return ceil_div(columns, kPanelWidth) * kPanelWidth; }

// Working memory of a thread, in floats.
struct AttentionMemory {
  float *keys, *values, *scores, *sums, *largest, *totals, *query;
  static int64_t size(int64_t head, int64_t value_head) {
    return whole_panels(head) * (kKeyBlock + 1) + whole_panels(value_head) * (kKeyBlock + kMostQueries) +
           kQueryBlock * kKeyBlock + 2 * kMostQueries;
  }
  AttentionMemory(float* memory, int64_t head, int64_t value_head) {
    const auto take = [&](int64_t count) {
      float* at = memory;
      memory += count;
      return at;
    };
    keys = take(whole_panels(head) * kKeyBlock);
    values = take(whole_panels(value_head) * kKeyBlock);
    scores = take(kQueryBlock * kKeyBlock);
    sums = take(whole_panels(value_head) * kMostQueries);
    largest = take(kMostQueries);
    totals = take(kMostQueries);
    query = take(whole_panels(head));
  }
};

Result<KernelState> bind_attention(const BindRequest& request) {
  const auto& p = request.params.get<AttentionParams>();
  for (size_t i : {0, 1, 2, 4, 5})
    if (i < request.inputs.size() && request.inputs[i].dtype != DType::Undefined &&
        request.inputs[i].dtype != DType::Float32)
      return error(Code::Unsupported, "its elements are not float32");
  if (request.inputs.size() > 3 && request.inputs[3].dtype != DType::Undefined &&
      request.inputs[3].dtype != DType::Float32 && request.inputs[3].dtype != DType::Bool)
    return error(Code::Unsupported, "its mask is neither bool nor float32");
  if (p.softmax_precision.value_or(DType::Float32) != DType::Float32)
    return error(Code::Unsupported, "its weights are not computed in float32");
  if (request.outputs.size() > 3 && request.outputs[3].dtype != DType::Undefined)
    return error(Code::Unsupported, "its scores are wanted");
  TN_ASSIGN_OR_RETURN(const auto e, AttentionExtents::of(request.inputs, p));
  const ScoreFunctions functions{&row_functions(request.isa), &attention_row_functions(request.isa)};
  return KernelState{std::make_shared<AttentionState>(&tile_table(request.isa), &pack_kernels(request.isa), functions),
                     AttentionMemory::size(e.head, e.value_head) * static_cast<int64_t>(sizeof(float))};
}

// Vectors of one head in a tensor, or of a part of it: vector t at data + t * stride.
struct Vectors {
  float* data = nullptr;
  int64_t stride = 0;
  Vectors from(int64_t t) const { return {data + t * stride, stride}; }
};

// Keys or values of one head: those of the past, and then the new ones.
struct History {
  Vectors past, fresh;
  int64_t past_length = 0;
  Vectors from(int64_t t) const { return t < past_length ? past.from(t) : fresh.from(t - past_length); }
};

class AttentionRun {
 public:
  AttentionRun(KernelContext& c, const AttentionExtents& e, const ScoreRules& rules)
      : c_(c), state_(c.state<AttentionState>()), e_(e), rules_(rules), scale_(scale_of(c, e)),
        joined_(c.wants(1) && c.wants(2)), value_columns_(whole_panels(e.value_head)) {}

  void run() const {
    const int64_t planes = e_.batch * e_.kv_heads, group = e_.kv_heads > 0 ? e_.q_heads / e_.kv_heads : 0;
    if (e_.q_length < kLeastPackedQueries && planes >= kEnoughPlanes) {
      // Keys and values are used where they have just been copied to.
      c_.parallel_for(planes, [&](int64_t plane) {
        keep(plane);
        const int64_t b = plane / e_.kv_heads, first = plane % e_.kv_heads * group;
        for (int64_t h = first; h < first + group; ++h) attend(b, h, 0, e_.q_length);
      });
      return;
    }
    if (c_.wants(1) || c_.wants(2)) c_.parallel_for(planes, [&](int64_t plane) { keep(plane); });
    const int64_t heads = e_.batch * e_.q_heads;
    const int64_t most = std::clamp(e_.q_length * heads / kEnoughAttentionChunks, kQueryBlock, kMostQueries);
    const int64_t parts = ceil_div(e_.q_length, most);
    c_.parallel_for(heads * parts, [&](int64_t chunk) {
      const int64_t part = chunk % parts, head = chunk / parts;
      attend(head / e_.q_heads, head % e_.q_heads, e_.q_length * part / parts, e_.q_length * (part + 1) / parts);
    });
  }

 private:
  static float scale_of(KernelContext& c, const AttentionExtents& e) {
    const auto& p = c.params<AttentionParams>();
    return p.scale ? *p.scale : static_cast<float>(1.0 / std::sqrt(static_cast<double>(e.head)));
  }

  static float* floats(const TensorView& view) { return static_cast<float*>(view.data); }

  // A head of Q or of the result, whose vectors have so many elements.
  Vectors queries(const TensorView& view, int64_t size, int64_t b, int64_t h) const {
    return {floats(view) + e_.q_row(b, h, 0) * size, (e_.packed ? e_.q_heads : 1) * size};
  }
  Vectors fresh(size_t input, int64_t size, int64_t plane) const {
    return {floats(c_.in(input)) + e_.kv_row(plane / e_.kv_heads, plane % e_.kv_heads, 0) * size,
            (e_.kv_packed ? e_.kv_heads : 1) * size};
  }
  Vectors plane_of(const TensorView& view, int64_t length, int64_t size, int64_t plane) const {
    return {floats(view) + plane * length * size, size};
  }
  // Input 1 are keys, input 2 values.
  History history(size_t input, int64_t size, int64_t plane) const {
    if (joined_) return {{}, plane_of(c_.out(input), e_.total, size, plane), 0};
    History all{{}, fresh(input, size, plane), e_.past};
    if (e_.past > 0) all.past = plane_of(c_.in(input + 3), e_.past, size, plane);
    return all;
  }

  // Puts keys and values where later runs take them from.
  void keep(int64_t plane) const {
    for (const size_t input : {size_t{1}, size_t{2}}) {
      if (!c_.wants(input)) continue;
      const int64_t size = input == 1 ? e_.head : e_.value_head, length = e_.total - e_.past;
      float* to = plane_of(c_.out(input), e_.total, size, plane).data;
      const auto copy = [&](Vectors from, int64_t count) {
        for (int64_t t = 0; t < count; ++t, to += size) std::copy_n(from.from(t).data, size, to);
      };
      if (e_.past > 0) copy(plane_of(c_.in(input + 3), e_.past, size, plane), e_.past);
      copy(fresh(input, size, plane), length);
    }
  }

  // The results of some queries of a head.
  void attend(int64_t b, int64_t h, int64_t begin, int64_t end) const {
    const AttentionMemory memory(c_.scratch<float>(), e_.head, e_.value_head);
    const int64_t plane = b * e_.kv_heads + h / (e_.q_heads / e_.kv_heads), count = end - begin;
    const History keys = history(1, e_.head, plane), values = history(2, e_.value_head, plane);
    const Vectors q = queries(c_.in(0), e_.head, b, h).from(begin);
    std::fill_n(memory.largest, count, -HUGE_VALF);
    std::fill_n(memory.totals, count, 0.0f);
    std::fill_n(memory.sums, count * value_columns_, 0.0f);
    const KeyRange visible{rules_.visible(b, begin).begin, rules_.visible(b, end - 1).end};
    const int64_t parts = ceil_div(count, kQueryBlock);
    int64_t blocks = 0;
    for (int64_t key = visible.begin; key < visible.end; key = block_end(key, visible.end)) {
      if (++blocks % kBlocksBetweenAttentionPolls == 0) poll_cancelled();
      const KeyRange block{key, block_end(key, visible.end)};
      const bool packed = count >= kLeastPackedQueries;
      if (packed) pack_keys(keys.from(key), block.size(), memory);
      const Vectors weighted = prepare_values(values.from(key), block.size(), packed, memory);
      for (int64_t part = 0; part < parts; ++part) {
        const int64_t row = count * part / parts, rows = count * (part + 1) / parts - row;
        const KeyRange seen{rules_.visible(b, begin + row).begin, rules_.visible(b, begin + row + rows - 1).end};
        if (seen.begin >= block.end || seen.end <= block.begin) continue;
        if (packed)
          score_tiles(q.from(row), rows, block.size(), memory);
        else
          score_rows(q.from(row), rows, keys.from(key), block.size(), memory);
        weigh(memory, row, rows, block, {b, h, begin + row});
        add_values(memory, row, rows, weighted, block.size());
      }
    }
    finish(queries(c_.out(0), e_.value_head, b, h).from(begin), count, memory);
  }

  // Blocks end where the past does.
  int64_t block_end(int64_t begin, int64_t end) const {
    const int64_t past = joined_ ? 0 : e_.past;
    return std::min({begin + kKeyBlock, end, begin < past ? past : end});
  }

  void pack_keys(Vectors keys, int64_t count, const AttentionMemory& memory) const {
    float scales[kPanelWidth];
    std::fill_n(scales, kPanelWidth, scale_);
    for (int64_t key = 0; key < count; key += kPanelWidth) {
      const float* rows[kPanelWidth];
      // What lies beyond the last key is not used; it is any key.
      for (int64_t j = 0; j < kPanelWidth; ++j) rows[j] = keys.from(std::min(key + j, count - 1)).data;
      state_.pack->transpose(rows, e_.head, scales, false, memory.keys + key * e_.head);
    }
  }

  // The values as rows of whole panels.
  Vectors prepare_values(Vectors values, int64_t count, bool packed, const AttentionMemory& memory) const {
    if (e_.value_head == value_columns_ && (!packed || values.stride == value_columns_)) return values;
    for (int64_t t = 0; t < count; ++t) {
      float* to = memory.values + t * value_columns_;
      std::fill(std::copy_n(values.from(t).data, e_.value_head, to), to + value_columns_, 0.0f);
    }
    return {memory.values, value_columns_};
  }

  void score_tiles(Vectors q, int64_t rows, int64_t keys, const AttentionMemory& memory) const {
    const TileOperands operands{.a = q.data,
                                .a_stride = q.stride,
                                .b = memory.keys,
                                .b_panel_stride = e_.head * kPanelWidth,
                                .b_depth_stride = kPanelWidth,
                                .depth = e_.head,
                                .c = memory.scores,
                                .c_stride = kKeyBlock};
    multiply_tiles(*state_.tiles, TileOrder::RowMajor, operands, rows, ceil_div(keys, kPanelWidth));
  }

  void score_rows(Vectors q, int64_t rows, Vectors keys, int64_t count, const AttentionMemory& memory) const {
    const auto& f = state_.functions;
    for (int64_t i = 0; i < rows; ++i) {
      f.rows->scale(q.from(i).data, 0, scale_, memory.query, e_.head);
      f.scores->products(memory.query, keys.data, keys.stride, e_.head, memory.scores + i * kKeyBlock, count);
    }
  }

  // Makes weights of the scores of queries from `row` on, of which the first is at this place. The largest scores of
  // all of them come first: the exponentials of one query need not wait for its own.
  void weigh(const AttentionMemory& memory, int64_t row, int64_t rows, KeyRange block, ScorePlace first) const {
    const ScoreFunctions& f = state_.functions;
    float of_block[kQueryBlock];
    const auto place = [&](int64_t i) { return ScorePlace{first.batch, first.head, first.query + i}; };
    for (int64_t i = 0; i < rows; ++i) of_block[i] = rules_.mask(f, memory.scores + i * kKeyBlock, block, place(i));
    for (int64_t i = 0; i < rows; ++i) {
      const float factor = rules_.weigh(f, memory.scores + i * kKeyBlock, block, place(i), of_block[i],
                                        memory.largest[row + i], memory.totals[row + i]);
      float* sums = memory.sums + (row + i) * value_columns_;
      if (factor != 1) f.rows->scale(sums, 0, factor, sums, value_columns_);
    }
  }

  void add_values(const AttentionMemory& memory, int64_t row, int64_t rows, Vectors values, int64_t count) const {
    const TileOperands operands{.a = memory.scores,
                                .a_stride = kKeyBlock,
                                .b = values.data,
                                .b_panel_stride = kPanelWidth,
                                .b_depth_stride = values.stride,
                                .depth = count,
                                .c = memory.sums + row * value_columns_,
                                .c_stride = value_columns_,
                                .accumulate = true};
    multiply_tiles(*state_.tiles, TileOrder::RowMajor, operands, rows, value_columns_ / kPanelWidth);
  }

  void finish(Vectors y, int64_t count, const AttentionMemory& memory) const {
    for (int64_t i = 0; i < count; ++i) {
      const float factor = rules_.last_factor(memory.totals[i]);
      state_.functions.rows->scale(memory.sums + i * value_columns_, 0, factor, y.from(i).data, e_.value_head);
    }
  }

  static constexpr int64_t kBlocksBetweenAttentionPolls = 16;

  KernelContext& c_;
  const AttentionState& state_;
  const AttentionExtents& e_;
  const ScoreRules& rules_;
  float scale_;
  bool joined_;  // keys and values lie behind those of the past, as they leave
  int64_t value_columns_;
};

Status run_attention(KernelContext& c) {
  TN_ASSIGN_OR_RETURN(const auto e, AttentionExtents::of(c.inputs(), c.params<AttentionParams>()));
  TN_ASSIGN_OR_RETURN(const auto rules, ScoreRules::of(c, e));
  if (c.out(0).size() == 0 && !c.wants(1) && !c.wants(2)) return {};
  AttentionRun(c, e, rules).run();
  return {};
}

}  // namespace

std::span<const Variant> attention_variants() {
  static const auto variants = with_reference(OpId::Attention, {{"tiles", run_attention, bind_attention, true}});
  return variants;
}

}  // namespace tenon
