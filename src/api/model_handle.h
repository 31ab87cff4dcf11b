#pragma once

#include <string>
#include <vector>

#include "build/model_handle.h"

namespace tenon::api {

// Where the file names an extent of an input or output that stays symbolic, that name is what users know.
void use_declared_names(const ImportedModel& model, const std::vector<std::unique_ptr<tn_type>>& inputs,
                        const std::vector<std::unique_ptr<tn_type>>& outputs);
// An error for the first name that is not a symbolic dimension of the model; it names those there are.
Status check_dim_names(const tn_model& model, const std::map<std::string, int64_t>& dims);

}  // namespace tenon::api
