#include "onnx/place_weights.h"

#include <array>
#include <map>
#include <set>
#include <tuple>

#include "wire/onnx_tensor.h"

namespace tenon {

namespace {

// Vector instructions and pages: whoever maps the file reads weights in place.
constexpr int64_t kAlignment = 64, kPageBytes = 4096, kPagedFrom = 1 << 20;

// A data file that is not written yet.
class DataFile final : public wire::ExternalData {
 public:
  DataFile(std::string name, std::shared_ptr<wire::ExternalData> others)
      : name_(std::move(name)), others_(std::move(others)) {}

  int64_t add(wire::Bytes elements) {
    static constexpr std::array<char, kPageBytes> kZeros{};
    const int64_t step = static_cast<int64_t>(elements.size()) < kPagedFrom ? kAlignment : kPageBytes;
    const int64_t padding = (step - size_ % step) % step;
    if (padding) pieces_.emplace_back(kZeros.data(), static_cast<size_t>(padding));
    const int64_t offset = size_ + padding;
    pieces_.push_back(elements);
    regions_.emplace(offset, elements);
    size_ = offset + static_cast<int64_t>(elements.size());
    return offset;
  }

  Result<Region> read(wire::Bytes location, int64_t offset, int64_t length) override {
    if (location == name_) {
      // The pieces are kept by whoever writes them.
      if (const auto it = regions_.find(offset); it != regions_.end())
        return Region{it->second, std::shared_ptr<const void>(it->second.data(), [](const void*) {})};
    } else if (others_) {
      return others_->read(location, offset, length);
    }
    return error(Code::NotFound, "no weights are at byte {} of '{}'", offset, location);
  }

  const std::string& name() const { return name_; }
  const std::vector<std::string_view>& pieces() const { return pieces_; }
  int64_t size() const { return size_; }

 private:
  std::string name_;
  std::shared_ptr<wire::ExternalData> others_;
  std::vector<std::string_view> pieces_;
  std::map<int64_t, wire::Bytes> regions_;
  int64_t size_ = 0;
};

// Every tensor of a list of nodes, also those in bodies. is_weight: it is an initializer.
template <class Visit>
void for_each_tensor(const std::vector<wire::Node>& nodes, const Visit& visit);

template <class Visit>
void for_each_tensor(const wire::Graph& graph, const Visit& visit) {
  for (const wire::TensorProto& tensor : graph.initializers) visit(tensor, true);
  for (const wire::SparseTensorProto& sparse : graph.sparse_initializers) {
    visit(sparse.values, false);
    visit(sparse.indices, false);
  }
  for_each_tensor(graph.nodes, visit);
}

template <class Visit>
void for_each_tensor(const std::vector<wire::Node>& nodes, const Visit& visit) {
  for (const wire::Node& node : nodes)
    for (const wire::Attribute& attribute : node.attributes) {
      for (const wire::TensorProto& tensor : attribute.tensors) visit(tensor, false);
      for (const auto& body : attribute.graphs) for_each_tensor(*body, visit);
    }
}

class Placing {
 public:
  Placing(ExportedModel& exported, const std::shared_ptr<const void>& bytes,
          std::shared_ptr<wire::ExternalData> external, const PlaceOptions& options)
      : exported_(exported), bytes_(bytes), external_(std::move(external)), options_(options),
        file_(std::make_shared<DataFile>(options.data_file, external_)) {}

  Result<PlacedWeights> run() {
    wire::Model& model = exported_.model;
    TN_ASSIGN_OR_RETURN(moves_, must_move());
    TN_RETURN_IF_ERROR(place(model.graph));
    for (wire::Function& function : model.functions) {
      TN_ASSIGN_OR_RETURN(const bool changed, place(function.nodes));
      if (changed) function.raw = {};
    }
    PlacedWeights placed{file_->pieces(), static_cast<uint64_t>(file_->size()), external_};
    if (!placed.data.empty()) placed.external = file_;
    return placed;
  }

 private:
  using RegionKey = std::tuple<std::string, int64_t, int64_t>;

  static Result<RegionKey> key_of(const wire::TensorProto& tensor) {
    TN_ASSIGN_OR_RETURN(const wire::ExternalRegion region, wire::external_region(tensor));
    return RegionKey{std::string(region.location), region.offset, region.length};
  }

