#include "weights/model_weights.h"

#include <functional>

#include "base/file.h"
#include "weights/attribute_tensor.h"
#include "weights/source_names.h"
#include "wire/external_data.h"
#include "wire/onnx_tensor.h"

namespace tenon {

namespace {

class ModelWeights final : public WeightSource {
 public:
  static Result<std::unique_ptr<WeightSource>> open(const std::string& path) {
    std::unique_ptr<ModelWeights> self(new ModelWeights());
    self->path_ = path;
    TN_ASSIGN_OR_RETURN(self->file_, MappedFile::open(path));
    auto model = wire::parse_model(self->file_->view());
    if (!model.ok()) return std::move(model).status().in(path);
    self->model_ = std::move(*model);
    TN_ASSIGN_OR_RETURN(self->external_, wire::FolderExternalData::of_model(path));
    const SourceNames names(self->model_);
    for (const NamedWeight& weight : names.weights()) self->add(weight);
    return std::unique_ptr<WeightSource>(std::move(self));
  }

  std::string where() const override { return path_; }
  std::vector<std::string> names() const override {
    std::vector<std::string> result;
    for (const auto& [name, weight] : weights_) result.push_back(name);
    return result;
  }
  std::optional<Description> find(const std::string& name) const override {
    const auto it = weights_.find(name);
    return it == weights_.end() ? std::nullopt : std::optional(it->second.description);
  }
  Result<Tensor> read(const std::string& name) const override {
    const auto it = weights_.find(name);
    if (it == weights_.end()) return error(Code::NotFound, "{} has no weight '{}'", path_, name);
    auto tensor = it->second.load();
    if (tensor.ok()) return tensor;
    return std::move(tensor).status().in(path_);
  }
  std::optional<FilePlace> place(const std::string& name) const override {
    const auto it = weights_.find(name);
    return it == weights_.end() ? std::nullopt : it->second.place;
  }

  std::vector<Node> nodes() const override {
    std::vector<Node> result;
    add_nodes(model_.graph, result);
    return result;
  }

 private:
  static std::optional<Attribute> plain_value(const wire::Attribute& attribute) {
    if (!attribute.ref_attr_name.empty()) return std::nullopt;
    switch (attribute.type) {
      case wire::AttributeType::Float:
        return attribute.f;
      case wire::AttributeType::Int:
        return attribute.i;
      case wire::AttributeType::String:
        return std::string(attribute.s);
      case wire::AttributeType::Ints:
        return attribute.ints;
      default:
        return std::nullopt;
    }
  }
  static void add_nodes(const wire::Graph& graph, std::vector<Node>& result) {
    for (const wire::Node& node : graph.nodes) {
      Node& made = result.emplace_back(Node{readable_name(node), std::string(node.op_type), {}});
      for (const wire::Attribute& attribute : node.attributes)
        if (auto value = plain_value(attribute)) made.attributes.emplace(attribute.name, std::move(*value));
      for (const wire::Attribute& attribute : node.attributes)
        for (const auto& body : attribute.graphs) add_nodes(*body, result);
    }
  }

  struct Weight {
    Description description;
    std::function<Result<Tensor>()> load;
    std::optional<FilePlace> place;
  };

  void add(const NamedWeight& weight) {
    if (weight.tensor) return add_tensor(weight, *weight.tensor);
    if (weight.sparse) return add_sparse(weight, *weight.sparse);
    switch (weight.attribute->type) {
      case wire::AttributeType::Tensor:
        return add_tensor(weight, weight.attribute->tensors[0]);
      case wire::AttributeType::SparseTensor:
        return add_sparse(weight, weight.attribute->sparse_tensors[0]);
      default:
        return add_small(weight, attribute_tensor(*weight.attribute));
    }
  }
  void add_tensor(const NamedWeight& weight, const wire::TensorProto& proto) {
    const auto dtype = dtype_from_onnx(proto.data_type);
    if (!dtype) return;
    const auto load = [this, &proto] { return wire::decode_tensor(proto, file_, external_.get()); };
    weights_.emplace(weight.name,
                     Weight{{*dtype, proto.dims, weight.certain}, load, place_of(proto, path_, file_->view())});
  }
  void add_sparse(const NamedWeight& weight, const wire::SparseTensorProto& proto) {
    const auto dtype = dtype_from_onnx(proto.values.data_type);
    if (!dtype) return;
    const auto load = [this, &proto] { return wire::densify(proto, file_, external_.get(), kMostDenseBytes); };
    weights_.emplace(weight.name, Weight{{*dtype, proto.dims, weight.certain}, load, {}});
  }
  void add_small(const NamedWeight& weight, const Tensor& tensor) {
    weights_.emplace(
        weight.name,
        Weight{{tensor.dtype(), tensor.dims(), weight.certain}, [tensor] { return Result<Tensor>(tensor); }, {}});
  }

  std::string path_;
  std::shared_ptr<const MappedFile> file_;
  wire::Model model_;
  std::shared_ptr<wire::FolderExternalData> external_;
  std::map<std::string, Weight> weights_;
};

}  // namespace

Result<std::unique_ptr<WeightSource>> open_model_weights(const std::string& path) { return ModelWeights::open(path); }

}  // namespace tenon
