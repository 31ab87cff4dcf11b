#include "build/compiled_input.h"

#include "build/model_handle.h"
#include "plan/context_model.h"

namespace tenon::build {

std::string refusal_of_compiled(const tn_model* model) { return check_not_compiled(model->model->wire).message(); }

}  // namespace tenon::build
