#include "executor/unshared.h"

#include <gmock/gmock.h>

namespace tenon {
namespace {

using testing::ElementsAre;

Tensor of(std::vector<float> values) {
  return Tensor::of<float>({static_cast<int64_t>(values.size())}, std::span<const float>(values));
}

const void* data_of(const Value& value) { return value.tensor()->data(); }

Value unshared_value(Value value) {
  auto result = unshared(std::move(value), nullptr);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return std::move(*result);
}

TEST(Unshared, LeavesMemoryOfOneHolderWhereItIs) {
  Tensor tensor = of({1, 2});
  const void* data = tensor.data();
  EXPECT_EQ(data_of(unshared_value(std::move(tensor))), data);
  Sequence sequence{Type::tensor(DType::Float32), {}};
  sequence.items.emplace_back(of({3}));
  data = data_of(sequence.items[0]);
  EXPECT_EQ(data_of(unshared_value(std::move(sequence)).sequence()->items[0]), data);
}

TEST(Unshared, CopiesWhatSomebodyElseHolds) {
  const Tensor weight = of({1, 2});
  const Value result = unshared_value(weight);
  EXPECT_NE(data_of(result), weight.data());
  EXPECT_THAT(result.tensor()->as<float>(), ElementsAre(1, 2));
}

TEST(Unshared, CopiesWhatNobodyKeepsAlive) {
  const float memory[] = {4, 5};
  const Value result = unshared_value(Tensor::borrow(DType::Float32, {2}, memory, nullptr));
  EXPECT_NE(data_of(result), memory);
  EXPECT_THAT(result.tensor()->as<float>(), ElementsAre(4, 5));
}

TEST(Unshared, CopiesTheItemsOfASequenceThatSomebodyElseHolds) {
  Sequence made{Type::tensor(DType::Float32), {}};
  made.items.emplace_back(of({6}));
  const Value held = std::move(made);
  const Value result = unshared_value(held);
  EXPECT_NE(data_of(result.sequence()->items[0]), data_of(held.sequence()->items[0]));
  EXPECT_THAT(result.sequence()->items[0].tensor()->as<float>(), ElementsAre(6));
}

TEST(Unshared, SeparatesEqualItems) {
  const auto twice = [] {
    const Tensor item = of({7});
    return Value(Sequence{Type::tensor(DType::Float32), {item, item}});
  };
  const Value result = unshared_value(twice());
  EXPECT_NE(data_of(result.sequence()->items[0]), data_of(result.sequence()->items[1]));
}

TEST(Unshared, LooksIntoOptionalsAndMaps) {
  const Tensor weight = of({8});
  const Value maybe = unshared_value(Optional{Type::tensor(DType::Float32), std::make_shared<const Value>(weight)});
  EXPECT_NE(data_of(*maybe.optional()->item), weight.data());
  EXPECT_THAT(maybe.optional()->item->tensor()->as<float>(), ElementsAre(8));
  const Value map = unshared_value(Map{DType::Int64, DType::Float32, {1}, {}, weight});
  EXPECT_NE(map.map()->values.data(), weight.data());
  EXPECT_THAT(map.map()->int_keys, ElementsAre(1));
  EXPECT_THAT(map.map()->values.as<float>(), ElementsAre(8));
}

}  // namespace
}  // namespace tenon
