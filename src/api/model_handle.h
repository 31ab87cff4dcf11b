#pragma once

#include <string>
#include <vector>

#include "onnx/import.h"
#include "runtime/api/handles.h"

struct tn_model {
  std::shared_ptr<tenon::ImportedModel> model;
  // Texts that accessors return.
  std::map<std::string, std::string> properties;
  std::vector<std::pair<std::string, std::string>> metadata;
  explicit tn_model(std::shared_ptr<tenon::ImportedModel> model);
};