  // Whether the model's file would get too large with all its weights inside, or could not say that two are one.
  Result<bool> must_move() {
    uint64_t file_bytes = wire::encoded_bytes(exported_.model);
    std::set<RegionKey> regions;
    bool are_shared = false;
    Status status;
    const auto add = [&](const wire::TensorProto& tensor, bool) {
      if (!tensor.is_external || options_.external_stays || !status.ok()) return;
      auto elements = wire::decode_tensor(tensor, bytes_, external_.get());
      auto key = key_of(tensor);
      if (!elements.ok() || !key.ok()) {
        status = elements.ok() ? std::move(key).status() : std::move(elements).status();
        return;
      }
      file_bytes += static_cast<uint64_t>(elements->bytes());
      if (elements->bytes() > kMostInlineBytes && !regions.insert(*key).second) are_shared = true;
    };
    for_each_tensor(exported_.model.graph, add);
    for (const wire::Function& function : exported_.model.functions) for_each_tensor(function.nodes, add);
    TN_RETURN_IF_ERROR(status);
    return are_shared || file_bytes > options_.most_file_bytes;
  }

  bool is_placed(const wire::TensorProto& tensor, bool is_weight) const {
    if (tensor.is_external) return !options_.external_stays;
    return moves_ && is_weight && tensor.data_type != static_cast<int64_t>(DType::String);
  }

  bool has_placed(const wire::Attribute& attribute) const {
    bool found = false;
    const auto look = [&](const wire::TensorProto& tensor, bool is_weight) { found |= is_placed(tensor, is_weight); };
    for (const wire::TensorProto& tensor : attribute.tensors) look(tensor, false);
    for (const auto& body : attribute.graphs) for_each_tensor(*body, look);
    return found;
  }

  Status place(wire::Graph& graph) {
    for (wire::TensorProto& tensor : graph.initializers)
      if (is_placed(tensor, true)) TN_RETURN_IF_ERROR(place(tensor));
    for (wire::SparseTensorProto& sparse : graph.sparse_initializers)
      for (wire::TensorProto* tensor : {&sparse.values, &sparse.indices}) {
        if (!is_placed(*tensor, false)) continue;
        TN_RETURN_IF_ERROR(place(*tensor));
        sparse.raw = {};
      }
    return place(graph.nodes).status();
  }

  Result<bool> place(std::vector<wire::Node>& nodes) {
    bool changed = false;
    for (wire::Node& node : nodes)
      for (wire::Attribute& attribute : node.attributes) {
        if (!has_placed(attribute)) continue;
        node.raw = attribute.raw = {};
        changed = true;
        for (wire::TensorProto& tensor : attribute.tensors)
          if (is_placed(tensor, false)) TN_RETURN_IF_ERROR(place(tensor));
        // Bodies are shared with the model that was read.
        for (auto& body : attribute.graphs) {
          body = std::make_shared<wire::Graph>(*body);
          TN_RETURN_IF_ERROR(place(*body));
        }
      }
    return changed;
  }

  Status place(wire::TensorProto& tensor) {
    TN_ASSIGN_OR_RETURN(Tensor decoded, wire::decode_tensor(tensor, bytes_, external_.get()));
    const auto size = static_cast<size_t>(decoded.bytes());
    const bool stays_inside = !moves_ || decoded.bytes() <= kMostInlineBytes;
    if (stays_inside && !tensor.is_external) return {};
    // The messages and the pieces refer to the elements.
    const Tensor& kept = exported_.memory.tensors.emplace_back(std::move(decoded));
    const wire::Bytes elements(size ? static_cast<const char*>(kept.data()) : "", size);
    if (stays_inside) {
      wire::remove_elements(tensor);
      tensor.raw_data = elements;
      return {};
    }
    TN_ASSIGN_OR_RETURN(const int64_t offset, offset_of(tensor, elements));
    wire::remove_elements(tensor);
    tensor.is_external = true;
    wire::MessageBuilder& messages = exported_.memory.messages;
    tensor.external_data = {messages.make_entry("location", file_->name()),
                            messages.make_entry("offset", std::to_string(offset)),
                            messages.make_entry("length", std::to_string(elements.size()))};
    return {};
  }

  // In the data file, where each region of another one comes once.
  Result<int64_t> offset_of(const wire::TensorProto& tensor, wire::Bytes elements) {
    if (!tensor.is_external) return file_->add(elements);
    TN_ASSIGN_OR_RETURN(const RegionKey key, key_of(tensor));
    const auto [it, is_new] = offsets_.try_emplace(key, 0);
    if (is_new) it->second = file_->add(elements);
    return it->second;
  }

  ExportedModel& exported_;
  const std::shared_ptr<const void>& bytes_;
  std::shared_ptr<wire::ExternalData> external_;
  const PlaceOptions& options_;
  std::shared_ptr<DataFile> file_;
  std::map<RegionKey, int64_t> offsets_;  // in the data file
  bool moves_ = false;                    // weights of some size go to the data file
};

}  // namespace

Result<PlacedWeights> place_weights(ExportedModel& exported, const std::shared_ptr<const void>& bytes,
                                    std::shared_ptr<wire::ExternalData> external, const PlaceOptions& options) {
  return Placing(exported, bytes, std::move(external), options).run();
}

}  // namespace tenon
