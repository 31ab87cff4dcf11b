#include "onnx/import.h"

#include "base/file.h"
#include "evaluate/evaluate.h"
#include "onnx/expanded_size.h"
#include "onnx/graph_importer.h"
#include "onnx/model_header.h"
#include "wire/external_data.h"
#include "wire/onnx_build.h"

namespace tenon {

Type type_from_proto(const wire::TypeProto& proto, int& fresh) {
  using Kind = wire::TypeProto::Kind;
  auto element = [&] { return proto.element ? type_from_proto(*proto.element, fresh) : Type{}; };
  switch (proto.kind) {
    case Kind::Tensor:
    case Kind::Sparse: {
      std::optional<Shape> shape;
      if (proto.shape) {
        shape.emplace();
        for (size_t i = 0; i < proto.shape->size(); ++i) {
          const wire::DimensionProto& d = (*proto.shape)[i];
          // A negative extent is how some exporters write "unknown".
          if (d.value && *d.value >= 0)
            shape->emplace_back(*d.value);
          else if (d.param && !d.param->empty())
            shape->push_back(Dim::symbol(std::string(*d.param)));
          else
            shape->push_back(Dim::symbol("?" + std::to_string(fresh++)));
        }
      }
      Type type = Type::tensor(dtype_from_onnx(proto.elem_type).value_or(DType::Undefined), std::move(shape));
      type.sparse = proto.kind == Kind::Sparse;
      return type;
    }
    case Kind::Sequence:
      return Type::sequence(element());
    case Kind::Optional:
      return Type::optional(element());
    case Kind::Map:
      return Type::map(dtype_from_onnx(proto.key_type).value_or(DType::Undefined), element());
    default:
      return Type{};
  }
}

std::optional<int64_t> unknown_element_type(const wire::TypeProto& proto) {
  for (int64_t number : {proto.elem_type, proto.key_type})
    if (number != 0 && !dtype_from_onnx(number)) return number;
  return proto.element ? unknown_element_type(*proto.element) : std::nullopt;
}

void ModelImport::warn(const std::string& text) {
  if (warned.insert(text).second) model.warnings.push_back(text);
}

namespace {

Status build_graph(ImportedModel& model) {
  if (!model.wire.has_graph) return invalid_model("the file has no graph; is it an ONNX model?");
  TN_RETURN_IF_ERROR(check_ir_version(model.wire.ir_version));
  ModelImport state{model, model.options};
  TN_ASSIGN_OR_RETURN(model.opsets, read_opsets(model.wire.opsets, state));
  TN_ASSIGN_OR_RETURN(state.functions, read_functions(model.wire.functions));
  model.graph.constants->evaluate = evaluate;
  GraphImporter importer(state, model.graph, nullptr, model.opsets, nullptr);
  TN_RETURN_IF_ERROR(check_expanded_size(model.wire.graph, state));
  TN_RETURN_IF_ERROR(importer.import_graph(model.wire.graph, {}, true));
  if (const LeftOutNodes& left_out = state.without_outputs; left_out.count == 1)
    model.warnings.push_back(fmt::format("{} has no outputs and is ignored", left_out.first));
  else if (left_out.count > 1)
    model.warnings.push_back(
        fmt::format("{} nodes have no outputs and are ignored; the first is {}", left_out.count, left_out.first));
  return {};
}

// Whoever writes the model writes what the caller gave.
void use_given_weights(ImportedModel& model) {
  for (wire::TensorProto& proto : model.wire.graph.initializers) {
    const auto given = model.options.weights.find(std::string(proto.name));
    if (given == model.options.weights.end()) continue;
    const Tensor& tensor = given->second;
    // Others are refused when the graph is built.
    const bool fits = static_cast<int64_t>(tensor.dtype()) == proto.data_type && tensor.dims() == proto.dims;
    if (!fits || tensor.dtype() == DType::String) continue;
    wire::remove_elements(proto);
    proto.raw_data = tensor.size()
                         ? wire::Bytes(static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes()))
                         : wire::Bytes("");
  }
}

constexpr int64_t kLargeFile = int64_t{16} << 20;

wire::Loading loading_of(const ImportOptions& options) {
  return options.map_files ? wire::Loading::Map : wire::Loading::Copy;
}

}  // namespace

Result<std::shared_ptr<ImportedModel>> import_bytes(std::string_view bytes, std::shared_ptr<const void> owner,
                                                    const std::string& external_folder, const ImportOptions& options) {
  auto model = std::make_shared<ImportedModel>();
  model->bytes = std::move(owner);
  model->folder = external_folder;
  model->file = bytes;
  model->options = options;
  TN_ASSIGN_OR_RETURN(model->wire, wire::parse_model(bytes, options.parse));
  use_given_weights(*model);
  if (!external_folder.empty()) {
    TN_ASSIGN_OR_RETURN(model->external, wire::FolderExternalData::in_folder(external_folder, loading_of(options)));
  }
  if (options.wrap_external) model->external = options.wrap_external(std::move(model->external));
  TN_RETURN_IF_ERROR(build_graph(*model));
  return model;
}

Result<std::shared_ptr<ImportedModel>> open_file(const std::string& path, const ImportOptions& options) {
  auto model = std::make_shared<ImportedModel>();
  model->path = path;
  model->options = options;
  std::string_view bytes;
  std::shared_ptr<const MappedFile> mapped;
  if (options.map_files) {
    TN_ASSIGN_OR_RETURN(mapped, MappedFile::open(path));
    bytes = mapped->view();
    model->bytes = mapped;
  } else {
    TN_ASSIGN_OR_RETURN(auto copy, read_whole_file(path));
    bytes = {reinterpret_cast<const char*>(copy->data()), static_cast<size_t>(copy->size())};
    model->bytes = std::move(copy);
  }
  model->file = bytes;
  // Between the messages lie weights, which the system must not read in advance.
  const bool has_weights = mapped && mapped->size() >= kLargeFile;
  if (has_weights) mapped->advise(Access::Random, 0, mapped->size());
  auto parsed = wire::parse_model(bytes, options.parse);
  if (has_weights) mapped->advise(Access::Normal, 0, mapped->size());
  if (!parsed.ok()) return std::move(parsed).status().in(path);
  model->wire = std::move(*parsed);
  use_given_weights(*model);
  auto external = wire::FolderExternalData::of_model(path, loading_of(options));
  if (!external.ok()) return std::move(external).status().in(path);
  model->external = std::move(*external);
  if (options.wrap_external) model->external = options.wrap_external(std::move(model->external));
  return model;
}

Status import_opened(ImportedModel& model) { return build_graph(model).in(model.path); }

Result<std::shared_ptr<ImportedModel>> import_file(const std::string& path, const ImportOptions& options) {
  TN_ASSIGN_OR_RETURN(auto model, open_file(path, options));
  TN_RETURN_IF_ERROR(import_opened(*model));
  return model;
}

Result<std::shared_ptr<ImportedModel>> import_again(const ImportedModel& model,
                                                    decltype(ImportOptions::replaced) replaced) {
  auto again = std::make_shared<ImportedModel>();
  again->bytes = model.bytes;
  again->file = model.file;
  again->path = model.path;
  again->folder = model.folder;
  again->external = model.external;
  again->options = model.options;
  again->options.replaced = std::move(replaced);
  TN_ASSIGN_OR_RETURN(again->wire, wire::parse_model(again->file, again->options.parse));
  use_given_weights(*again);
  TN_RETURN_IF_ERROR(build_graph(*again).in(model.path));
  return again;
}

}  // namespace tenon
