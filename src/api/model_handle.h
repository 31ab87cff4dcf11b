#pragma once

#include <string>
#include <vector>

#include "compiler/model_content.h"
#include "onnx/import.h"
#include "runtime/api/handles.h"

struct tn_model {
  std::shared_ptr<tenon::ImportedModel> model;
  std::shared_ptr<const tenon::ModelContent> content;
  // Texts that accessors return.
  std::map<std::string, std::string> properties;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<std::unique_ptr<tn_type>> input_types, output_types;
  tn_model(std::shared_ptr<tenon::ImportedModel> model, std::shared_ptr<const tenon::ModelContent> content);
};

namespace tenon::api {

// Where the file names an extent of an input or output that stays symbolic, that name is what users know.
void use_declared_names(const ImportedModel& model, const std::vector<std::unique_ptr<tn_type>>& inputs,
                        const std::vector<std::unique_ptr<tn_type>>& outputs);
// An error for the first name that is not a symbolic dimension of the model; it names those there are.
Status check_dim_names(const tn_model& model, const std::map<std::string, int64_t>& dims);

}  // namespace tenon::api
