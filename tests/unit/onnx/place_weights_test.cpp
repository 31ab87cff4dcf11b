#include "onnx/place_weights.h"

#include <gmock/gmock.h>

#include <numeric>

#include "unit/onnx/model_maker.h"
#include "wire/proto_writer.h"

namespace tenon {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// One file, "weights", of bytes that all differ from their neighbours.
class OneFile final : public wire::ExternalData {
 public:
  OneFile() : content_(1 << 14, '\0') { std::iota(content_.begin(), content_.end(), '\0'); }
  Result<Region> read(wire::Bytes location, int64_t offset, int64_t length) override {
    if (location != "weights") return error(Code::NotFound, "no file '{}'", location);
    return Region{part(offset, length), std::shared_ptr<const void>(this, [](const void*) {})};
  }
  std::string_view part(int64_t offset, int64_t length) const {
    return std::string_view(content_).substr(static_cast<size_t>(offset), static_cast<size_t>(length));
  }

 private:
  std::string content_;
};

struct Placing {
  ModelMaker maker{21};
  std::shared_ptr<OneFile> file = std::make_shared<OneFile>();
  ExportedModel exported;

  wire::TensorProto in_file(std::string_view name, int64_t elements, int64_t offset) {
    return maker.messages.make_tensor_external(name, DType::Float32, std::vector<int64_t>{elements}, "weights", offset,
                                               4 * elements);
  }
  PlacedWeights place(const PlaceOptions& options) {
    exported.model = maker.model();
    auto placed = place_weights(exported, nullptr, file, options);
    EXPECT_TRUE(placed.ok()) << placed.status().to_string();
    return placed.ok() ? *placed : PlacedWeights();
  }
  const wire::TensorProto& initializer(size_t i) const { return exported.model.graph.initializers[i]; }
};

std::string joined(const std::vector<std::string_view>& pieces) {
  std::string all;
  for (std::string_view piece : pieces) all += piece;
  return all;
}

// Where a tensor says that its elements are in the data file.
std::string_view in_data(const std::string& data, const wire::TensorProto& tensor) {
  const auto region = wire::external_region(tensor);
  EXPECT_TRUE(region.ok() && region->location == "net.data");
  return std::string_view(data).substr(static_cast<size_t>(region->offset), static_cast<size_t>(region->length));
}

const PlaceOptions kOutside{"net.data", false, 0};

TEST(PlaceWeights, WhatFitsGoesInside) {
  Placing test;
  test.maker.graph().initializers = {test.in_file("a", 512, 64), test.in_file("b", 2, 0)};
  const PlacedWeights placed = test.place({"net.data", false});
  EXPECT_THAT(placed.data, IsEmpty());
  EXPECT_EQ(test.initializer(0).raw_data, test.file->part(64, 2048));
  EXPECT_EQ(test.initializer(1).raw_data, test.file->part(0, 8));
  for (const wire::TensorProto& tensor : test.exported.model.graph.initializers) {
    EXPECT_FALSE(tensor.is_external);
    EXPECT_THAT(tensor.external_data, IsEmpty());
  }
}

TEST(PlaceWeights, TheRestGoesToTheDataFile) {
  Placing test;
  test.maker.initializer<float>("inside", {300}, std::vector<float>(300, 1.5f));
  test.maker.graph().initializers.push_back(test.in_file("a", 257, 4));
  test.maker.graph().initializers.push_back(test.in_file("b", 512, 8));
  test.maker.graph().initializers.push_back(test.in_file("small", 256, 8));
  const PlacedWeights placed = test.place(kOutside);
  const std::string data = joined(placed.data);
  EXPECT_EQ(data.size(), placed.data_bytes);
  const std::vector<float> ones(300, 1.5f);
  EXPECT_EQ(in_data(data, test.initializer(0)), std::string_view(reinterpret_cast<const char*>(ones.data()), 1200));
  EXPECT_EQ(in_data(data, test.initializer(1)), test.file->part(4, 1028));
  EXPECT_EQ(in_data(data, test.initializer(2)), test.file->part(8, 2048));
  EXPECT_EQ(test.initializer(3).raw_data, test.file->part(8, 1024));
  for (size_t i = 0; i < 3; ++i) {
    const auto region = wire::external_region(test.initializer(i));
    EXPECT_EQ(region->offset % 64, 0);
    EXPECT_EQ(placed.external->read("net.data", region->offset, region->length)->bytes,
              in_data(data, test.initializer(i)));
  }
}

TEST(PlaceWeights, OneRegionIsStoredOnce) {
  Placing test;
  test.maker.graph().initializers = {test.in_file("a", 512, 0), test.in_file("same", 512, 0),
                                     test.in_file("b", 512, 4)};
  const PlacedWeights placed = test.place({"net.data", false});
  EXPECT_EQ(placed.data_bytes, 4096u);
  const std::string data = joined(placed.data);
  EXPECT_EQ(in_data(data, test.initializer(0)).data(), in_data(data, test.initializer(1)).data());
  EXPECT_EQ(in_data(data, test.initializer(2)), test.file->part(4, 2048));
}

TEST(PlaceWeights, DataFilesMayStay) {
  Placing test;
  test.maker.initializer<float>("inside", {300}, std::vector<float>(300, 1.5f));
  test.maker.graph().initializers.push_back(test.in_file("a", 512, 0));
  EXPECT_THAT(test.place({"net.data", true}).data, IsEmpty());
  EXPECT_EQ(test.initializer(0).raw_data->size(), 1200u);
  const PlacedWeights placed = test.place({"net.data", true, 600});
  EXPECT_EQ(placed.data_bytes, 1200u);
  EXPECT_EQ(wire::external_region(test.initializer(1))->location, "weights");
  EXPECT_EQ(placed.external->read("weights", 0, 4)->bytes, test.file->part(0, 4));
}

TEST(PlaceWeights, TypedDataMovesAndTheRestOfTheMessageStays) {
  Placing test;
  const std::vector<float> elements(300, 2.5f);
  const std::string_view bytes(reinterpret_cast<const char*>(elements.data()), 1200);
  constexpr uint32_t kFloatData = 4, kDoc = 12;
  wire::MessageWriter fields, doc;
  fields.add_bytes(kFloatData, bytes);
  doc.add_bytes(kDoc, "about it");
  wire::TensorProto tensor = test.maker.messages.make_tensor_raw("t", DType::Float32, std::vector<int64_t>{300}, {});
  tensor.raw_data.reset();
  tensor.other = {test.maker.messages.keep(fields.to_string()), test.maker.messages.keep(doc.to_string())};
  test.maker.graph().initializers = {tensor};
  const PlacedWeights placed = test.place(kOutside);
  EXPECT_EQ(in_data(joined(placed.data), test.initializer(0)), bytes);
  EXPECT_EQ(test.initializer(0).other, wire::Pieces{doc.to_string()});
}

TEST(PlaceWeights, BodiesAreNotSharedAnyMore) {
  Placing test;
  auto body = std::make_shared<wire::Graph>();
  body->initializers = {test.in_file("inner", 512, 0)};
  test.maker.node("If", {"c"}, {"y"}, {test.maker.messages.make_graph("then_branch", body)});
  test.maker.graph().nodes[0].raw = "as it was read";
  const PlacedWeights placed = test.place(kOutside);
  EXPECT_THAT(placed.data, SizeIs(1));
  const wire::Node& node = test.exported.model.graph.nodes[0];
  EXPECT_EQ(node.raw.data(), nullptr);
  EXPECT_EQ(in_data(joined(placed.data), node.attributes[0].graphs[0]->initializers[0]), test.file->part(0, 2048));
  EXPECT_EQ(wire::external_region(body->initializers[0])->location, "weights");
}

TEST(PlaceWeights, MissingElementsAreAnError) {
  Placing test;
  test.maker.graph().initializers = {
      test.maker.messages.make_tensor_external("gone", DType::Float32, std::vector<int64_t>{512}, "nowhere", 0, 2048)};
  test.exported.model = test.maker.model();
  const auto placed = place_weights(test.exported, nullptr, test.file, kOutside);
  ASSERT_FALSE(placed.ok());
  EXPECT_THAT(placed.status().to_string(), ::testing::HasSubstr("gone"));
}

}  // namespace
}  // namespace tenon
