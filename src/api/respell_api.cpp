#include <nlohmann/json.hpp>

#include "api/model_handle.h"
#include "onnx/export.h"
#include "wire/onnx_write.h"

using namespace tenon;

extern "C" {

tn_status* tn_model_respell(const tn_model* model, char** data, size_t* size, char** report) {
  return api::guarded([&]() -> Status {
    if (!model || !data || !size || !report) return invalid_argument("model, data, size and report must not be NULL");
    TN_ASSIGN_OR_RETURN(const ExportedModel exported,
                        export_model(*model->model, model->model->graph, {.respell = true}));
    TN_ASSIGN_OR_RETURN(const std::string bytes, wire::write_model(exported.model));
    *report = api::copy_text(nlohmann::json{{"respelled", exported.respelled}, {"kept", exported.kept}}.dump());
    *data = api::copy_text(bytes);
    *size = bytes.size();
    return {};
  });
}

}  // extern "C"
