#pragma once

#include "ops/attention.h"
#include "providers/provider.h"

namespace tenon {

// The sizes of a running attention.
struct AttentionExtents {
  int64_t batch = 0, q_heads = 0, kv_heads = 0, q_length = 0, total = 0, past = 0, head = 0, value_head = 0;
  bool packed = false, kv_packed = false;

  static Result<AttentionExtents> of(std::span<const TensorView> inputs, const AttentionParams& params);

  // The number of a head's vector in Q and the result, or in K and V.
  int64_t q_row(int64_t b, int64_t h, int64_t t) const { return row(packed, b, h, t, q_heads, q_length); }
  int64_t kv_row(int64_t b, int64_t h, int64_t t) const { return row(kv_packed, b, h, t, kv_heads, total - past); }

 private:
  // Of [batch, heads, length] or, packed, [batch, length, heads].
  static int64_t row(bool packed, int64_t b, int64_t h, int64_t t, int64_t heads, int64_t length) {
    return packed ? (b * length + t) * heads + h : (b * heads + h) * length + t;
  }
};

// Of how many keys a mask tells.
int64_t keys_in_mask(const AttentionParams& params, const TensorView& mask, const AttentionExtents& extents);

// Refuses a nonpad_kv_seqlen that counts more keys than there are.
Status check_valid_keys(std::span<const int64_t> valid_keys, int64_t keys);

}  // namespace tenon
