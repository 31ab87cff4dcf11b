#include <cstring>
#include <set>

#include "api/model_handle.h"
#include "base/file.h"
#include "tensor/canonical.h"
#include "wire/onnx_write.h"

using namespace tenon;

tn_model::tn_model(std::shared_ptr<ImportedModel> imported, std::shared_ptr<const ModelContent> hashes)
    : model(std::move(imported)), content(std::move(hashes)) {
  const wire::Model& w = model->wire;
  properties = {{"producer_name", std::string(w.producer_name)},
                {"producer_version", std::string(w.producer_version)},
                {"graph_name", std::string(w.graph.name)},
                {"domain", std::string(w.domain)},
                {"description", std::string(w.doc)},
                {"graph_description", std::string(w.graph.doc)},
                {"ir_version", std::to_string(w.ir_version)}};
  if (w.model_version) properties["version"] = std::to_string(*w.model_version);
  for (const wire::StringEntry& e : w.metadata) metadata.emplace_back(e.key, e.value);
  const Graph& graph = model->graph;
  for (const GraphInput& input : graph.inputs)
    input_types.push_back(api::make_type_handle(graph.value(input.value).type));
  for (ValueId output : graph.outputs())
    output_types.push_back(api::make_type_handle(output == kNone ? Type{} : graph.value(output).type));
  api::use_declared_names(*model, input_types, output_types);
}

namespace {

// External-data files that the caller has in memory; anything else comes from the folder, if there is one.
class MemoryFiles final : public wire::ExternalData {
 public:
  MemoryFiles(std::map<std::string, std::string_view> files, std::shared_ptr<wire::ExternalData> folder)
      : files_(std::move(files)), folder_(std::move(folder)) {}

  Result<Region> read(wire::Bytes location, int64_t offset, int64_t length) override {
    auto it = files_.find(std::string(location));
    if (it == files_.end()) {
      if (folder_) return folder_->read(location, offset, length);
      return error(Code::NotFound, "no file in memory is named '{}'", location);
    }
    const auto size = static_cast<int64_t>(it->second.size());
    if (length < 0 && offset >= 0 && offset <= size) length = size - offset;
    if (offset < 0 || length < 0 || offset > size || length > size - offset)
      return invalid_model("bytes {} to {} are outside '{}', which has {} bytes", offset, offset + length, location,
                           size);
    // The caller keeps the bytes alive; an owner that does nothing lets them be used without a copy.
    return Region{it->second.substr(static_cast<size_t>(offset), static_cast<size_t>(length)),
                  std::shared_ptr<const void>(it->second.data(), [](const void*) {})};
  }

 private:
  std::map<std::string, std::string_view> files_;
  std::shared_ptr<wire::ExternalData> folder_;
};

struct LoadOptions {
  ImportOptions import;
  std::string external_folder;
};

Result<LoadOptions> read_load_options(const tn_options* options) {
  LoadOptions load;
  api::OptionReader reader(options);
  reader.boolean("map", load.import.map_files);
  reader.boolean("freeze_inputs", load.import.freeze_inputs);
  std::map<std::string, int64_t> frozen;
  reader.integers_by_name("freeze_input", frozen);
  for (const auto& [name, chosen] : frozen)
    if (chosen) load.import.frozen.insert(name);
  reader.text("external_folder", load.external_folder);
  int64_t nesting = load.import.parse.max_nesting;
  reader.integer("max_nesting", nesting, 1);
  load.import.parse.max_nesting = static_cast<int>(std::min<int64_t>(nesting, kMostNesting));
  int64_t max_nodes = 0;
  reader.integer("max_nodes", max_nodes, 1);
  if (max_nodes > 0) load.import.max_nodes = max_nodes;
  TN_RETURN_IF_ERROR(reader.finish());
  for (const auto& [name, value] : options ? options->weights : std::map<std::string, Value>()) {
    TN_ASSIGN_OR_RETURN(Tensor tensor, canonical(*value.tensor(), nullptr));
    load.import.weights.emplace(name, std::move(tensor));
  }
  if (options && !options->files.empty())
    load.import.wrap_external = [files = options->files](std::shared_ptr<wire::ExternalData> folder) {
      return std::make_shared<MemoryFiles>(files, std::move(folder));
    };
  return load;
}

Status check_weight_names(const ImportOptions& options, const wire::Graph& graph) {
  std::set<std::string_view> names;
  for (const wire::TensorProto& t : graph.initializers) names.insert(t.name);
  for (const wire::SparseTensorProto& t : graph.sparse_initializers) names.insert(t.values.name);
  for (const auto& [name, tensor] : options.weights)
    if (!names.contains(name)) return error(Code::NotFound, "the model has no initializer named '{}'", name);
  return {};
}

}  // namespace

