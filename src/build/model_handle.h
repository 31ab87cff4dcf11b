#pragma once

#include <string>
#include <vector>

#include "compiler/model_content.h"
#include "onnx/import.h"
#include "runtime/api/handles.h"

struct tn_model {
  std::shared_ptr<tenon::ImportedModel> model;
  std::shared_ptr<const tenon::ModelContent> content;
  std::string derivation;  // what was done to it since it was read; "": nothing
  // Texts that accessors return.
  std::map<std::string, std::string> properties;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<std::unique_ptr<tn_type>> input_types, output_types;
  tn_model(std::shared_ptr<tenon::ImportedModel> model, std::shared_ptr<const tenon::ModelContent> content);
};
