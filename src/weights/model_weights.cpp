#include "weights/model_weights.h"

#include <functional>

#include "base/file.h"
#include "weights/source_names.h"
#include "wire/external_data.h"
#include "wire/onnx_tensor.h"

namespace tenon {

namespace {

constexpr int64_t kMaxDenseBytes = int64_t{1} << 31;

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
    self->add_graph("", self->model_.graph);
    for (const wire::Function& function : self->model_.functions)
      self->add_nodes(function_scope(function), function.nodes);
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

 private:
  struct Weight {
    Description description;
    std::function<Result<Tensor>()> load;
    std::optional<FilePlace> place;
  };

  void add(std::string name, int64_t data_type, const std::vector<int64_t>& dims, std::function<Result<Tensor>()> load,
           std::optional<FilePlace> place = std::nullopt) {
    const auto dtype = dtype_from_onnx(data_type);
    if (!dtype) return;
    weights_.try_emplace(std::move(name), Weight{{*dtype, dims, true}, std::move(load), std::move(place)});
  }
  void add_tensor(std::string name, const wire::TensorProto& proto) {
    add(
        std::move(name), proto.data_type, proto.dims,
        [this, &proto] { return wire::decode_tensor(proto, file_, external_.get()); },
        place_of(proto, path_, file_->view()));
  }
  void add_sparse(std::string name, const wire::SparseTensorProto& proto) {
    add(std::move(name), proto.values.data_type, proto.dims,
        [this, &proto] { return wire::densify(proto, file_, external_.get(), kMaxDenseBytes); });
  }
  void add_small(std::string name, const Tensor& tensor, bool certain) {
    Description description{tensor.dtype(), tensor.dims(), certain};
    weights_.try_emplace(std::move(name),
                         Weight{std::move(description), [tensor] { return Result<Tensor>(tensor); }, {}});
  }

  void add_graph(const std::string& scope, const wire::Graph& graph) {
    for (const auto& tensor : graph.initializers) add_tensor(source_name(scope, tensor.name), tensor);
    for (const auto& tensor : graph.sparse_initializers) add_sparse(source_name(scope, tensor.values.name), tensor);
    add_nodes(scope, graph.nodes);
  }

  void add_nodes(const std::string& scope, const std::vector<wire::Node>& nodes) {
    for (const wire::Node& node : nodes) {
      const bool is_constant = node.op_type == "Constant" && node.outputs.size() == 1;
      for (const wire::Attribute& attribute : node.attributes) {
        const std::string within = attribute_name(scope, readable_name(node), attribute.name);
        add_attribute(is_constant ? source_name(scope, node.outputs[0]) : within, attribute, is_constant);
        for (const auto& graph : attribute.graphs)
          if (graph) add_graph(within, *graph);
      }
    }
  }

  // Lists are one-dimensional; single numbers are weights of Constant nodes only.
  void add_attribute(std::string name, const wire::Attribute& a, bool is_constant) {
    if (!a.ref_attr_name.empty()) return;
    const auto length = [](const auto& list) { return std::vector<int64_t>{static_cast<int64_t>(list.size())}; };
    switch (a.type) {
      case wire::AttributeType::Tensor:
        if (!a.tensors.empty()) add_tensor(std::move(name), a.tensors[0]);
        break;
      case wire::AttributeType::SparseTensor:
        if (!a.sparse_tensors.empty()) add_sparse(std::move(name), a.sparse_tensors[0]);
        break;
      case wire::AttributeType::Floats:
        add_small(std::move(name), Tensor::of<float>(length(a.floats), a.floats), is_constant);
        break;
      case wire::AttributeType::Ints:
        add_small(std::move(name), Tensor::of_ints(a.ints), is_constant);
        break;
      case wire::AttributeType::Float:
        if (is_constant) add_small(std::move(name), Tensor::of<float>({}, std::span(&a.f, 1)), true);
        break;
      case wire::AttributeType::Int:
        if (is_constant) add_small(std::move(name), Tensor::scalar(a.i), true);
        break;
      default:
        break;
    }
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