extern "C" {

tn_status* tn_model_load_file(tn_context*, const char* path, const tn_options* options, tn_model** model) {
  return api::guarded([&]() -> Status {
    if (!path || !model) return invalid_argument("path and model must not be NULL");
    TN_ASSIGN_OR_RETURN(LoadOptions load, read_load_options(options));
    const auto before = identity_of(path);
    TN_ASSIGN_OR_RETURN(auto imported, import_file(path, load.import));
    TN_RETURN_IF_ERROR(check_weight_names(load.import, imported->wire.graph));
    // A file that was replaced meanwhile may be the one that was read, or not.
    const auto identity = identity_of(path) == before ? before : std::nullopt;
    auto content = std::make_shared<ModelContent>(imported, identity);
    *model = new tn_model(std::move(imported), std::move(content));
    return {};
  });
}

tn_status* tn_model_load_memory(tn_context*, const void* data, size_t size, const tn_options* options,
                                tn_model** model) {
  return api::guarded([&]() -> Status {
    if (!model || (!data && size)) return invalid_argument("data and model must not be NULL");
    TN_ASSIGN_OR_RETURN(LoadOptions load, read_load_options(options));
    TN_ASSIGN_OR_RETURN(auto copy, Buffer::allocate(static_cast<int64_t>(size), nullptr));
    if (size) std::memcpy(copy->data(), data, size);
    const std::string_view bytes(reinterpret_cast<const char*>(copy->data()), size);
    TN_ASSIGN_OR_RETURN(auto imported, import_bytes(bytes, copy, load.external_folder, load.import));
    TN_RETURN_IF_ERROR(check_weight_names(load.import, imported->wire.graph));
    auto content = std::make_shared<ModelContent>(imported);
    *model = new tn_model(std::move(imported), std::move(content));
    return {};
  });
}

void tn_model_release(tn_model* model) { delete model; }

tn_status* tn_model_save(const tn_model* model, const char* path) {
  return api::guarded([&]() -> Status {
    if (!model || !path) return invalid_argument("model and path must not be NULL");
    TN_ASSIGN_OR_RETURN(auto encoded, wire::encode_model(model->model->wire));
    return write_file_atomically(path, encoded.pieces());
  });
}

tn_status* tn_model_to_memory(const tn_model* model, char** data, size_t* size) {
  return api::guarded([&]() -> Status {
    if (!model || !data || !size) return invalid_argument("model, data and size must not be NULL");
    TN_ASSIGN_OR_RETURN(std::string bytes, wire::write_model(model->model->wire));
    *data = api::copy_text(bytes);
    *size = bytes.size();
    return {};
  });
}

size_t tn_model_warning_count(const tn_model* model) { return model ? model->model->warnings.size() : 0; }
const char* tn_model_warning(const tn_model* model, size_t index) {
  return index < tn_model_warning_count(model) ? model->model->warnings[index].c_str() : nullptr;
}
const char* tn_model_property(const tn_model* model, const char* name) {
  if (!model || !name) return nullptr;
  auto it = model->properties.find(name);
  return it == model->properties.end() ? nullptr : it->second.c_str();
}
size_t tn_model_metadata_count(const tn_model* model) { return model ? model->metadata.size() : 0; }
const char* tn_model_metadata_key(const tn_model* model, size_t index) {
  return index < tn_model_metadata_count(model) ? model->metadata[index].first.c_str() : nullptr;
}
const char* tn_model_metadata_value(const tn_model* model, size_t index) {
  return index < tn_model_metadata_count(model) ? model->metadata[index].second.c_str() : nullptr;
}

size_t tn_model_input_count(const tn_model* model) { return model ? model->input_types.size() : 0; }
const char* tn_model_input_name(const tn_model* model, size_t index) {
  if (index >= tn_model_input_count(model)) return nullptr;
  const Graph& graph = model->model->graph;
  return graph.value(graph.inputs[index].value).name.c_str();
}
const tn_type* tn_model_input_type(const tn_model* model, size_t index) {
  return index < tn_model_input_count(model) ? model->input_types[index].get() : nullptr;
}
int tn_model_input_has_default(const tn_model* model, size_t index) {
  return index < tn_model_input_count(model) && model->model->graph.inputs[index].default_constant != kNone;
}
size_t tn_model_output_count(const tn_model* model) { return model ? model->output_types.size() : 0; }
const char* tn_model_output_name(const tn_model* model, size_t index) {
  return index < tn_model_output_count(model) ? model->model->graph.output_names()[index].c_str() : nullptr;
}
const tn_type* tn_model_output_type(const tn_model* model, size_t index) {
  return index < tn_model_output_count(model) ? model->output_types[index].get() : nullptr;
}

}  // extern "C"
