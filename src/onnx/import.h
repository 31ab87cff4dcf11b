#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "weights/attribute_tensor.h"
#include "wire/onnx_tensor.h"

namespace tenon {

inline constexpr int64_t kMostNodes = 5'000'000;

struct ImportOptions {
  bool map_files = true;                      // false: copy the file, so it may be rewritten in place later
  bool freeze_inputs = false;                 // initializers listed as inputs (IR >= 4) become weights
  std::set<std::string, std::less<>> frozen;  // or those of these names alone
  int64_t max_dense_bytes = kMostDenseBytes;  // of one sparse initializer made dense
  // Of the graph. When unset, kMostNodes; and functions, which multiply by calling functions, may make as many as
  // check_expanded_size finds right for the size of the file.
  std::optional<int64_t> max_nodes;
  wire::ParseLimits parse;
  std::map<std::string, Tensor> weights;  // stand for the initializers of these names, whose bytes are not read
  // Reads the elements of a source ("scope/name") that has others than the file says; null: the file's count.
  std::function<std::function<Result<Tensor>()>(const std::string& source)> replaced;
  // Stands between the model and its external-data folder (null for models from memory), when set.
  std::function<std::shared_ptr<wire::ExternalData>(std::shared_ptr<wire::ExternalData>)> wrap_external;
};

// An ONNX model in memory: the file's own messages as views, and the canonical graph made from them.
struct ImportedModel {
  std::shared_ptr<const void> bytes;  // keeps the views below alive
  std::string_view file;              // the bytes of the model file
  std::string path;                   // empty when read from memory
  std::string folder;                 // where external data is, when read from memory
  wire::Model wire;
  std::shared_ptr<wire::ExternalData> external;
  std::unordered_map<std::string, int64_t> opsets;  // the version of each domain; the default domain is ""
  Graph graph;
  std::vector<std::string> warnings;
  std::vector<std::string> frozen_inputs;  // initializers listed as inputs that became weights
  ImportOptions options;
};

Result<std::shared_ptr<ImportedModel>> import_file(const std::string& path, const ImportOptions& options = {});
// The same in two steps: first the messages of the file, and then the graph. What can be decided by the messages alone
// need not wait for the graph.
Result<std::shared_ptr<ImportedModel>> open_file(const std::string& path, const ImportOptions& options = {});
Status import_opened(ImportedModel& model);
// external_folder: where relative external-data paths start; empty forbids external data.
Result<std::shared_ptr<ImportedModel>> import_bytes(std::string_view bytes, std::shared_ptr<const void> owner,
                                                    const std::string& external_folder,
                                                    const ImportOptions& options = {});
// The same model with other elements for some of its sources, as if its file had them. Learned attributes that are no
// weights (trees, labels) must keep theirs.
Result<std::shared_ptr<ImportedModel>> import_again(const ImportedModel& model,
                                                    decltype(ImportOptions::replaced) replaced);

// The type as the graph has it. Every unnamed extent becomes a symbol of its own, numbered by `fresh`.
Type type_from_proto(const wire::TypeProto& proto, int& fresh);
// The first number in a type that is no element type of ONNX. Zero, which says nothing, is fine.
std::optional<int64_t> unknown_element_type(const wire::TypeProto& proto);

}  // namespace tenon
