// Inputs that point into something or name something: they must stay inside it.
#include "trials/inputs/accepted_rules.h"
#include "ops/group_query_attention.h"

namespace tenon {

namespace {

// The smallest of the extents that the last axis of an index tensor addresses.
Accepted tuple_index(const ConsumerView& c, size_t data, size_t indices, int64_t first_axis) {
  std::optional<int64_t> smallest;
  const int64_t tuple = c.extent(indices, -1).value_or(1);
  for (int64_t k = 0; k < tuple; ++k) {
    const auto extent = c.extent(data, first_axis + k);
    if (!extent) return index_into(std::nullopt);
    smallest = std::min(smallest.value_or(*extent), *extent);
  }
  return index_into(smallest);
}

// Lengths of sequences that use the whole past, and positions that are in the tables.
Accepted sequence_lengths(const ConsumerView& c, size_t i) {
  const int64_t total = c.extent(kGqaPastKey, 2).value_or(0) + c.extent(kGqaQuery, 1).value_or(1);
  const double exactly = static_cast<double>(i == kGqaSeqlens ? total - 1 : total);
  if (i == kGqaSeqlens || i == kGqaTotal) return Accepted::range(exactly, exactly);
  return i == kGqaPositions ? Accepted::range(0, 0) : Accepted{};
}

// Data that elements are taken from along an axis: where that is a constant column, only this column.
Accepted gathered_data(const ConsumerView& c, int64_t axis) {
  const auto column = c.constant(1);
  const auto rank = c.rank(0);
  if (!column || !rank || (axis < 0 ? axis + *rank : axis) != *rank - 1 || *rank < 2) return moved(c);
  const int64_t width = c.extent(0, -1).value_or(0);
  // The model may say anything; what no column is leads to an error when it runs.
  if (!(*column >= static_cast<double>(-width) && *column < static_cast<double>(width))) return moved(c);
  const int64_t index = static_cast<int64_t>(*column) + (*column < 0 ? width : 0);
  Accepted accepted;
  accepted.columns.emplace(index, moved(c));
  accepted.columns.begin()->second.columns.clear();
  return accepted;
}

Accepted known_words(const ConsumerView& c, const char* words, const char* numbers) {
  Accepted accepted;
  accepted.words = c.words_param(words);
  accepted.numbers = c.integers_param(numbers);
  return accepted;
}

}  // namespace

std::optional<Accepted> accepted_as_index(const ConsumerView& c, size_t i) {
  switch (c.node.op) {
    case OpId::Gather:
      if (i == 0) return gathered_data(c, c.integer_param("axis", 0));
      [[fallthrough]];
    case OpId::GatherElements:
      return i == 0 ? moved(c) : index_into(c.extent(0, c.integer_param("axis", 0)));
    case OpId::GatherND:
      return i == 0 ? moved(c) : tuple_index(c, 0, 1, c.integer_param("batch_dims", 0));
    case OpId::ScatterElements:
      return i != 1 ? moved(c) : index_into(c.extent(0, c.integer_param("axis", 0)));
    case OpId::ScatterND:
      return i != 1 ? moved(c) : tuple_index(c, 0, 1, 0);
    case OpId::TensorScatter:
      return i < 2 ? moved(c) : Accepted::range(0, 0);
    case OpId::ArrayFeatureExtractor:
      return i == 0 ? gathered_data(c, -1) : index_into(c.extent(0, -1));
    case OpId::OneHot: {
      const auto depth = c.constant(1);
      if (i == 0) return index_into(depth ? static_cast<int64_t>(*depth) : 1);
      return i == 1 ? Accepted::range(1, 8) : Accepted{};
    }
    case OpId::NegativeLogLikelihoodLoss:
    case OpId::SoftmaxCrossEntropyLoss:
      return i == 1 ? index_into(c.extent(0, 1)) : Accepted{};
    case OpId::RotaryEmbedding:
    case OpId::MRotaryEmbedding:
      return i == 3 ? index_into(c.extent(1, 0)) : Accepted{};
    case OpId::GroupQueryAttention:
      return sequence_lengths(c, i);
    case OpId::AttentionBias:
      return i == 3 ? Accepted::range(0, 1) : Accepted{};
    case OpId::KeyValueCache:
      return i >= 2 ? Accepted::range(0, 0) : moved(c);
    case OpId::NonMaxSuppression:
      return i == 2 ? Accepted::range(1, 4) : i > 2 ? Accepted::range(0, 0.9) : Accepted{};
    case OpId::RoiAlign:
      return i == 2 ? index_into(c.extent(0, 0)) : Accepted{};
    case OpId::MaxUnpool:
      return i == 1 ? Accepted::range(0, 0) : Accepted{};
    case OpId::ReverseSequence:
      return i == 0 ? moved(c) : count_up_to(c.extent(0, c.integer_param("time_axis", 0)));
    case OpId::LSTM:
    case OpId::GRU:
    case OpId::RNN:
      return i == 4 ? count_up_to(c.extent(0, c.integer_param("layout", 0))) : Accepted{};
    case OpId::TopK:
      return i == 0 ? moved(c) : count_up_to(c.extent(0, c.integer_param("axis", -1)));
    case OpId::SequenceAt:
    case OpId::SequenceErase:
      return i == 1 ? Accepted::range(0, 0) : moved(c);
    case OpId::SequenceInsert:
      return i == 2 ? Accepted::range(0, 0) : moved(c);
    case OpId::LabelEncoder:
      return known_words(c, "keys_tensor", "keys_tensor");
    case OpId::OneHotEncoder:
      return known_words(c, "cats_strings", "cats_int64s");
    case OpId::DictVectorizer:
      return known_words(c, "string_vocabulary", "int64_vocabulary");
    default:
      return std::nullopt;
  }
}

}  // namespace tenon
