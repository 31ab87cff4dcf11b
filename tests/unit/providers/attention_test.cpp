#include "ops/attention.h"

#include "unit/providers/run_kernel.h"

namespace tenon::test {
namespace {

struct AttentionCase {
  std::string name;
  int64_t batch = 1, q_heads = 2, kv_heads = 2, q_length = 8, kv_length = 8, past = 0, head = 16, value_head = 16;
  bool packed = false, kv_packed = false;
  bool keeps_cache = false;
  AttentionParams params{};
  std::vector<int64_t> mask{};  // its dims
  bool bool_mask = false;
  std::vector<int64_t> valid_keys{};
};

Tensor heads(const AttentionCase& c, int64_t count, int64_t length, int64_t size, bool packed, uint32_t seed) {
  return noise(packed ? std::vector{c.batch, length, count * size} : std::vector{c.batch, count, length, size}, seed);
}

// Hides about a third of the keys, and all keys of some queries.
Tensor mask_of(const AttentionCase& c) {
  const Tensor numbers = noise(c.mask, 7);
  if (!c.bool_mask) {
    const Tensor mask =
        Tensor::of<float>(c.mask, std::vector<float>(numbers.as<float>().begin(), numbers.as<float>().end()));
    return mask;
  }
  const int64_t keys = c.mask.back();
  auto mask = Tensor::allocate(DType::Bool, c.mask, std::make_shared<MemoryBudget>(int64_t{1} << 30));
  const auto allowed = mask->as_mutable<bool>();
  for (size_t i = 0; i < allowed.size(); ++i)
    allowed[i] = numbers.as<float>()[i] < 0.4f && static_cast<int64_t>(i) / keys % 5 != 3;
  return *mask;
}

std::vector<Tensor> inputs_of(const AttentionCase& c) {
  std::vector<Tensor> inputs(7);
  inputs[0] = heads(c, c.q_heads, c.q_length, c.head, c.packed, 1);
  inputs[1] = heads(c, c.kv_heads, c.kv_length, c.head, c.kv_packed, 2);
  inputs[2] = heads(c, c.kv_heads, c.kv_length, c.value_head, c.kv_packed, 3);
  if (!c.mask.empty()) inputs[3] = mask_of(c);
  if (c.past > 0) {
    inputs[4] = heads(c, c.kv_heads, c.past, c.head, false, 4);
    inputs[5] = heads(c, c.kv_heads, c.past, c.value_head, false, 5);
  }
  if (!c.valid_keys.empty()) inputs[6] = Tensor::of<int64_t>({static_cast<int64_t>(c.valid_keys.size())}, c.valid_keys);
  return inputs;
}

void check_attention(AttentionCase c) {
  SCOPED_TRACE(c.name);
  if (c.packed) c.params.q_num_heads = c.q_heads;
  if (c.packed || c.kv_packed) c.params.kv_num_heads = c.kv_heads;
  const Params params = Params::of(c.params);
  const auto inputs = inputs_of(c);
  const size_t outputs = c.keeps_cache ? 3 : 1;
  const auto expected = run_kernel_outputs("reference/Attention", OpId::Attention, params, inputs, outputs);
  ThreadPool pool(3);
  for_each_isa([&] {
    const auto alone = run_kernel_outputs("cpu/Attention", OpId::Attention, params, inputs, outputs);
    const auto together = run_kernel_outputs("cpu/Attention", OpId::Attention, params, inputs, outputs, &pool);
    for (size_t o = 0; o < outputs; ++o) {
      ASSERT_EQ(alone[o].dims(), expected[o].dims());
      EXPECT_TRUE(same_bits(alone[o], together[o]));
      for (size_t i = 0; i < static_cast<size_t>(expected[o].size()); ++i) {
        const float got = alone[o].as<float>()[i], wanted = expected[o].as<float>()[i];
        if (std::isnan(wanted))
          ASSERT_TRUE(std::isnan(got)) << "element " << i;
        else
          ASSERT_NEAR(got, wanted, o == 0 ? 4e-6 : 0) << "element " << i;
      }
    }
  });
}

TEST(Attention, TakesEveryNumberOfQueriesAndKeys) {
  for (const int64_t queries : {1, 3, 7, 8, 13, 65, 300})
    for (const int64_t keys : {1, 15, 17, 256, 530})
      check_attention({.name = std::to_string(queries) + " queries, " + std::to_string(keys) + " keys",
                       .q_length = queries,
                       .kv_length = keys});
}

TEST(Attention, TakesHeadsOfEverySize) {
  for (const int64_t queries : {2, 20})
    for (const int64_t head : {1, 5, 64, 80})
      for (const int64_t value_head : {3, 16, 40})
        check_attention({.name = std::to_string(head) + " and " + std::to_string(value_head),
                         .q_length = queries,
                         .kv_length = 33,
                         .head = head,
                         .value_head = value_head});
}

TEST(Attention, TakesHeadsNextToEachOtherAndGroups) {
  for (const int64_t queries : {2, 40})
    for (const bool kv_packed : {true, false})
      check_attention({.name = kv_packed ? "packed" : "keys apart",
                       .batch = 2,
                       .q_heads = 6,
                       .kv_heads = 2,
                       .q_length = queries,
                       .kv_length = 21,
                       .value_head = 7,
                       .packed = true,
                       .kv_packed = kv_packed});
}

TEST(Attention, GoesOnFromAPast) {
  for (const int64_t queries : {1, 5, 30})
    for (const bool keeps : {true, false})
      for (const int64_t past : {3, 300})
        check_attention({.name = std::to_string(past) + " of the past, " + std::to_string(queries) + " new",
                         .batch = 2,
                         .q_heads = 4,
                         .q_length = queries,
                         .kv_length = queries,
                         .past = past,
                         .value_head = 12,
                         .packed = past == 3,
                         .kv_packed = past == 3,
                         .keeps_cache = keeps,
                         .params = {.is_causal = true}});
}

TEST(Attention, TakesMasksThatRepeat) {
  for (const bool bools : {true, false})
    for (const std::vector<int64_t>& mask :
         {std::vector<int64_t>{40}, {20, 40}, {1, 2, 1, 40}, {2, 1, 20, 40}, {20, 33}})
      check_attention({.name = testing::PrintToString(mask) + (bools ? " of bools" : ""),
                       .batch = 2,
                       .q_length = 20,
                       .kv_length = 40,
                       .mask = mask,
                       .bool_mask = bools});
}

TEST(Attention, GivesHiddenKeysTheirScore) {
  for (const float hidden : {-HUGE_VALF, -3e38f, -2.0f})
    for (const int64_t queries : {3, 60})
      for (const bool bools : {true, false})
        check_attention({.name = std::to_string(hidden) + (bools ? " by bools" : " by numbers"),
                         .q_length = queries,
                         .kv_length = 300,
                         .params = {.whole_mask = true, .hidden_score = hidden},
                         .mask = {queries, 300},
                         .bool_mask = bools});
}

// As it does where a Softmax follows a sum.
TEST(Attention, RepeatsAMaskOfOneKey) {
  for (const bool bools : {true, false})
    for (const std::vector<int64_t>& mask : {std::vector<int64_t>{1}, {20, 1}, {2, 1, 20, 1}})
      check_attention({.name = testing::PrintToString(mask) + (bools ? " of bools" : ""),
                       .batch = 2,
                       .q_length = 20,
                       .kv_length = 300,
                       .params = {.whole_mask = true, .hidden_score = -3.0f},
                       .mask = mask,
                       .bool_mask = bools});
}

TEST(Attention, HasNoNumberWhereEverythingIsHidden) {
  const AttentionCase c{.q_length = 9, .kv_length = 40};
  auto inputs = inputs_of(c);
  inputs[3] = Tensor::of<float>({1, 40}, std::vector<float>(40, -HUGE_VALF));
  for_each_isa([&] {
    for (const bool as_softmax : {true, false}) {
      const AttentionParams params{.hidden_score = as_softmax ? std::optional(-HUGE_VALF) : std::nullopt};
      for (const char* family : {"cpu/Attention", "reference/Attention"}) {
        const Tensor y = run_kernel(family, OpId::Attention, Params::of(params), inputs);
        for (const float x : y.as<float>()) ASSERT_TRUE(as_softmax ? std::isnan(x) : x == 0) << family << ": " << x;
      }
    }
  });
}

TEST(Attention, TakesNothing) {
  for (const auto& [queries, keys] : {std::pair{0, 5}, {9, 0}, {1, 0}, {0, 0}})
    for (const bool as_softmax : {true, false})
      check_attention({.name = std::to_string(queries) + " queries, " + std::to_string(keys) + " keys",
                       .q_heads = 4,
                       .kv_heads = 4,
                       .q_length = queries,
                       .kv_length = keys,
                       .params = {.hidden_score = as_softmax ? std::optional(-HUGE_VALF) : std::nullopt}});
}

TEST(Attention, KeepsWhatIsNotANumber) {
  for (const int64_t queries : {2, 30}) {
    auto inputs = inputs_of({.q_length = queries, .kv_length = 40});
    inputs[0].as_mutable<float>()[5] = std::nanf("7");
    for_each_isa([&] {
      const Tensor y = run_kernel("cpu/Attention", OpId::Attention, Params::of(AttentionParams{}), inputs);
      for (size_t i = 0; i < y.as<float>().size(); ++i) ASSERT_EQ(std::isnan(y.as<float>()[i]), i < 16) << i;
    });
  }
}

TEST(Attention, SeesKeysWithinAWindow) {
  for (const int64_t queries : {4, 300})
    for (const int64_t left : {-1, 0, 20})
      for (const int64_t right : {-1, 0, 9})
        check_attention({.name = std::to_string(left) + " to the left, " + std::to_string(right) + " to the right",
                         .q_length = queries,
                         .kv_length = 320,
                         .params = {.softcap = 2.0f, .left_window_size = left, .right_window_size = right}});
}

TEST(Attention, KnowsWhichKeysOfACacheAreValid) {
  for (const bool causal : {true, false})
    check_attention({.name = causal ? "causal" : "all",
                     .batch = 3,
                     .q_length = 10,
                     .kv_length = 50,
                     .params = {.is_causal = causal, .scale = 0.5f},
                     .valid_keys = {50, 10, 4}});
}

}  // namespace
}  // namespace tenon::test
